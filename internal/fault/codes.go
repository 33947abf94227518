package fault

import "slices"

// Code is a stable error code for clients: case-sensitive, never localized, with a fixed meaning
// (rules: http#errors, http#versions).
type Code string

// All error codes of the API, with their meaning and the recommended action of a client.
// docs/errors.md is generated from these comments. A test checks that no code is defined elsewhere.
const (
	// The email or password is wrong, or the account has no password; or the code is wrong, used or
	// expired.
	// Do: Ask again, and offer a password reset or a new code.
	InvalidCredentials Code = "INVALID_CREDENTIALS"
	// The settings disable this login method.
	// Do: Offer the methods in `login_methods` of the settings.
	LoginMethodDisabled Code = "LOGIN_METHOD_DISABLED"
	// The refresh token is unknown, was already used or was revoked.
	// Do: Sign in again.
	InvalidRefreshToken Code = "INVALID_REFRESH_TOKEN"
	// The refresh token has expired.
	// Do: Sign in again.
	RefreshTokenExpired Code = "REFRESH_TOKEN_EXPIRED"
	// The one-time code is unknown, used, older than 60 seconds, or belongs to another browser.
	// Do: Start the delegated login again.
	OAuthCodeExpired Code = "OAUTH_CODE_EXPIRED"
	// The account has no password, and the login is 10 minutes old or older.
	// Do: Sign in again, then repeat the request.
	RecentLoginRequired Code = "RECENT_LOGIN_REQUIRED"
	// The user has a second factor, so the login needs it; or an admin starts an impersonation with
	// a login that has not passed it.
	// Do: Complete the login with `challenge` and one of `factors`. Without a challenge, sign in
	// again.
	MFARequired Code = "MFA_REQUIRED"
	// The code, the recovery code or the passkey is wrong, or was used before.
	// Do: Ask for the second factor again. A login allows five attempts.
	InvalidMFACode Code = "INVALID_MFA_CODE"
	// The challenge is unknown, used, older than 5 minutes, out of attempts, or belongs to another
	// browser.
	// Do: Sign in again.
	MFAChallengeExpired Code = "MFA_CHALLENGE_EXPIRED"
	// The organization, or the platform for its admins, requires a second factor, and the user lacks one.
	// Do: Ask the user to add an authenticator app or a passkey.
	MFAEnrollmentRequired Code = "MFA_ENROLLMENT_REQUIRED"
	// Recovery codes need a second factor, and the user lacks one.
	// Do: Add an authenticator app or a passkey first.
	MFANotEnabled Code = "MFA_NOT_ENABLED"
	// The user has an authenticator app already.
	// Do: Remove it before adding another one.
	TOTPAlreadyEnabled Code = "TOTP_ALREADY_ENABLED"
	// The identity belongs to the organization's single sign-on.
	// Do: Ask an administrator of the organization.
	IdentityManaged Code = "IDENTITY_MANAGED"
	// The account could not sign in without this identity.
	// Do: Set a password or sign in with another provider first.
	LastLoginMethod Code = "LAST_LOGIN_METHOD"
	// The organization requires single sign-on for this email, and this login did not use it.
	// Do: Start a login with POST /auth/sso.
	SSORequired Code = "SSO_REQUIRED"
	// No organization has verified the domain of the email and set up single sign-on.
	// Do: Offer the other ways to sign in.
	SSONotAvailable Code = "SSO_NOT_AVAILABLE"
	// Another organization has verified the domain.
	// Do: Check the domain, or contact support.
	DomainTaken Code = "DOMAIN_TAKEN"
	// The DNS record of the domain was not found.
	// Do: Publish `verification_record`, wait for DNS, then verify again.
	DomainNotVerified Code = "domain_not_verified"
	// The plan of the organization does not include this feature.
	// Do: Offer a plan that includes it.
	FeatureNotInPlan Code = "FEATURE_NOT_IN_PLAN"
	// The impersonation has ended. Only stop, status, logout and refresh work until it is stopped.
	// Do: Stop the impersonation.
	ImpersonationExpired Code = "IMPERSONATION_EXPIRED"
	// The impersonation only reads. Only GET and HEAD requests, stop, logout and refresh work.
	// Do: Stop the impersonation, or start another one without view-only.
	ImpersonationReadOnly Code = "IMPERSONATION_READ_ONLY"
	// A user can be a member of only one tenant, and this user is a member of another one.
	// Do: Leave that tenant first.
	UserInAnotherTenant Code = "USER_BELONGS_TO_ANOTHER_TENANT"
	// The tenant has members, or has ever had a subscription.
	// Do: Remove the members. A tenant that has had a subscription cannot be deleted.
	TenantNotEmpty Code = "TENANT_NOT_EMPTY"
	// The tenant is not deleted, so it cannot be restored.
	// Do: Nothing.
	TenantNotDeleted Code = "tenant_not_deleted"
	// The tenant has a subscription that is not canceled.
	// Do: Cancel it immediately, then delete the tenant.
	SubscriptionRunning Code = "subscription_running"
	// The user owns a tenant that has other members or an active subscription.
	// Do: Transfer or delete the tenant first.
	OwnsTenant Code = "OWNS_TENANT"
	// The caller is not a member of a tenant.
	// Do: Create a tenant or accept an invitation.
	TenantContextRequired Code = "TENANT_CONTEXT_REQUIRED"
	// The tenant's onboarding is not complete.
	// Do: Redirect the user to the onboarding, which ends with complete-setup.
	OnboardingIncomplete Code = "ONBOARDING_INCOMPLETE"
	// The plan is not available in this currency. Do: Offer the currencies of the plan's prices.
	PlanNotInCurrency Code = "plan_not_available_in_currency"
	// The plan is not available in this currency, during onboarding. Do: Offer one of
	// `available_currencies`.
	OnboardingPlanNotInCurrency Code = "PLAN_NOT_AVAILABLE_IN_CURRENCY"
	// The price differs from Stripe's, is inactive there or cannot be sold.
	// Do: Offer other plans. An admin should check the price status.
	PlanNotSellable Code = "plan_not_sellable"
	// Billing details are missing.
	// Do: Ask for `missing_fields` and save them in the tenant.
	BillingNotReady Code = "billing_not_ready"
	// The plan has no per-seat price in this currency.
	// Do: Offer other plans. An admin should add the price.
	SeatPricingMisconfigured Code = "seat_pricing_misconfigured"
	// The tenant has a subscription that has not ended.
	// Do: Change its plan instead.
	SubscriptionAlreadyExists Code = "subscription_already_exists"
	// A subscription in this status cannot be canceled.
	// Do: Read the subscription again.
	SubscriptionNotCancelable Code = "SUBSCRIPTION_CANNOT_BE_CANCELED"
	// No cancellation is scheduled.
	// Do: Read the subscription again.
	SubscriptionNotResumable Code = "subscription_not_resumable"
	// The plan does not offer a trial without a card, or the tenant or its owner has had a trial of
	// the product. Do: Offer a checkout instead.
	TrialNotAvailable Code = "trial_not_available"
	// The trial of the subscription has ended.
	// Do: Read the subscription again.
	SubscriptionNotTrialing Code = "subscription_not_trialing"
	// The plan of a subscription in this status cannot be changed.
	// Do: Pay the open invoices first.
	SubscriptionNotUpgradable Code = "subscription_cannot_be_upgraded"
	// Another change of the subscription is in progress.
	// Do: Read the subscription and retry after a few seconds.
	SubscriptionBusy Code = "subscription_busy"
	// The payment provider cannot prorate this change.
	// Do: Offer another plan, or a change at the end of the period.
	ProrationNotSupported Code = "proration_not_supported"
	// The price of the change differs from the preview. Nothing was changed.
	// Do: Show the new amounts in `preview` and ask for confirmation again.
	PreviewOutdated Code = "preview_outdated"
	// Another change of the subscription waits for its payment.
	// Do: Pay for or cancel that change first.
	ChangeWaits Code = "change_waits"
	// The promotion code cannot be used. `reason` names the reason.
	// Do: Show `message` and let the customer enter another code.
	PromotionCodeInvalid Code = "promotion_code_invalid"
	// The tenant cannot have this plan or change to it, or the payment was declined.
	// Do: Show `message` and, if present, `violations`.
	PlanChangeError Code = "plan_change_error"
	// The idempotency key was used for a request with another body.
	// Do: Use a new key for each new request.
	IdempotencyKeyReused Code = "idempotency_key_reused"
	// The payment provider failed or is unreachable. Nothing was changed, or the result is still unknown.
	// Do: Retry later with the same values.
	PSPError Code = "psp_error"
	// The payment provider cannot charge this amount.
	// Do: Use one of `possible_amounts`.
	PSPAmountUnsupported Code = "psp_amount_unsupported"
	// The price differs from the price at the payment provider.
	// Do: Check `mismatches`, then link another price or change this one.
	PSPPriceMismatch Code = "psp_price_mismatch"
	// The price is already linked.
	// Do: Unlink it first.
	PSPPriceAlreadyLinked Code = "psp_price_already_linked"
	// The billing portal of the payment provider is not configured.
	// Do: The operator has to save its settings at the provider.
	PortalNotConfigured Code = "billing_portal_not_configured"
	// The currency is in use.
	// Do: Deactivate it instead.
	CurrencyInUse Code = "CURRENCY_IN_USE"
	// No base currency is configured, so exchange rates cannot be stored.
	// Do: The operator has to set `TENANTRY_BASE_CURRENCY`.
	NoBaseCurrency Code = "no_base_currency"
	// The tenant has credit or unpaid amounts in another currency.
	// Do: Buy in `currency`, or settle those first.
	CurrencyMismatch Code = "currency_mismatch"
	// The usage exceeds a hard quota. It was not stored.
	// Do: Offer a larger plan, or wait for the next period.
	QuotaExceeded Code = "QUOTA_EXCEEDED"
	// The reservation is settled: its usage is recorded as the event `event_id`.
	// Do: Nothing, or use another idempotency key for other work.
	ReservationSettled Code = "reservation_settled"
	// The tenant has 10,000 open reservations.
	// Do: Settle or release reservations, or wait until some expire.
	TooManyReservations Code = "too_many_reservations"
	// The invitation is for another email.
	// Do: Sign in with the invited email.
	EmailMismatch Code = "EMAIL_MISMATCH"
	// The caller is not allowed to invite members.
	// Do: Ask an admin of the tenant.
	InsufficientPermissions Code = "INSUFFICIENT_PERMISSIONS"
	// The invitation does not exist.
	// Do: Ask for a new invitation.
	InvitationNotFound Code = "INVITATION_NOT_FOUND"
	// The user is already a member of this tenant.
	// Do: Nothing.
	AlreadyMember Code = "ALREADY_MEMBER"
	// The email has a pending invitation.
	// Do: Resend or revoke it.
	AlreadyInvited Code = "ALREADY_INVITED"
	// An account with the invited email exists.
	// Do: Sign in, then accept the invitation.
	AccountAlreadyExists Code = "ACCOUNT_ALREADY_EXISTS"
	// The invitation has expired.
	// Do: Ask for it to be sent again.
	InvitationExpired Code = "INVITATION_EXPIRED"
	// The invitation was already accepted.
	// Do: Sign in.
	InvitationAlreadyAccepted Code = "INVITATION_ALREADY_ACCEPTED"
	// The invitation was revoked.
	// Do: Ask for a new one.
	InvitationRevoked Code = "INVITATION_REVOKED"
	// All seats of the plan are taken by members and pending invitations.
	// Do: Remove a member, revoke an invitation or change to a larger plan.
	SeatLimitReached Code = "SEAT_LIMIT_REACHED"
	// An active subscription depends on it.
	// Do: Deactivate it instead.
	CatalogInUse Code = "CATALOG_IN_USE"
	// The invoice is final.
	// Do: Read it again.
	InvoiceNotVoidable Code = "invoice_not_voidable"
	// The invoice has a credit note that is not void.
	// Do: Credit the rest of the invoice instead.
	InvoiceHasCreditNotes Code = "invoice_has_credit_notes"
	// The invoice is not open.
	// Do: Read it again.
	InvoiceNotPayable Code = "invoice_not_payable"
	// The invoice is a draft or void, or a payment of it is in progress.
	// Do: Read it again.
	InvoiceNotCreditable Code = "invoice_not_creditable"
	// The amount exceeds the amount that can be credited or refunded.
	// Do: Use at most `amount_left`.
	AmountTooLarge Code = "amount_too_large"
	// The refund of the credit note has not failed.
	// Do: Read it again.
	RefundNotFailed Code = "refund_not_failed"
	// The payment was declined or needs an action by the customer.
	// Do: Redirect the customer to the page in `payment_action`.
	PaymentFailed Code = "payment_failed"
	// The key has expired, was revoked or was rotated.
	// Do: Create a new one.
	APIKeyRevoked Code = "api_key_revoked"
	// The caller's email is not verified, and the settings require it.
	// Do: Request a verification link, and open it from the mail.
	EmailNotVerified Code = "EMAIL_NOT_VERIFIED"
	// The API key does not have the scope of this route.
	// Do: Use a key with that scope, or sign in as a user.
	InsufficientScope Code = "insufficient_scope"
	// The disk of the database is full. Read requests still work.
	// Do: Retry later. The operator has to free space.
	StorageFull Code = "storage_full"
)

