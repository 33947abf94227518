package handbook

import (
	"slices"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// enums are the named sets of values. A field whose enum tag lists the same values has the set;
// Fields names the other fields that have it.
func enums() []shape.Enum {
	return slices.Concat(billing, domainEnums(), []shape.Enum{
		{Name: "Locale", Text: "Language.", Values: []string{"en", "es", "fr", "it"}, Fields: []string{"Settings.locales", "Settings.default_locale"}},
		{Name: "InvitationStatus", Text: "Status of an invitation.", Values: []string{"pending", "accepted", "revoked", "expired"}},
		{Name: "DomainStatus", Text: "Status of a domain.", Values: []string{"pending", "verified", "lost"}},
		{Name: "AutoJoin", Text: "Whether users join a tenant through a domain.", Values: []string{"off", "on"}},
		{Name: "LoginKind", Text: "Type of a session: a cookie session or a token pair.", Values: []string{"session", "token"}},
		{Name: "ImpersonationAction", Text: "Whether an impersonation started or ended.", Values: []string{"started", "ended"}},
		{Name: "TimelineKind", Text: "Category of a timeline entry.", Values: []string{"payments", "changes", "usage", "webhooks"}},
		{Name: "StatsFigure", Text: "Statistic of the platform that is available as a series.", Values: []string{"mrr", "tenants", "subscriptions", "failed_payments", "quota_refusals"}},
		{Name: "StatsInterval", Text: "Length of the periods of a platform statistic.", Values: []string{"day", "month"}},
		{Name: "InvoiceMode", Text: "Issuer of invoices: the payment provider or this service.", Values: []string{"psp_managed", "platform_managed"}},
		{Name: "SettingGroup", Text: "Subject of a setting of the service.", Values: []string{"demo", "http", "brand", "invoice", "lifetime", "retention", "payment", "usage", "store", "external"}},
		{Name: "SettingOrigin", Text: "Where the value of a setting comes from.", Values: []string{"default", "environment", "flag", "file"}},
		{
			Name: "VATStatus", Text: "Result of the VAT number check.", Values: []string{"none", "pending", "valid", "invalid", "unknown"},
			Fields: []string{"Tenant.vat_status", "AdminTenant.vat_status"},
		},
		{Name: "LimitType", Text: "Type of a limit: access without a limit, a quota, or no access.", Values: []string{"boolean", "quota", "none"}},
		{Name: "StudioReason", Text: "Reason why a tenant cannot use the studio.", Values: []string{"no_active_subscription", "feature_not_in_plan"}},
	})
}

// billing are the enums of the catalog, subscriptions and invoices.
var billing = []shape.Enum{
	{
		Name: "SubscriptionStatus", Text: "Status of a subscription at the payment provider. An active or trialing subscription grants features, and so does a past_due subscription in its grace period. A canceled or incomplete_expired subscription has ended.",
		Values: []string{"active", "trialing", "past_due", "unpaid", "paused", "incomplete", "incomplete_expired", "canceled"},
		Fields: []string{"Subscription.status", "AdminSubscription.status", "OnboardingStatus.subscription_status", "AdminTenant.subscription_status"},
	},
	{Name: "PendingChangeKind", Text: "Whether a change waits for its payment or is scheduled for the end of the period.", Values: []string{"payment", "scheduled"}},
	{Name: "ChangeTime", Text: "Whether a change takes effect now or at the end of the period.", Values: []string{"now", "period_end"}},
	{Name: "Collection", Text: "How invoices are paid: charged to the saved payment method (card), or sent to the customer (invoice).", Values: []string{"card", "invoice"}},
	{
		Name: "InvoiceStatus", Text: "Status of an invoice. Paid, void and uncollectible are final.",
		Values: []string{"draft", "open", "paid", "void", "uncollectible"}, Fields: []string{"Invoice.status", "AdminInvoice.status"},
	},
	{
		Name: "InvoiceLineType", Text: "Type of an invoice line: a billing period of a plan or usage, a proration, or another adjustment.",
		Values: []string{"subscription", "proration", "adjustment"}, Fields: []string{"InvoiceLine.type"},
	},
	{Name: "DiscountDuration", Text: "How long a discount applies: to the first invoice above 0, to the invoices of some months, or forever.", Values: []string{"once", "repeating", "forever"}},
	{
		Name: "PricingType", Text: "How a plan is billed: a flat price, a price per seat, or a flat price plus metered usage.", Values: []string{"flat", "seat", "usage"},
		Fields: []string{"Plan.pricing_type", "OfferedPlan.pricing_type", "SubscribedPlan.pricing_type"},
	},
	{
		Name: "BillingCycle", Text: "Legacy name of a billing interval.", Values: []string{"weekly", "monthly", "quarterly", "yearly"},
		Fields: []string{"Plan.billing_cycle", "OfferedPlan.billing_cycle", "SubscribedPlan.billing_cycle"},
	},
	{
		Name: "IntervalUnit", Text: "Unit of a billing interval.", Values: []string{"day", "week", "month", "year"},
		Fields: []string{"Plan.interval_unit", "OfferedPlan.interval_unit", "SubscribedPlan.interval_unit", "Subscription.interval_unit"},
	},
	{
		Name: "EntitlementType", Text: "Type of an entitlement: a feature without a limit (boolean), or with a limit (quota).", Values: []string{"boolean", "quota"},
		Fields: []string{"Entitlement.type", "PlanFeature.type"},
	},
	{Name: "PriceStatus", Text: "Result of the comparison of a price with the payment provider's price.", Values: []string{"linked", "missing", "mismatch", "stripe_missing", "inactive", "error"}},
	{Name: "PaymentActionType", Text: "Required action: confirm the payment with the bank, pay the invoice, or add a card before the trial ends.", Values: []string{"confirm", "pay", "add_card"}},
	{Name: "CreditSettlement", Text: "How the amount of a credit note is returned: to the card, as credit for the next invoices, or not by this service.", Values: []string{"refund", "credit", "none"}, Fields: []string{"CreditNoteView.settlement", "AdminCreditNote.settlement"}},
	{Name: "CreditReason", Text: "Reason of a credit note.", Values: []string{"duplicate", "fraudulent", "order_change", "product_unsatisfactory", "other"}, Fields: []string{"CreditNoteView.reason", "AdminCreditNote.reason"}},
	{Name: "CreditNoteStatus", Text: "Status of a credit note.", Values: []string{"issued", "void"}},
	{Name: "RefundStatus", Text: "Status of a refund. A refund can fail after it succeeded.", Values: []string{"pending", "succeeded", "failed"}},
	{Name: "PlanChangeAction", Text: "Result of a plan change.", Values: []string{"updated", "scheduled", "checkout_required", "confirmation_required"}},
	{Name: "ListFormat", Text: "Format of the response: JSON, or a CSV file.", Values: []string{"json", "csv"}},
	{Name: "MovementKind", Text: "Kind of a movement of recurring revenue.", Values: []string{"new", "expansion", "contraction", "churn", "reactivation"}},
	{Name: "CohortMeasure", Text: "Measure of cohorts: shares of customers or of revenue.", Values: []string{"customers", "revenue"}},
	{Name: "PreviewMethod", Text: "How a preview was calculated: by the payment provider, or by this service per day.", Values: []string{"psp_preview", "daily"}},
}

// domainEnums returns the enums of usage, API keys and webhooks.
func domainEnums() []shape.Enum {
	var events, codes []string
	for _, t := range hook.Types() {
		events = append(events, string(t))
	}
	for _, code := range fault.Codes() {
		codes = append(codes, string(code))
	}
	return []shape.Enum{
		{Name: "ErrorCode", Text: "Error code. See docs/errors.md for the recommended action.", Values: codes, Fields: []string{"BatchResult.code"}},
		{Name: "Aggregation", Text: "How the events of a period are combined into one value.", Values: []string{"sum", "max", "count", "last_value"}},
		{Name: "ResetInterval", Text: "Length of a meter's period. `monthly` follows the billing period of the subscription.", Values: []string{"none", "daily", "weekly", "monthly"}},
		{Name: "QuotaEnforcement", Text: "What happens when usage reaches a quota: usage is rejected (hard), alerts are sent (soft), or nothing (none).", Values: []string{"hard", "soft", "none"}},
		{Name: "QuotaStatus", Text: "Usage relative to the quota: ok below 80 percent, warning from 80 percent, exceeded from 100 percent.", Values: []string{"ok", "warning", "exceeded"}},
		{Name: "SeriesInterval", Text: "Length of a data point.", Values: []string{"hour", "day", "month"}},
		{
			Name: "APIKeyScope", Text: "Scope of an API key. Only platform keys can have catalog.read, credit.write, limits.write, subscriptions.write, tenants.read and tenants.write.", Values: authz.PlatformScopes(),
			Fields: []string{"APIKey.scopes", "NewAPIKey.scopes", "CreateAPIKeyRequest.scopes", "CreatePlatformAPIKeyRequest.scopes"},
		},
		{Name: "TenantPermission", Text: "Permission that a tenant role can grant.", Values: authz.TenantPermissions(), Fields: []string{"TenantRole.permissions", "Tenant.user_permissions"}},
		{Name: "WebhookEventType", Text: "Type of a webhook event.", Values: events, Fields: []string{"WebhookDelivery.type", "WebhookDeliveryDetails.type", "PlatformWebhookDelivery.type"}},
		{Name: "DeliveryStatus", Text: "Status of a webhook delivery.", Values: []string{"pending", "delivered", "failed"}, Fields: []string{"WebhookDelivery.status", "AdminWebhookDelivery.status", "WebhookDeliveryDetails.status", "PlatformWebhookDelivery.status"}},
		{Name: "DisabledReason", Text: "Reason why an endpoint was disabled: it returned 410 (gone), or deliveries failed for five days (failing).", Values: []string{"gone", "failing"}},
		{
			Name: "DeliveryError", Text: "Reason why an attempt did not get a response.",
			Values: []string{"address_not_allowed", "connection_failed", "invalid_answer", "timeout", "tls_failed"},
		},
	}
}
