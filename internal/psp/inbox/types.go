package inbox

// typesBelow maps a prefix to its event types, because the provider's list can only be filtered by
// type. It omits invoice.upcoming, whose invoice cannot be read back.
var typesBelow = map[string][]string{
	"checkout.session.": {
		"checkout.session.async_payment_failed", "checkout.session.async_payment_succeeded",
		"checkout.session.completed", "checkout.session.expired",
	},
	"credit_note.": {"credit_note.created", "credit_note.updated", "credit_note.voided"},
	"refund.":      {"refund.created", "refund.failed", "refund.updated"},
	"customer.subscription.": {
		"customer.subscription.created", "customer.subscription.deleted", "customer.subscription.paused",
		"customer.subscription.pending_update_applied", "customer.subscription.pending_update_expired",
		"customer.subscription.resumed", "customer.subscription.trial_will_end", "customer.subscription.updated",
	},
	"invoice.": {
		"invoice.created", "invoice.deleted", "invoice.finalization_failed", "invoice.finalized",
		"invoice.marked_uncollectible", "invoice.overdue", "invoice.overpaid", "invoice.paid",
		"invoice.payment_action_required", "invoice.payment_attempt_required", "invoice.payment_failed",
		"invoice.payment_succeeded", "invoice.sent", "invoice.updated", "invoice.voided", "invoice.will_be_due",
	},
}