// Codes returns all codes, sorted.
func Codes() []Code {
	codes := []Code{
		InvalidCredentials, InvalidRefreshToken, RefreshTokenExpired, OAuthCodeExpired, RecentLoginRequired, LastLoginMethod, LoginMethodDisabled, ImpersonationExpired, ImpersonationReadOnly, UserInAnotherTenant,
		TenantNotEmpty, TenantNotDeleted, SubscriptionRunning, OwnsTenant, TenantContextRequired,
		OnboardingIncomplete, PlanNotInCurrency, OnboardingPlanNotInCurrency, PlanNotSellable, BillingNotReady,
		SeatPricingMisconfigured, SubscriptionAlreadyExists, SubscriptionNotCancelable, SubscriptionNotResumable, TrialNotAvailable, SubscriptionNotTrialing,
		SubscriptionNotUpgradable, SubscriptionBusy, ProrationNotSupported, PreviewOutdated, ChangeWaits, PlanChangeError, PromotionCodeInvalid, IdempotencyKeyReused,
		PSPError, PSPAmountUnsupported, PSPPriceMismatch, PSPPriceAlreadyLinked, PortalNotConfigured,
		CurrencyInUse, NoBaseCurrency, CurrencyMismatch, QuotaExceeded, ReservationSettled, TooManyReservations, EmailMismatch, InsufficientPermissions, InvitationNotFound,
		AlreadyMember, AlreadyInvited, AccountAlreadyExists, InvitationExpired, InvitationAlreadyAccepted,
		InvitationRevoked, SeatLimitReached, CatalogInUse, InvoiceNotVoidable, InvoiceHasCreditNotes, InvoiceNotPayable, InvoiceNotCreditable, AmountTooLarge, RefundNotFailed, PaymentFailed,
		SSORequired, SSONotAvailable, DomainTaken, DomainNotVerified, FeatureNotInPlan,
		APIKeyRevoked, EmailNotVerified, InsufficientScope, StorageFull,
		MFARequired, InvalidMFACode, MFAChallengeExpired, MFAEnrollmentRequired, MFANotEnabled, TOTPAlreadyEnabled, IdentityManaged,
	}
	slices.Sort(codes)
	return codes
}
