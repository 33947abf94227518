package client

// Code is a stable error code. It is an error itself: errors.Is(err, ErrQuotaExceeded) reports
// whether err is, or wraps, an error response with that code.
type Code string //nolint:errname // a code; the constants that callers compare with are named Err…

// Error returns the code.
func (c Code) Error() string { return string(c) }

// The error codes, as described in docs/errors.md. New codes may be added.
const (
	ErrAccountAlreadyExists                 Code = "ACCOUNT_ALREADY_EXISTS"          // 409: An account uses the invited email.
	ErrAlreadyInvited                       Code = "ALREADY_INVITED"                 // 409: The email has a pending invitation.
	ErrAlreadyMember                        Code = "ALREADY_MEMBER"                  // 409: The person is already a member of this tenant.
	ErrAPIKeyRevoked                        Code = "api_key_revoked"                 // 409: The key has expired, was revoked or was already rotated.
	ErrBillingNotReady                      Code = "billing_not_ready"               // 422: Billing details are missing.
	ErrBillingPortalNotConfigured           Code = "billing_portal_not_configured"   // 422: The provider's billing portal is not configured.
	ErrCatalogInUse                         Code = "CATALOG_IN_USE"                  // 409: A running subscription uses it.
	ErrCurrencyInUse                        Code = "CURRENCY_IN_USE"                 // 409: The currency is in use.
	ErrNoBaseCurrency                       Code = "no_base_currency"                // 409: No base currency is configured.
	ErrCurrencyMismatch                     Code = "currency_mismatch"               // 422: The tenant has a credit or an unpaid invoice in another currency.
	ErrDomainNotVerified                    Code = "domain_not_verified"             // 422: The DNS record of the domain was not found.
	ErrDomainTaken                          Code = "DOMAIN_TAKEN"                    // 409: Another organization has verified the domain.
	ErrEmailMismatch                        Code = "EMAIL_MISMATCH"                  // 403: The invitation is for another email.
	ErrEmailNotVerified                     Code = "EMAIL_NOT_VERIFIED"              // 403: The settings require a verified email, and the caller's email is not verified.
	ErrFeatureNotInPlan                     Code = "FEATURE_NOT_IN_PLAN"             // 403: The plan of the organization does not include the feature.
	ErrIdempotencyKeyReused                 Code = "idempotency_key_reused"          // 409: The idempotency key was used for a request with another body.
	ErrIdentityManaged                      Code = "IDENTITY_MANAGED"                // 409: The organization manages this identity.
	ErrImpersonationExpired                 Code = "IMPERSONATION_EXPIRED"           // 403: The impersonation has ended. Stop it first.
	ErrImpersonationReadOnly                Code = "IMPERSONATION_READ_ONLY"         // 403: The impersonation only reads.
	ErrInsufficientPermissions              Code = "INSUFFICIENT_PERMISSIONS"        // 403: The caller does not have permission to invite.
	ErrInsufficientScope                    Code = "insufficient_scope"              // 403: The API key does not have a scope for this route.
	ErrInvalidCredentials                   Code = "INVALID_CREDENTIALS"             // 401: The email or password is wrong, or the account has no password.
	ErrInvalidMFACode                       Code = "INVALID_MFA_CODE"                // 401: The second factor is wrong.
	ErrInvalidRefreshToken                  Code = "INVALID_REFRESH_TOKEN"           // 401: The refresh token is unknown, already used or revoked.
	ErrInvitationAlreadyAccepted            Code = "INVITATION_ALREADY_ACCEPTED"     // 410: The invitation was already accepted.
	ErrInvitationExpired                    Code = "INVITATION_EXPIRED"              // 410: The invitation has expired.
	ErrInvitationNotFound                   Code = "INVITATION_NOT_FOUND"            // 404: The invitation does not exist.
	ErrInvitationRevoked                    Code = "INVITATION_REVOKED"              // 410: The invitation was revoked.
	ErrInvoiceHasCreditNotes                Code = "invoice_has_credit_notes"        // 409: A credit note of the invoice is not void.
	ErrInvoiceNotPayable                    Code = "invoice_not_payable"             // 409: The invoice is not open.
	ErrInvoiceNotVoidable                   Code = "invoice_not_voidable"            // 422: The invoice is final.
	ErrLastLoginMethod                      Code = "LAST_LOGIN_METHOD"               // 409: It is the account's last login method.
	ErrLoginMethodDisabled                  Code = "LOGIN_METHOD_DISABLED"           // 403: The settings disable this login method.
	ErrMFAChallengeExpired                  Code = "MFA_CHALLENGE_EXPIRED"           // 400: The challenge is unknown, expired or already used, or belongs to another browser.
	ErrMFAEnrollmentRequired                Code = "MFA_ENROLLMENT_REQUIRED"         // 403: A second factor is required, and the user lacks one.
	ErrMFANotEnabled                        Code = "MFA_NOT_ENABLED"                 // 409: The user lacks a second factor.
	ErrMFARequired                          Code = "MFA_REQUIRED"                    // 403: The login needs a second factor.
	ErrOAuthCodeExpired                     Code = "OAUTH_CODE_EXPIRED"              // 400: The one-time code is unknown, already used, older than 60 seconds, or from another browser.
	ErrOnboardingIncomplete                 Code = "ONBOARDING_INCOMPLETE"           // 403: The tenant's onboarding is not complete.
	ErrOnboardingPlanNotAvailableInCurrency Code = "PLAN_NOT_AVAILABLE_IN_CURRENCY"  // 422: The plan has no price in this currency, during the onboarding.
	ErrOwnsTenant                           Code = "OWNS_TENANT"                     // 409: The user owns a tenant with other members or a running subscription.
	ErrPaymentFailed                        Code = "payment_failed"                  // 422: The payment was declined or requires confirmation.
	ErrPlanChangeError                      Code = "plan_change_error"               // 422: The tenant is not eligible for this plan, the change is not possible, or the payment was declined.
	ErrPlanNotAvailableInCurrency           Code = "plan_not_available_in_currency"  // 422: The plan has no price in this currency.
	ErrPlanNotSellable                      Code = "plan_not_sellable"               // 422: The price differs from the provider's price, is inactive there, or cannot be sold.
	ErrAmountTooLarge                       Code = "amount_too_large"                // 422: The amount exceeds the amount that can be credited or refunded.
	ErrChangeWaits                          Code = "change_waits"                    // 409: Another change of the subscription waits for its payment.
	ErrInvoiceNotCreditable                 Code = "invoice_not_creditable"          // 409: The invoice is a draft or void, or a payment of it is in progress.
	ErrRefundNotFailed                      Code = "refund_not_failed"               // 409: The refund of the credit note has not failed.
	ErrPreviewOutdated                      Code = "preview_outdated"                // 409: The change would no longer cost the previewed amount. Nothing has changed.
	ErrPromotionCodeInvalid                 Code = "promotion_code_invalid"          // 422: The promotion code cannot be used.
	ErrProrationNotSupported                Code = "proration_not_supported"         // 422: The provider cannot compute this change.
	ErrPSPAmountUnsupported                 Code = "psp_amount_unsupported"          // 422: The provider cannot charge this amount.
	ErrPSPError                             Code = "psp_error"                       // 502: The payment provider failed or is unavailable. Either nothing has changed, or the result will be synchronized.
	ErrPSPPriceAlreadyLinked                Code = "psp_price_already_linked"        // 422: The price is already linked.
	ErrPSPPriceMismatch                     Code = "psp_price_mismatch"              // 422: The provider's price does not match this price.
	ErrQuotaExceeded                        Code = "QUOTA_EXCEEDED"                  // 429: The usage exceeds a hard quota and was not recorded.
	ErrRecentLoginRequired                  Code = "RECENT_LOGIN_REQUIRED"           // 403: The login is too old for this operation. Log in again.
	ErrRefreshTokenExpired                  Code = "REFRESH_TOKEN_EXPIRED"           // 401: The refresh token has expired.
	ErrReservationSettled                   Code = "reservation_settled"             // 409: The reservation has been settled.
	ErrSeatLimitReached                     Code = "SEAT_LIMIT_REACHED"              // 422: All seats of the plan are used by members and pending invitations.
	ErrSeatPricingMisconfigured             Code = "seat_pricing_misconfigured"      // 422: The plan has no seat price in this currency.
	ErrSSONotAvailable                      Code = "SSO_NOT_AVAILABLE"               // 404: The domain of the email does not use single sign-on.
	ErrSSORequired                          Code = "SSO_REQUIRED"                    // 403: The organization requires single sign-on.
	ErrStorageFull                          Code = "storage_full"                    // 503: The disk of the database is full. Reads still work.
	ErrSubscriptionAlreadyExists            Code = "subscription_already_exists"     // 422: The tenant has a subscription that has not ended.
	ErrSubscriptionBusy                     Code = "subscription_busy"               // 409: Another change of the subscription is in progress.
	ErrSubscriptionCannotBeCanceled         Code = "SUBSCRIPTION_CANNOT_BE_CANCELED" // 400: The status of the subscription does not allow a cancellation.
	ErrSubscriptionCannotBeUpgraded         Code = "subscription_cannot_be_upgraded" // 422: The status of the subscription does not allow a plan change.
	ErrSubscriptionNotResumable             Code = "subscription_not_resumable"      // 422: No cancellation is scheduled.
	ErrSubscriptionNotTrialing              Code = "subscription_not_trialing"       // 409: The trial of the subscription has ended.
	ErrSubscriptionRunning                  Code = "subscription_running"            // 409: The tenant has a subscription that is not canceled.
	ErrTenantContextRequired                Code = "TENANT_CONTEXT_REQUIRED"         // 400: The caller is not a member of a tenant.
	ErrTenantNotDeleted                     Code = "tenant_not_deleted"              // 409: The tenant is not deleted, so it cannot be restored.
	ErrTenantNotEmpty                       Code = "TENANT_NOT_EMPTY"                // 409: The tenant has members or has had a subscription.
	ErrTooManyReservations                  Code = "too_many_reservations"           // 422: The tenant has too many open reservations.
	ErrTOTPAlreadyEnabled                   Code = "TOTP_ALREADY_ENABLED"            // 409: The user already has an authenticator app.
	ErrTrialNotAvailable                    Code = "trial_not_available"             // 422: The plan does not offer a trial without a card, or the tenant or its owner has had a trial of the product.
	ErrUserBelongsToAnotherTenant           Code = "USER_BELONGS_TO_ANOTHER_TENANT"  // 409: A user can be a member of one tenant only, and this user is a member of another tenant.
)
