package fault

import "slices"

// Code is a stable error code that clients rely on: case-sensitive, never
// localized, never changing its meaning (rules: http#errors, http#versions).
type Code string

// Every code that the service can answer, with its meaning and what a client does about it,
// from which docs/errors.md is made. A test holds that none is written anywhere else.
const (
	// Email or password is wrong, or the account has no password.
	// Do: Ask for them again; offer a reset of the password.
	InvalidCredentials Code = "INVALID_CREDENTIALS"
	// The refresh token is unknown, was used before or was revoked.
	// Do: Log in again.
	InvalidRefreshToken Code = "INVALID_REFRESH_TOKEN"
	// The refresh token is too old.
	// Do: Log in again.
	RefreshTokenExpired Code = "REFRESH_TOKEN_EXPIRED"
	// The one-time code is unknown, used, older than 60 seconds, or of another browser.
	// Do: Begin the delegated login again.
	OAuthCodeExpired Code = "OAUTH_CODE_EXPIRED"
	// The account has no password, and the login began ten minutes ago or earlier.
	// Do: Log in again, then repeat the request.
	RecentLoginRequired Code = "RECENT_LOGIN_REQUIRED"
	// Without this identity the account could not log in.
	// Do: Set a password or log in with another provider first.
	LastLoginMethod Code = "LAST_LOGIN_METHOD"
	// The impersonation has ended. Nothing but stop, status, logout and refresh works until stop.
	// Do: Stop the impersonation.
	ImpersonationExpired Code = "IMPERSONATION_EXPIRED"
	// A user is in one tenant at most, and this one is in another.
	// Do: Leave that tenant first.
	UserInAnotherTenant Code = "USER_BELONGS_TO_ANOTHER_TENANT"
	// The tenant has members, or ever had a subscription.
	// Do: Remove the members; with a subscription in its past it stays.
	TenantNotEmpty Code = "TENANT_NOT_EMPTY"
	// The tenant is not deleted, so it cannot be restored.
	// Do: Nothing is to be done.
	TenantNotDeleted Code = "tenant_not_deleted"
	// The tenant has a subscription that is not canceled.
	// Do: Cancel it at once, then delete the tenant.
	SubscriptionRunning Code = "subscription_running"
	// The user owns a tenant with other members or a running subscription.
	// Do: Transfer or delete the tenant first.
	OwnsTenant Code = "OWNS_TENANT"
	// The caller is in no tenant.
	// Do: Create a tenant or accept an invitation.
	TenantContextRequired Code = "TENANT_CONTEXT_REQUIRED"
	// The tenant's onboarding is not complete.
	// Do: Lead the user to the onboarding; complete-setup ends it.
	OnboardingIncomplete Code = "ONBOARDING_INCOMPLETE"
	// The plan has no price in this currency.
	// Do: Offer the currencies of the plan's prices.
	PlanNotInCurrency Code = "plan_not_available_in_currency"
	// The plan has no price in this currency, during the onboarding.
	// Do: Offer one of `available_currencies`.
	OnboardingPlanNotInCurrency Code = "PLAN_NOT_AVAILABLE_IN_CURRENCY"
	// The price differs from the provider's, is inactive there or cannot be sold.
	// Do: Offer other plans; an administrator looks at the price status.
	PlanNotSellable Code = "plan_not_sellable"
	// Billing details are missing.
	// Do: Ask for `missing_fields` and save them at the tenant.
	BillingNotReady Code = "billing_not_ready"
	// The plan has no price for seats in this currency.
	// Do: Offer other plans; an administrator adds the price.
	SeatPricingMisconfigured Code = "seat_pricing_misconfigured"
	// The tenant has a subscription that is not over.
	// Do: Change its plan instead.
	SubscriptionAlreadyExists Code = "subscription_already_exists"
	// The status of the subscription does not allow a cancellation.
	// Do: Read the subscription again.
	SubscriptionNotCancelable Code = "SUBSCRIPTION_CANNOT_BE_CANCELED"
	// No end is scheduled.
	// Do: Read the subscription again.
	SubscriptionNotResumable Code = "subscription_not_resumable"
	// The status of the subscription does not allow a change of plan.
	// Do: Have what is owed paid first.
	SubscriptionNotUpgradable Code = "subscription_cannot_be_upgraded"
	// Another change of the subscription is under way.
	// Do: Read it and try again after some seconds.
	SubscriptionBusy Code = "subscription_busy"
	// The provider cannot compute this change.
	// Do: Offer another plan, or a change at the end of the period.
	ProrationNotSupported Code = "proration_not_supported"
	// The change would not cost any more what was previewed. Nothing has happened.
	// Do: Show the new figures in `preview` and ask again.
	PreviewOutdated Code = "preview_outdated"
	// The tenant cannot have this plan, cannot change to it, or the payment was declined.
	// Do: Show `message` and, if there are any, `violations`.
	PlanChangeError Code = "plan_change_error"
	// The payment provider failed or cannot be reached. Nothing has changed, or it will be found out.
	// Do: Try again later, with the same values.
	PSPError Code = "psp_error"
	// The provider cannot charge this amount.
	// Do: Use one of `possible_amounts`.
	PSPAmountUnsupported Code = "psp_amount_unsupported"
	// The provider's price is another than this one.
	// Do: Look at `mismatches`; link another price or change this one.
	PSPPriceMismatch Code = "psp_price_mismatch"
	// The price is linked already.
	// Do: Unlink it first.
	PSPPriceAlreadyLinked Code = "psp_price_already_linked"
	// The provider's billing portal is not set up.
	// Do: The operator saves its settings at the provider.
	PortalNotConfigured Code = "billing_portal_not_configured"
	// Something is stored in this currency.
	// Do: Make it inactive instead.
	CurrencyInUse Code = "CURRENCY_IN_USE"
	// The tenant has credit, or something unpaid, in another currency.
	// Do: Buy in `currency`, or settle that first.
	CurrencyMismatch Code = "currency_mismatch"
	// A hard quota does not allow this usage. It was not stored.
	// Do: Offer a larger plan, or wait for the next period.
	QuotaExceeded Code = "QUOTA_EXCEEDED"
	// The invitation is for another email.
	// Do: Log in with the invited email.
	EmailMismatch Code = "EMAIL_MISMATCH"
	// The caller may not invite.
	// Do: Ask an admin of the tenant.
	InsufficientPermissions Code = "INSUFFICIENT_PERMISSIONS"
	// There is no such invitation.
	// Do: Ask for a new invitation.
	InvitationNotFound Code = "INVITATION_NOT_FOUND"
	// The person is a member of this tenant.
	// Do: Nothing is to be done.
	AlreadyMember Code = "ALREADY_MEMBER"
	// The email has a pending invitation.
	// Do: Resend or revoke that one.
	AlreadyInvited Code = "ALREADY_INVITED"
	// The invited email has an account.
	// Do: Log in, then accept the invitation.
	AccountAlreadyExists Code = "ACCOUNT_ALREADY_EXISTS"
	// The invitation is too old.
	// Do: Ask for it to be sent again.
	InvitationExpired Code = "INVITATION_EXPIRED"
	// The invitation was accepted before.
	// Do: Log in.
	InvitationAlreadyAccepted Code = "INVITATION_ALREADY_ACCEPTED"
	// The invitation was taken back.
	// Do: Ask for a new one.
	InvitationRevoked Code = "INVITATION_REVOKED"
	// All seats of the plan are taken, by members and pending invitations.
	// Do: Remove somebody, revoke an invitation or change to a larger plan.
	SeatLimitReached Code = "SEAT_LIMIT_REACHED"
	// A subscription that runs depends on it.
	// Do: Make it inactive instead.
	CatalogInUse Code = "CATALOG_IN_USE"
	// The invoice is final.
	// Do: Read it again.
	InvoiceNotVoidable Code = "invoice_not_voidable"
	// The invoice is not open.
	// Do: Read it again.
	InvoiceNotPayable Code = "invoice_not_payable"
	// The payment was declined or waits for a person.
	// Do: Lead the customer to the page in `payment_action`.
	PaymentFailed Code = "payment_failed"
	// The key has ended or was rotated before.
	// Do: Create a new one.
	APIKeyRevoked Code = "api_key_revoked"
	// Nobody has proved the caller's email, which the settings ask for.
	// Do: Have a link mailed and opened.
	EmailNotVerified Code = "EMAIL_NOT_VERIFIED"
	// The API key does not open this route.
	// Do: Use a key with the route's scope, or log in as a person.
	InsufficientScope Code = "insufficient_scope"
	// The disk of the database is full; what only reads goes on.
	// Do: Try again later; the operator frees space.
	StorageFull Code = "storage_full"
)

