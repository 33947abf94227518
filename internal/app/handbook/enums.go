package handbook

import (
	"slices"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// enums are the named sets of values. A field that lists a set in its validation rules is matched
// by the values; other fields are listed here.
func enums() []shape.Enum {
	return slices.Concat(billing, domainEnums(), []shape.Enum{
		{Name: "Locale", Text: "A language.", Values: []string{"en", "es", "fr", "it"}, Fields: []string{"Settings.locales", "Settings.default_locale"}},
		{Name: "InvitationStatus", Text: "The state of an invitation.", Values: []string{"pending", "accepted", "revoked", "expired"}},
		{Name: "LoginKind", Text: "A session of a browser, or a pair of tokens.", Values: []string{"session", "token"}},
		{Name: "ImpersonationAction", Text: "Whether an impersonation began or ended.", Values: []string{"started", "ended"}},
		{Name: "TimelineKind", Text: "A group of entries of a time line.", Values: []string{"payments", "changes", "usage", "webhooks"}},
		{Name: "StatsFigure", Text: "A figure of the platform that there is a series of.", Values: []string{"mrr", "tenants", "subscriptions", "failed_payments", "quota_refusals"}},
		{Name: "StatsInterval", Text: "The length of the periods of a series of the platform.", Values: []string{"day", "month"}},
		{Name: "InvoiceMode", Text: "Who issues invoices: the payment provider, or this service.", Values: []string{"psp_managed", "platform_managed"}},
		{
			Name: "VATStatus", Text: "The registry's answer about a VAT number.", Values: []string{"none", "pending", "valid", "invalid", "unknown"},
			Fields: []string{"Tenant.vat_status", "AdminTenant.vat_status"},
		},
		{Name: "StudioReason", Text: "Why a tenant may not use the studio.", Values: []string{"no_active_subscription", "feature_not_in_plan"}},
	})
}

// billing are the enums of the catalog, subscriptions and invoices.
var billing = []shape.Enum{
	{
		Name: "SubscriptionStatus", Text: "The provider's status of a subscription. It grants features while active or trialing; it is over when canceled or incomplete_expired.",
		Values: []string{"active", "trialing", "past_due", "unpaid", "paused", "incomplete", "incomplete_expired", "canceled"},
		Fields: []string{"Subscription.status", "OnboardingStatus.subscription_status", "AdminTenant.subscription_status"},
	},
	{
		Name: "InvoiceStatus", Text: "The state of an invoice. Paid, void and uncollectible are final.",
		Values: []string{"draft", "open", "paid", "void", "uncollectible"}, Fields: []string{"Invoice.status"},
	},
	{
		Name: "InvoiceLineType", Text: "A period of a plan or usage, a part of a period, or anything else.",
		Values: []string{"subscription", "proration", "adjustment"}, Fields: []string{"InvoiceLine.type"},
	},
	{
		Name: "PricingType", Text: "What a plan's price is multiplied by: nothing, seats, or nothing, with metered usage beside it.", Values: []string{"flat", "seat", "usage"},
		Fields: []string{"Plan.pricing_type", "OfferedPlan.pricing_type", "SubscribedPlan.pricing_type"},
	},
	{
		Name: "BillingCycle", Text: "An interval by its older name.", Values: []string{"weekly", "monthly", "quarterly", "yearly"},
		Fields: []string{"Plan.billing_cycle", "OfferedPlan.billing_cycle", "SubscribedPlan.billing_cycle"},
	},
	{
		Name: "IntervalUnit", Text: "The unit of an interval.", Values: []string{"day", "week", "month", "year"},
		Fields: []string{"Plan.interval_unit", "OfferedPlan.interval_unit", "SubscribedPlan.interval_unit", "Subscription.interval_unit"},
	},
	{
		Name: "EntitlementType", Text: "A feature without a limit, or up to one.", Values: []string{"boolean", "quota"},
		Fields: []string{"Entitlement.type", "PlanFeature.type"},
	},
	{Name: "PriceStatus", Text: "How a price compares with the payment provider's.", Values: []string{"linked", "missing", "mismatch", "stripe_missing", "inactive", "error"}},
	{Name: "PaymentActionType", Text: "What a person is asked for: to confirm the payment with the bank, or to pay.", Values: []string{"confirm", "pay"}},
	{Name: "PlanChangeAction", Text: "What came of a change of plan.", Values: []string{"updated", "checkout_required", "confirmation_required"}},
	{Name: "PreviewMethod", Text: "By whom a preview was counted: the provider, or here by days.", Values: []string{"psp_preview", "daily"}},
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
		{Name: "ErrorCode", Text: "Every code of an error. docs/errors.md says what to do about each.", Values: codes, Fields: []string{"BatchResult.code"}},
		{Name: "Aggregation", Text: "How one figure is made of the events of a period.", Values: []string{"sum", "max", "count", "last_value"}},
		{Name: "ResetInterval", Text: "How long a meter counts; monthly follows the billing period.", Values: []string{"none", "daily", "weekly", "monthly"}},
		{Name: "QuotaEnforcement", Text: "What happens at a quota: usage is refused, alerts are sent, or nothing.", Values: []string{"hard", "soft", "none"}},
		{Name: "QuotaStatus", Text: "Below 80 percent of the quota, from 80, from 100.", Values: []string{"ok", "warning", "exceeded"}},
		{Name: "SeriesInterval", Text: "How long a point of a series is.", Values: []string{"hour", "day", "month"}},
		{
			Name: "APIKeyScope", Text: "What an API key opens. catalog.read, credit.write, limits.write, subscriptions.write, tenants.read and tenants.write are for keys of the platform alone.", Values: authz.PlatformScopes(),
			Fields: []string{"APIKey.scopes", "NewAPIKey.scopes", "CreateAPIKeyRequest.scopes", "CreatePlatformAPIKeyRequest.scopes"},
		},
		{Name: "TenantPermission", Text: "What a role of a tenant may allow.", Values: authz.TenantPermissions(), Fields: []string{"TenantRole.permissions", "Tenant.user_permissions"}},
		{Name: "WebhookEventType", Text: "What endpoints are sent.", Values: events, Fields: []string{"WebhookDelivery.type"}},
		{Name: "DeliveryStatus", Text: "The state of a delivery.", Values: []string{"pending", "delivered", "failed"}, Fields: []string{"WebhookDelivery.status"}},
		{Name: "DisabledReason", Text: "Why an endpoint was disabled: it answered 410, or failed for too long.", Values: []string{"gone", "failing"}},
		{
			Name: "DeliveryError", Text: "Why an attempt got no answer.",
			Values: []string{"address_not_allowed", "connection_failed", "invalid_answer", "timeout", "tls_failed"},
		},
	}
}
