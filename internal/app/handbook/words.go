package handbook

import (
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/reference"
)

// about is the description of the whole API.
const about = `Self-hosted backend for multi-tenant subscription software.

**Values.** IDs are UUIDs; the IDs of users and roles are integers. Amounts are integers in minor units of the currency (cents),
with an ISO 4217 code. Times are in UTC with microseconds. A version can get new fields, endpoints and enumeration values, but
existing ones are not removed. Ignore values that you do not know.

**Responses.** An object is returned as ` + "`{data: …}`" + `, a list as ` + "`{data: […]}`" + `. A write can also return a ` + "`message`" + `, a translation
key. Nullable fields are always present.

**Errors.** An error has a ` + "`message`" + ` in the language of ` + "`Accept-Language`" + `. If a status can have several causes, a ` + "`code`" + `
identifies the cause. Every response has an ` + "`X-Request-Id`" + `, which also appears in the log.

**Extensions.** Every operation states its scope (` + "`x-scope`" + `), guards (` + "`x-guards`" + `), permission (` + "`x-permission`" + `), rate-limit
group (` + "`x-rate-limit`" + `) and, if API keys can call it, their scope (` + "`x-api-key-scope`" + `).`

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
		Code: string(fault.ReservationSettled), Name: "ReservationSettledError", Text: "The reservation is settled.",
		Fields: []reference.Field{{Name: "event_id", Type: "string", Text: "ID of the usage event that settled it."}},
	},
	{
		Code: string(fault.MFARequired), Name: "MFARequiredError", Text: "The login needs a second factor.",
		Fields: []reference.Field{
			{Name: "challenge", Type: "string", Optional: true, Text: "Challenge to complete the login with. Absent at the start of an impersonation."},
			{Name: "factors", Type: "[]string", Optional: true, Text: "The factors that can complete the login: passkey, recovery_code, totp."},
			{Name: "expires_at", Type: "string", Optional: true, Text: "Time at which the challenge expires, in UTC."},
		},
	},
	{
		Code: string(fault.PlanChangeError), Name: "PlanChangeError", Text: "The tenant cannot select this plan or change to it.",
		Fields: []reference.Field{{
			Name: "violations", Type: "[]Violation", Optional: true, Text: "Features whose limit would be exceeded. Absent if the error has another reason.",
		}},
	},
	{
		Code: string(fault.PromotionCodeInvalid), Name: "PromotionCodeInvalidError", Text: "The promotion code cannot be used.",
		Fields: []reference.Field{{
			Name: "reason", Type: "string", Text: "First reason of: unknown, inactive, expired, not_for_plan, not_for_currency, used_up, already_used, first_purchase_only, below_minimum.",
		}},
	},
	{
		Code: string(fault.PreviewOutdated), Name: "PreviewOutdatedError", Text: "The price of the change differs from the preview. Nothing was changed.",
		Fields: []reference.Field{{Name: "preview", Type: "ChangePreview", Text: "New preview, valid for 15 minutes."}},
	},
	{
		Code: string(fault.PlanNotSellable), Name: "PlanNotSellableError", Text: "The plan is currently not available in this currency.",
		Fields: []reference.Field{
			{Name: "price_status", Type: "string", Text: "Status of the price: a price status, or below_minimum, amount_unsupported, currency_unsupported or too_many_meters."},
			{Name: "meter_code", Type: "string", Optional: true, Text: "Code of the meter whose price has this status. Absent for the price of the plan."},
		},
	},
	{
		Code: string(fault.PaymentFailed), Name: "PaymentFailedError", Text: "The payment was declined or requires an action by the customer.",
		Fields: []reference.Field{{Name: "payment_action", Type: "PaymentAction?", Text: "Action that the customer has to take to pay. Null if no action is possible."}},
	},
	{
		Code: string(fault.BillingNotReady), Name: "BillingNotReadyError", Text: "Billing details of the tenant are missing.",
		Fields: []reference.Field{{Name: "missing_fields", Type: "[]string", Text: "Names of the missing fields of the tenant."}},
	},
	{
		Code: string(fault.CurrencyMismatch), Name: "CurrencyMismatchError", Text: "The tenant has credit or unpaid amounts in another currency.",
		Fields: []reference.Field{{Name: "currency", Type: "string", Text: "ISO 4217 code of the other currency."}},
	},
	{
		Code: string(fault.AmountTooLarge), Name: "AmountTooLargeError", Text: "The amount exceeds the amount that can be credited or refunded.",
		Fields: []reference.Field{{Name: "amount_left", Type: "Money", Text: "Amount that can be credited, or refunded for the settlement refund."}},
	},
	{
		Code: string(fault.OnboardingPlanNotInCurrency), Name: "OnboardingCurrencyError", Text: "The plan is not available in this currency.",
		Fields: []reference.Field{{Name: "available_currencies", Type: "[]string", Text: "Currencies in which the plan is available, as ISO 4217 codes."}},
	},
	{
		Code: string(fault.PSPPriceMismatch), Name: "PriceMismatchError", Text: "The price differs from the price at the payment provider.",
		Fields: []reference.Field{{Name: "mismatches", Type: "[]PriceMismatch", Text: "Differences between the two prices.", Of: []reference.Field{
			{Name: "field", Type: "string", Text: "Field that differs: currency, interval, amount, usage_type, unit_price, active or another field."},
			{Name: "expected", Type: "any", Text: "Expected value."},
			{Name: "actual", Type: "any", Text: "Value at the payment provider."},
		}}},
	},
	{
		Code: string(fault.DomainNotVerified), Name: "DomainNotVerifiedError", Text: "The DNS record of the domain was not found.",
		Fields: []reference.Field{{Name: "verification_record", Type: "VerificationRecord", Text: "DNS record to publish."}},
	},
	{
		Code: string(fault.PSPError), Name: "ProviderFailedError", Text: "The payment provider failed or is unreachable. Nothing was changed.",
	},
	{
		Code: string(fault.PSPAmountUnsupported), Name: "AmountUnsupportedError", Text: "The payment provider cannot charge this amount.",
		Fields: []reference.Field{{Name: "possible_amounts", Type: "[]integer", Optional: true, Text: "Nearest amounts that can be charged, in minor units of the currency."}},
	},
}