// Codes returns every code, sorted by what clients read.
func Codes() []Code {
	codes := []Code{
		InvalidCredentials, InvalidRefreshToken, RefreshTokenExpired, OAuthCodeExpired, RecentLoginRequired, LastLoginMethod, ImpersonationExpired, UserInAnotherTenant,
		TenantNotEmpty, TenantNotDeleted, SubscriptionRunning, OwnsTenant, TenantContextRequired,
		OnboardingIncomplete, PlanNotInCurrency, OnboardingPlanNotInCurrency, PlanNotSellable, BillingNotReady,
		SeatPricingMisconfigured, SubscriptionAlreadyExists, SubscriptionNotCancelable, SubscriptionNotResumable,
		SubscriptionNotUpgradable, SubscriptionBusy, ProrationNotSupported, PreviewOutdated, PlanChangeError,
		PSPError, PSPAmountUnsupported, PSPPriceMismatch, PSPPriceAlreadyLinked, PortalNotConfigured,
		CurrencyInUse, CurrencyMismatch, QuotaExceeded, EmailMismatch, InsufficientPermissions, InvitationNotFound,
		AlreadyMember, AlreadyInvited, AccountAlreadyExists, InvitationExpired, InvitationAlreadyAccepted,
		InvitationRevoked, SeatLimitReached, CatalogInUse, InvoiceNotVoidable, InvoiceNotPayable, PaymentFailed,
		APIKeyRevoked, EmailNotVerified, InsufficientScope, StorageFull,
	}
	slices.Sort(codes)
	return codes
}
