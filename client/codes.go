package client

// Code is what a program tells refusals apart by. It is an error itself, so that
// errors.Is(err, ErrQuotaExceeded) reports whether err is, or wraps, a refusal with that code.
type Code string //nolint:errname // a code in the first place; what callers compare with is named Err…

// Error returns the code.
func (c Code) Error() string { return string(c) }

// The codes of refusals, as docs/errors.md explains them. More may be added.
const (
	ErrAccountAlreadyExists                 Code = "ACCOUNT_ALREADY_EXISTS"          // 409: The invited email has an account.
	ErrAlreadyInvited                       Code = "ALREADY_INVITED"                 // 409: The email has a pending invitation.
	ErrAlreadyMember                        Code = "ALREADY_MEMBER"                  // 409: The person is a member of this tenant.
	ErrAPIKeyRevoked                        Code = "api_key_revoked"                 // 409: The key has ended or was rotated before.
	ErrBillingNotReady                      Code = "billing_not_ready"               // 422: Billing details are missing.
	ErrBillingPortalNotConfigured           Code = "billing_portal_not_configured"   // 422: The provider's billing portal is not set up.
	ErrCatalogInUse                         Code = "CATALOG_IN_USE"                  // 409: A subscription that runs depends on it.
	ErrCurrencyInUse                        Code = "CURRENCY_IN_USE"                 // 409: Something is stored in this currency.
	ErrCurrencyMismatch                     Code = "currency_mismatch"               // 422: The tenant has credit, or something unpaid, in another currency.
	ErrEmailMismatch                        Code = "EMAIL_MISMATCH"                  // 403: The invitation is for another email.
	ErrEmailNotVerified                     Code = "EMAIL_NOT_VERIFIED"              // 403: Nobody has proved the caller's email, which the settings ask for.
	ErrImpersonationExpired                 Code = "IMPERSONATION_EXPIRED"           // 403: The permission to act as this member was taken away. Stop acting first.
	ErrInsufficientPermissions              Code = "INSUFFICIENT_PERMISSIONS"        // 403: The caller may not invite.
	ErrInsufficientScope                    Code = "insufficient_scope"              // 403: The API key does not open this route.
	ErrInvalidCredentials                   Code = "INVALID_CREDENTIALS"             // 401: Email or password is wrong, or the account has no password.
	ErrInvalidRefreshToken                  Code = "INVALID_REFRESH_TOKEN"           // 401: The refresh token is unknown, was used before or was revoked.
	ErrInvitationAlreadyAccepted            Code = "INVITATION_ALREADY_ACCEPTED"     // 410: The invitation was accepted before.
	ErrInvitationExpired                    Code = "INVITATION_EXPIRED"              // 410: The invitation is too old.
	ErrInvitationNotFound                   Code = "INVITATION_NOT_FOUND"            // 404: There is no such invitation.
	ErrInvitationRevoked                    Code = "INVITATION_REVOKED"              // 410: The invitation was taken back.
	ErrInvoiceNotPayable                    Code = "invoice_not_payable"             // 409: The invoice is not open.
	ErrInvoiceNotVoidable                   Code = "invoice_not_voidable"            // 422: The invoice is final.
	ErrLastLoginMethod                      Code = "LAST_LOGIN_METHOD"               // 409: The account would have no way to log in.
	ErrOAuthCodeExpired                     Code = "OAUTH_CODE_EXPIRED"              // 400: The one-time code is unknown, used, older than 60 seconds, or of another browser.
	ErrOnboardingIncomplete                 Code = "ONBOARDING_INCOMPLETE"           // 403: The tenant's onboarding is not complete.
	ErrOwnsTenant                           Code = "OWNS_TENANT"                     // 409: The user owns a tenant with other members or a running subscription.
	ErrPaymentFailed                        Code = "payment_failed"                  // 422: The payment was declined or waits for a person.
	ErrPlanChangeError                      Code = "plan_change_error"               // 422: The tenant cannot have this plan, cannot change to it, or the payment was declined.
	ErrOnboardingPlanNotAvailableInCurrency Code = "PLAN_NOT_AVAILABLE_IN_CURRENCY"  // 422: The plan has no price in this currency, during the onboarding.
	ErrPlanNotAvailableInCurrency           Code = "plan_not_available_in_currency"  // 422: The plan has no price in this currency.
	ErrPlanNotSellable                      Code = "plan_not_sellable"               // 422: The price differs from the provider's, is inactive there or cannot be sold.
	ErrPreviewOutdated                      Code = "preview_outdated"                // 409: The change would not cost any more what was previewed. Nothing has happened.
	ErrProrationNotSupported                Code = "proration_not_supported"         // 422: The provider cannot compute this change.
	ErrPSPAmountUnsupported                 Code = "psp_amount_unsupported"          // 422: The provider cannot charge this amount.
	ErrPSPError                             Code = "psp_error"                       // 502: The payment provider failed or cannot be reached. Nothing has changed, or it will be found out.
	ErrPSPPriceAlreadyLinked                Code = "psp_price_already_linked"        // 422: The price is linked already.
	ErrPSPPriceMismatch                     Code = "psp_price_mismatch"              // 422: The provider's price is another than this one.
	ErrQuotaExceeded                        Code = "QUOTA_EXCEEDED"                  // 429: A hard quota does not allow this usage. It was not stored.
	ErrRecentLoginRequired                  Code = "RECENT_LOGIN_REQUIRED"           // 403: The login is too old for this. Log in again.
	ErrRefreshTokenExpired                  Code = "REFRESH_TOKEN_EXPIRED"           // 401: The refresh token is too old.
	ErrSeatLimitReached                     Code = "SEAT_LIMIT_REACHED"              // 422: All seats of the plan are taken, by members and pending invitations.
	ErrSeatPricingMisconfigured             Code = "seat_pricing_misconfigured"      // 422: The plan has no price for seats in this currency.
	ErrStorageFull                          Code = "storage_full"                    // 503: The disk of the database is full; what only reads goes on.
	ErrSubscriptionAlreadyExists            Code = "subscription_already_exists"     // 422: The tenant has a subscription that is not over.
	ErrSubscriptionBusy                     Code = "subscription_busy"               // 409: Another change of the subscription is under way.
	ErrSubscriptionCannotBeCanceled         Code = "SUBSCRIPTION_CANNOT_BE_CANCELED" // 400: The status of the subscription does not allow a cancellation.
	ErrSubscriptionCannotBeUpgraded         Code = "subscription_cannot_be_upgraded" // 422: The status of the subscription does not allow a change of plan.
	ErrSubscriptionNotResumable             Code = "subscription_not_resumable"      // 422: No end is scheduled.
	ErrSubscriptionRunning                  Code = "subscription_running"            // 409: The tenant has a subscription that is not canceled.
	ErrTenantContextRequired                Code = "TENANT_CONTEXT_REQUIRED"         // 400: The caller is in no tenant.
	ErrTenantNotDeleted                     Code = "tenant_not_deleted"              // 409: The tenant is not deleted, so it cannot be restored.
	ErrTenantNotEmpty                       Code = "TENANT_NOT_EMPTY"                // 409: The tenant has members, or ever had a subscription.
	ErrUserBelongsToAnotherTenant           Code = "USER_BELONGS_TO_ANOTHER_TENANT"  // 409: A user is in one tenant at most, and this one is in another.
)
