package payments

// genericDecline replaces decline codes that only the bank may explain to the cardholder.
const genericDecline = "generic_decline"

// isConfidential reports whether the provider asks to hide a code from the payer, who might not be
// the owner of the card.
func isConfidential(code string) bool {
	switch code {
	case "fraudulent", "lost_card", "stolen_card", "pickup_card", "merchant_blacklist":
		return true
	}
	return false
}

// ForTenant returns the decline code to show to a tenant.
func ForTenant(code *string) *string {
	if code != nil && isConfidential(*code) {
		generic := genericDecline
		return &generic
	}
	return code
}

// MessageKey returns the message key of the text that explains a decline code and how to fix the
// payment. Unknown codes have a generic text.
func MessageKey(code string) string {
	switch code {
	case "insufficient_funds":
		return "decline.insufficient_funds"
	case "card_velocity_exceeded", "withdrawal_count_limit_exceeded":
		return "decline.limit"
	case "expired_card":
		return "decline.expired"
	case "authentication_required", "authentication_not_handled", "payment_intent_authentication_failure", "offline_pin_required",
		"online_or_offline_pin_required":
		return "decline.confirm"
	case "incorrect_number", "invalid_number", "incorrect_cvc", "invalid_cvc", "invalid_expiry_month", "invalid_expiry_year",
		"incorrect_address", "incorrect_zip", "invalid_account", "new_account_information_available":
		return "decline.details"
	case "card_not_supported", "currency_not_supported":
		return "decline.unsupported"
	case "processing_error", "issuer_not_available", "try_again_later", "reenter_transaction":
		return "decline.temporary"
	case "account_closed", "debit_not_authorized", "no_account", "bank_account_restricted":
		return "decline.account"
	default:
		return "decline.generic"
	}
}
