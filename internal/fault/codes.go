package fault

// Code is a stable error code that clients rely on: case-sensitive, never
// localized, never changing its meaning (rules: http#errors, http#versions).
type Code string

// Every code that the service can answer. A test holds that none is written
// anywhere else.
const (
	InvalidCredentials          Code = "INVALID_CREDENTIALS"
	InvalidRefreshToken         Code = "INVALID_REFRESH_TOKEN"
	RefreshTokenExpired         Code = "REFRESH_TOKEN_EXPIRED"
	OAuthCodeExpired            Code = "OAUTH_CODE_EXPIRED"
	UserInAnotherTenant         Code = "USER_BELONGS_TO_ANOTHER_TENANT"
	TenantNotEmpty              Code = "TENANT_NOT_EMPTY"
	TenantContextRequired       Code = "TENANT_CONTEXT_REQUIRED"
	OnboardingIncomplete        Code = "ONBOARDING_INCOMPLETE"
	PlanNotInCurrency           Code = "plan_not_available_in_currency"
	OnboardingPlanNotInCurrency Code = "PLAN_NOT_AVAILABLE_IN_CURRENCY"
	PlanNotSellable             Code = "plan_not_sellable"
	BillingNotReady             Code = "billing_not_ready"
	SeatPricingMisconfigured    Code = "seat_pricing_misconfigured"
	SubscriptionAlreadyExists   Code = "subscription_already_exists"
	SubscriptionNotCancelable   Code = "SUBSCRIPTION_CANNOT_BE_CANCELED"
	SubscriptionNotResumable    Code = "subscription_not_resumable"
	SubscriptionNotUpgradable   Code = "subscription_cannot_be_upgraded"
	SubscriptionBusy            Code = "subscription_busy"
	ProrationNotSupported       Code = "proration_not_supported"
	PreviewOutdated             Code = "preview_outdated"
	PlanChangeError             Code = "plan_change_error"
	PSPError                    Code = "psp_error"
	PSPAmountUnsupported        Code = "psp_amount_unsupported"
	PSPPriceMismatch            Code = "psp_price_mismatch"
	PSPPriceAlreadyLinked       Code = "psp_price_already_linked"
	PortalNotConfigured         Code = "billing_portal_not_configured"
	CurrencyInUse               Code = "CURRENCY_IN_USE"
	CurrencyMismatch            Code = "currency_mismatch"
	QuotaExceeded               Code = "QUOTA_EXCEEDED"
	EmailMismatch               Code = "EMAIL_MISMATCH"
	InsufficientPermissions     Code = "INSUFFICIENT_PERMISSIONS"
	InvitationNotFound          Code = "INVITATION_NOT_FOUND"
	AlreadyMember               Code = "ALREADY_MEMBER"
	AlreadyInvited              Code = "ALREADY_INVITED"
	AccountAlreadyExists        Code = "ACCOUNT_ALREADY_EXISTS"
	InvitationExpired           Code = "INVITATION_EXPIRED"
	InvitationAlreadyAccepted   Code = "INVITATION_ALREADY_ACCEPTED"
	InvitationRevoked           Code = "INVITATION_REVOKED"
	SeatLimitReached            Code = "SEAT_LIMIT_REACHED"
	CatalogInUse                Code = "CATALOG_IN_USE"
	InvoiceNotVoidable          Code = "invoice_not_voidable"
	InvoiceNotPayable           Code = "invoice_not_payable"
	PaymentFailed               Code = "payment_failed"
)