// refusals names the sets of codes that share a status.
var refusals = map[string]string{
	"IMPERSONATION_EXPIRED insufficient_scope":                                                                                                                                "InsufficientScope",
	"EMAIL_MISMATCH IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY insufficient_scope":                                                                                         "ReadOnlyOrEmailMismatch",
	"IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY insufficient_scope":                                                                                                        "ReadOnlyOrInsufficientScope",
	"IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY RECENT_LOGIN_REQUIRED insufficient_scope":                                                                                  "NotConfirmed",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY RECENT_LOGIN_REQUIRED insufficient_scope":                                                               "NotEnrollable",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY insufficient_scope":                                                                                     "EmailNotVerified",
	"IMPERSONATION_EXPIRED MFA_ENROLLMENT_REQUIRED insufficient_scope":                                                                                                        "AdminNotEnrolled",
	"IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY MFA_ENROLLMENT_REQUIRED insufficient_scope":                                                                                "ReadOnlyOrAdminNotEnrolled",
	"IMPERSONATION_EXPIRED MFA_ENROLLMENT_REQUIRED SSO_REQUIRED insufficient_scope":                                                                                           "NotEnrolled",
	"IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY MFA_ENROLLMENT_REQUIRED SSO_REQUIRED insufficient_scope":                                                                   "ReadOnlyOrNotEnrolled",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY MFA_ENROLLMENT_REQUIRED SSO_REQUIRED insufficient_scope":                                                "NotVerifiedOrEnrolled",
	"IMPERSONATION_EXPIRED MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope":                                                                     "NotReady",
	"IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope":                                             "ReadOnlyOrNotReady",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope":                                                  "NotVerified",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope":                          "ReadOnlyOrNotVerified",
	"EMAIL_NOT_VERIFIED IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY INSUFFICIENT_PERMISSIONS MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope": "NotInviting",
	"FEATURE_NOT_IN_PLAN IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope":                         "NotInPlan",
	"ALREADY_INVITED ALREADY_MEMBER USER_BELONGS_TO_ANOTHER_TENANT":                                                                                                           "NotInvitable",
	"INVITATION_ALREADY_ACCEPTED INVITATION_EXPIRED INVITATION_REVOKED":                                                                                                       "InvitationOver",
	"plan_not_available_in_currency proration_not_supported seat_pricing_misconfigured subscription_cannot_be_upgraded":                                                       "PlanNotChangeable",
	"plan_not_available_in_currency seat_pricing_misconfigured subscription_already_exists":                                                                                   "PlanNotSold",
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
	"Meta": "PageMeta", "Links": "PageLinks", "UsageRecording": "UsageEventInput", "RecordedEvent": "UsageEvent", "GrantView": "Grant",
}

// params are the descriptions of parameters.
var params = map[string]string{
	"tenantId": "ID of the tenant.",
	"tenant":   "ID of the tenant.",

	"delivery": "ID of the delivery.", "domain": "ID of the domain.", "endpoint": "ID of the webhook endpoint.", "entitlement": "ID of the entitlement.", "feature": "ID of the feature.",
	"hash": "Hash of the picture.", "id": "ID of the session, identity or connection.", "invitation": "ID of the invitation.", "invoice": "ID of the invoice.",
	"invoiceId": "ID of the invoice.", "key": "ID of the API key.", "member": "ID of the member's user.", "meter": "ID of the meter.", "meterCode": "Code of the meter.",
	"plan": "ID of the plan.", "price": "ID of the plan's price.", "product": "ID of the product.", "provider": "Name of the identity provider.", "role": "ID of the role.",
	"subscription": "ID of the subscription.", "token": "Token from the invitation link.", "user": "ID of the user.",

	"meter_code": "Code of the meter.", "format": "Format of the file.", "grant": "ID of the grant.", "reservation": "ID of the reservation.", "new_plan_id": "ID of the new plan.",

	"tenantry_oauth": "Cookie of the browser that started the login.", "code": "Authorization code of the identity provider.",
	"test": "Token of a test of the connection.", "state": "State parameter from the redirect.", "error": "Error code of the identity provider.", "iss": "Issuer of the response.",
}
