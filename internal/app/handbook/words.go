package handbook

import (
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/reference"
)

// about is the description of the whole API.
const about = `Self-hosted backend for multi-tenant subscription software.

**Values.** Ids are UUIDs, of users and roles integers. Amounts are whole numbers of the currency's minor units (cents) beside
an ISO 4217 code. Times are UTC with six digits of fraction. Within a version fields, endpoints and values of enumerations may
be added, never taken away: clients ignore what they do not know.

**Answers.** A resource is answered as ` + "`{data: …}`" + `, a list as ` + "`{data: […]}`" + `. A write may add a ` + "`message`" + `, which is a
translation key. A nullable field is always present.

**Errors.** An error has a ` + "`message`" + ` for people, in the language of ` + "`Accept-Language`" + `, and where several can come with one
status a ` + "`code`" + ` for programs. Every request is answered with ` + "`X-Request-Id`" + `, by which it is found in the log.

**Conventions of this document.** Every route states its scope (` + "`x-scope`" + `), guards (` + "`x-guards`" + `), permission
(` + "`x-permission`" + `), rate-limit group (` + "`x-rate-limit`" + `), and the scope of API keys that opens it (` + "`x-api-key-scope`" + `), if one does.`

// kinds are the error responses with additional fields.
var kinds = []reference.Kind{
	{
		Code: string(fault.QuotaExceeded), Name: "QuotaExceededError", Text: "The event would exceed a usage limit. It was not recorded.",
		Fields: []reference.Field{
			{Name: "meter_code", Type: "string", Text: "The meter."},
			{Name: "limited_by", Type: "string", Text: "plan for the effective limit of the organization, whatever its source; cap for its own cap. If both reject the event, the lower one."},
			{Name: "limit", Type: "integer", Text: "The limit in whole units."},
			{Name: "current_usage", Type: "number", Text: "The usage of the window without the event."},
			{Name: "grants_remaining", Type: "number", Text: "The remaining units of the grants that are valid now."},
		},
	},
	{
		Code: string(fault.PlanChangeError), Name: "PlanChangeError", Text: "The tenant cannot have this plan, or not change to it.",
		Fields: []reference.Field{{
			Name: "violations", Type: "[]Violation", Optional: true, Text: "The features that are used more than the plan allows. Absent for any other reason.",
		}},
	},
	{
		Code: string(fault.PreviewOutdated), Name: "PreviewOutdatedError", Text: "The change would not cost what its last preview showed. Nothing has happened.",
		Fields: []reference.Field{{Name: "preview", Type: "ChangePreview", Text: "What it would cost now, which binds like any other preview."}},
	},
	{
		Code: string(fault.PlanNotSellable), Name: "PlanNotSellableError", Text: "The plan cannot be sold in this currency for now.",
		Fields: []reference.Field{
			{Name: "price_status", Type: "string", Text: "The status of the price that is the reason, as in the status of prices, or below_minimum, amount_unsupported, currency_unsupported or too_many_meters."},
			{Name: "meter_code", Type: "string", Optional: true, Text: "The meter whose price is the reason. Absent where it is the plan's own."},
		},
	},
	{
		Code: string(fault.PaymentFailed), Name: "PaymentFailedError", Text: "The payment was declined, or waits for a person.",
		Fields: []reference.Field{{Name: "payment_action", Type: "PaymentAction?", Text: "What a person can do to pay; null for nothing."}},
	},
	{
		Code: string(fault.BillingNotReady), Name: "BillingNotReadyError", Text: "Billing details of the tenant are missing.",
		Fields: []reference.Field{{Name: "missing_fields", Type: "[]string", Text: "The fields of the tenant that are missing."}},
	},
	{
		Code: string(fault.CurrencyMismatch), Name: "CurrencyMismatchError", Text: "The tenant has credit, or something unpaid, in another currency.",
		Fields: []reference.Field{{Name: "currency", Type: "string", Text: "That currency, as its ISO 4217 code."}},
	},
	{
		Code: string(fault.OnboardingPlanNotInCurrency), Name: "OnboardingCurrencyError", Text: "The plan has no price in the currency.",
		Fields: []reference.Field{{Name: "available_currencies", Type: "[]string", Text: "The currencies in which the plan is sold, as ISO 4217 codes."}},
	},
	{
		Code: string(fault.PSPPriceMismatch), Name: "PriceMismatchError", Text: "The price at the payment provider is another.",
		Fields: []reference.Field{{Name: "mismatches", Type: "[]PriceMismatch", Text: "What differs.", Of: []reference.Field{
			{Name: "field", Type: "string", Text: "What differs: currency, interval, amount, usage_type, unit_price, active or others."},
			{Name: "expected", Type: "any", Text: "What it has to be."},
			{Name: "actual", Type: "any", Text: "What it is at the payment provider."},
		}}},
	},
	{
		Code: string(fault.PSPError), Name: "ProviderFailedError", Text: "The payment provider failed or cannot be reached. Nothing has changed.",
	},
	{
		Code: string(fault.PSPAmountUnsupported), Name: "AmountUnsupportedError", Text: "The payment provider cannot charge this amount.",
		Fields: []reference.Field{{Name: "possible_amounts", Type: "[]integer", Optional: true, Text: "The nearest amounts that it can charge, in minor units."}},
	},
}

// refusals names the sets of codes that share a status.
var refusals = map[string]string{
	"IMPERSONATION_EXPIRED insufficient_scope":                                                                          "InsufficientScope",
	"IMPERSONATION_EXPIRED RECENT_LOGIN_REQUIRED insufficient_scope":                                                    "NotConfirmed",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED insufficient_scope":                                                       "EmailNotVerified",
	"IMPERSONATION_EXPIRED ONBOARDING_INCOMPLETE insufficient_scope":                                                    "NotReady",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED ONBOARDING_INCOMPLETE insufficient_scope":                                 "NotVerified",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED INSUFFICIENT_PERMISSIONS ONBOARDING_INCOMPLETE insufficient_scope":        "NotInviting",
	"ALREADY_INVITED ALREADY_MEMBER USER_BELONGS_TO_ANOTHER_TENANT":                                                     "NotInvitable",
	"INVITATION_ALREADY_ACCEPTED INVITATION_EXPIRED INVITATION_REVOKED":                                                 "InvitationOver",
	"plan_not_available_in_currency proration_not_supported seat_pricing_misconfigured subscription_cannot_be_upgraded": "PlanNotChangeable",
	"plan_not_available_in_currency seat_pricing_misconfigured subscription_already_exists":                             "PlanNotSold",
}

// names maps the names of Go types to different schema names.
var names = map[string]string{
	"PublicProduct": "Product", "PublicPlan": "Plan", "PublicPrice": "Price", "PublicEntitlement": "PlanEntitlement", "PublicFeature": "Feature",
	"EntitledFeature": "FeatureName", "PublicCurrency": "Currency", "PriceFields": "PriceInput", "EntitlementFields": "EntitlementInput",
	"PspPriceBody": "ProviderPriceInput", "SubscriptionView": "Subscription", "PendingChangeView": "PendingChange",
	"HostedCheckout": "Checkout", "InvoiceView": "Invoice", "InvoiceLineView": "InvoiceLine", "BilledParty": "InvoiceParty", "BilledAddress": "InvoiceAddress",
	"TenantView": "Tenant", "TenantFields": "TenantInput", "TenantUpdated": "TenantUpdate", "PublicSettings": "Settings", "KeysStruct": "PushKeys",
	"InvitedRegistrationDataStruct": "InvitedLogin", "InvitationBody": "InvitationInput", "MemberRole": "MemberRoleInput",
	"Session": "Login", "OAuthSession": "DelegatedLogin", "SessionUser": "LoginUser", "SessionTenant": "LoginTenant", "UserSession": "LoginSession",
	"Meta": "PageMeta", "Links": "PageLinks", "UsageRecording": "UsageEventInput", "RecordedEvent": "UsageEvent",
}

// params are the descriptions of parameters.
var params = map[string]string{
	"tenantId": "The id of the tenant.",
	"tenant":   "The id of the tenant.",

	"meter_code": "The code of the meter.", "format": "The form of the file.", "new_plan_id": "The plan to change to.",

	"tenantry_oauth": "The cookie of the browser that began the login.", "code": "The provider's code.", "state": "What the login was begun with.",
	"error": "Why the provider refuses.", "iss": "Who the provider is.",
}
