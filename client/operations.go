// Code generated from api/api.gen.go by TestOperationsAreDocumented. DO NOT EDIT.

// # Operations
//
// Each is a method of [Client]. Show its arguments and its result with, for example,
// go doc github.com/tenantry/tenantry/client/api Client.Register.
//
// .well-known:
//
//   - ListSigningKeys: List signing keys
//
// admin:
//
//   - AdminAddCurrencies: Add ISO 4217 currencies
//   - AdminAdjustCredit: Change a tenant's credit
//   - AdminApplyPromotionCode: Apply a promotion code to a tenant's subscription
//   - AdminCancelSubscription: Cancel a tenant's subscription
//   - AdminChangeMemberRole: Change a member's role
//   - AdminChangePlan: Change the plan of a tenant
//   - AdminCountPlanCustomers: Count customers of a plan
//   - AdminCreateCreditNote: Create a credit note
//   - AdminCreateCurrency: Create a currency
//   - AdminCreateDiscount: Create a discount
//   - AdminCreateFeature: Create a feature
//   - AdminCreateGrant: Grant units to a tenant
//   - AdminCreateMeter: Create a meter
//   - AdminCreatePack: Create a pack
//   - AdminCreatePlan: Create a plan
//   - AdminCreateProduct: Create a product
//   - AdminCreateProviderPrice: Create a price at the payment provider
//   - AdminCreateSubscription: Create a subscription for a tenant
//   - AdminCreateTenant: Create a tenant
//   - AdminDeleteCurrency: Delete a currency
//   - AdminDeleteDiscount: Delete a discount
//   - AdminDeleteEntitlement: Delete an entitlement
//   - AdminDeleteFeature: Delete a feature
//   - AdminDeleteGrant: Delete a grant
//   - AdminDeleteLimit: Remove the override of a limit
//   - AdminDeleteMeter: Delete a meter
//   - AdminDeletePack: Delete a pack
//   - AdminDeletePlan: Delete a plan
//   - AdminDeletePrice: Delete a price
//   - AdminDeleteProduct: Delete a product
//   - AdminDissolveTenant: Delete an empty tenant
//   - AdminDownloadCreditNote: Download a tenant's credit note. The caller closes the body of the answer
//   - AdminDownloadInvoice: Download a tenant's invoice. The caller closes the body of the answer
//   - AdminDropPendingChange: Discard a pending plan change of a tenant
//   - AdminDuplicatePlan: Duplicate a plan
//   - AdminImportPrice: Import a price from the payment provider
//   - AdminInviteMember: Invite a member to a tenant
//   - AdminLinkPrice: Link a price to the payment provider
//   - AdminListAllSubscriptions: List subscriptions of all tenants
//   - AdminListCreditNotes: List credit notes of all tenants
//   - AdminListCurrencies: List currencies
//   - AdminListDeliveries: List webhook deliveries of all tenants
//   - AdminListDiscounts: List discounts
//   - AdminListEntitlements: List a plan's entitlements
//   - AdminListFeatures: List features
//   - AdminListGrants: List grants of a tenant
//   - AdminListInvitations: List a tenant's invitations
//   - AdminListInvoices: List invoices of all tenants
//   - AdminListKnownCurrencies: List ISO 4217 currencies
//   - AdminListLimits: List a tenant's limits
//   - AdminListMembers: List a tenant's members
//   - AdminListMeters: List meters
//   - AdminListPacks: List packs
//   - AdminListPlans: List plans
//   - AdminListPriceStatuses: Compare prices with the payment provider
//   - AdminListProducts: List products
//   - AdminListQuotas: List a tenant's quotas
//   - AdminListSubscriptions: List a tenant's subscriptions
//   - AdminListTenantAPIKeys: List the API keys of a tenant
//   - AdminListTenantWebhookEndpoints: List the webhook endpoints of a tenant
//   - AdminListTenants: List tenants
//   - AdminListUsers: List users
//   - AdminMarkPaid: Mark an invoice as paid
//   - AdminPayInvoice: Pay a tenant's invoice
//   - AdminPreviewCreditNote: Preview a credit note
//   - AdminPreviewPlanChange: Preview a plan change of a tenant
//   - AdminPreviewSubscription: Preview a subscription for a tenant
//   - AdminRemoveMember: Remove a member
//   - AdminRemovePromotionCode: Remove the promotion code of a tenant's subscription
//   - AdminReplaceEntitlements: Replace a plan's entitlements
//   - AdminReplacePrices: Replace a plan's prices
//   - AdminResendInvitation: Resend an invitation
//   - AdminRestoreTenant: Restore a deleted tenant
//   - AdminResumeSubscription: Resume a tenant's subscription
//   - AdminRetryRefund: Retry a failed refund
//   - AdminRevokeInvitation: Revoke an invitation
//   - AdminSearch: Search across tenants
//   - AdminSearchTenants: Search tenants with their roles
//   - AdminSetLimit: Override a limit of a tenant
//   - AdminSetUsageCap: Cap the usage of a tenant's meter
//   - AdminShowBilling: Retrieve a tenant's billing status
//   - AdminShowCredit: Retrieve a tenant's credit
//   - AdminShowCreditNote: Retrieve a tenant's credit note
//   - AdminShowDiscount: Retrieve a discount
//   - AdminShowFeature: Retrieve a feature
//   - AdminShowInvoice: Retrieve a tenant's invoice
//   - AdminShowMeter: Retrieve a meter
//   - AdminShowPack: Retrieve a pack
//   - AdminShowPlan: Retrieve a plan
//   - AdminShowProduct: Retrieve a product
//   - AdminShowTenant: Retrieve a tenant
//   - AdminShowUsageSeries: Retrieve a tenant's usage over time
//   - AdminTransferOwnership: Transfer the ownership of a tenant
//   - AdminUnlinkPrice: Unlink a price from the payment provider
//   - AdminUpdateCurrency: Update a currency
//   - AdminUpdateDiscount: Update a discount
//   - AdminUpdateFeature: Update a feature
//   - AdminUpdateMember: Update a member
//   - AdminUpdateMeter: Update a meter
//   - AdminUpdatePack: Update a pack
//   - AdminUpdatePlan: Update a plan
//   - AdminUpdateProduct: Update a product
//   - AdminUpdateSubscription: Update a tenant's subscription
//   - AdminUpdateTenant: Update a tenant
//   - AdminVoidInvoice: Void an invoice
//   - CreatePlatformAPIKey: Create a platform API key
//   - CreatePlatformWebhookEndpoint: Create a webhook endpoint of the platform
//   - DeletePlatformWebhookEndpoint: Delete a webhook endpoint of the platform
//   - DeleteRates: Delete the exchange rates of a day
//   - ListActivity: List activity on the platform
//   - ListAnalyticsCohorts: List customer cohorts
//   - ListAnalyticsMovements: List revenue movements
//   - ListAuditLog: List audit trail entries
//   - ListImpersonations: List impersonations
//   - ListPlatformAPIKeys: List the platform's API keys
//   - ListPlatformWebhookDeliveries: List the deliveries to a webhook endpoint of the platform
//   - ListPlatformWebhookEndpoints: List the webhook endpoints of the platform
//   - ListRates: List exchange rates
//   - ListRequestLogs: List API requests
//   - ListSettings: List the settings of the service
//   - PreviewBrandInvoice: Preview the brand on an invoice. The caller closes the body of the answer
//   - PreviewBrandMail: Preview the brand in an email
//   - RenamePlatformAPIKey: Rename a platform API key
//   - ReplaceRates: Replace the exchange rates of a day
//   - ReplayPlatformWebhookDeliveries: Replay failed deliveries to a webhook endpoint of the platform
//   - ResendAnyWebhookDelivery: Resend a webhook delivery to any endpoint
//   - ResendPlatformWebhookDelivery: Resend a delivery to a webhook endpoint of the platform
//   - ResetFactors: Reset a member's second factors
//   - RevokePlatformAPIKey: Revoke a platform API key
//   - RotatePlatformAPIKey: Rotate a platform API key
//   - RotatePlatformWebhookSecret: Rotate the secret of a webhook endpoint of the platform
//   - ShowAnalytics: Retrieve revenue analytics
//   - ShowAnyWebhookDelivery: Retrieve a webhook delivery to any endpoint
//   - ShowImpersonation: Retrieve the active impersonation
//   - ShowPlatformWebhookDelivery: Retrieve a delivery to a webhook endpoint of the platform
//   - ShowPlatformWebhookEndpoint: Retrieve a webhook endpoint of the platform
//   - ShowStats: Retrieve platform statistics
//   - ShowStatsSeries: Retrieve a platform statistic over time
//   - ShowTenantTimeline: List a tenant's activity
//   - StartImpersonation: Start impersonation
//   - StopImpersonation: Stop impersonation
//   - TestPlatformWebhookEndpoint: Test a webhook endpoint of the platform
//   - UpdatePlatformWebhookEndpoint: Update a webhook endpoint of the platform
//
// auth:
//
//   - CompleteLogin: Complete a login with a second factor
//   - CreateBackendToken: Create a token for a backend
//   - CreatePasskeyLoginOptions: Create options to log in with a passkey
//   - CreateSecondFactorOptions: Create options to complete a login with a passkey
//   - ExchangeLoginCode: Exchange a login code
//   - FindSSO: Find the single sign-on of an email
//   - FinishSSO: Finish a single sign-on
//   - ListLoginProviders: List identity providers
//   - LogInWithEmailCode: Log in with a code
//   - LogInWithPasskey: Log in with a passkey
//   - Login: Log in with email and password
//   - Logout: Log out
//   - RefreshTokens: Refresh tokens
//   - Register: Register an account
//   - RequestEmailCode: Request a login code
//   - RequestPasswordReset: Request a password reset
//   - ResetPassword: Reset a password
//   - ShowProfile: Retrieve the caller's profile
//   - StartSSO: Start a single sign-on
//   - VerifyEmail: Verify an email address
//
// avatars:
//
//   - ShowAvatar: Retrieve a user's picture. The caller closes the body of the answer
//
// batch:
//
//   - ReadBatch: Read several resources
//
// catalog:
//
//   - ListFeatures: List active features
//   - ListPacks: List active packs
//   - ListPlans: List active plans
//   - ListProducts: List active products
//
// currencies:
//
//   - ListCurrencies: List active currencies
//
// healthz:
//
//   - ShowLiveness: Check liveness
//
// invitations:
//
//   - AcceptInvitation: Accept an invitation
//   - RegisterWithInvitation: Register and accept an invitation
//   - ShowInvitation: Retrieve an invitation
//
// onboarding:
//
//   - CompleteOnboarding: Complete the onboarding
//   - PreviewOnboarding: Preview the cost of a plan
//   - RetryCheckout: Create another checkout
//   - ShowOnboarding: Retrieve the onboarding status
//   - StartOnboarding: Register and create a checkout
//
// push-subscriptions:
//
//   - CreatePushSubscription: Create a push subscription
//   - DeletePushSubscription: Delete a push subscription
//   - ListPushSubscriptions: List push subscriptions
//
// readyz:
//
//   - ShowReadiness: Check readiness
//
// settings:
//
//   - ShowSettings: Retrieve public settings
//
// studio:
//
//   - ShowStudioAccess: Check access to the studio
//
// tenant:
//
//   - AddDomain: Add a domain
//   - ApplyPromotionCode: Apply a promotion code
//   - CancelSubscription: Cancel the subscription
//   - ChangeMemberRole: Change a member's role
//   - ChangePlan: Change the plan
//   - CreateAPIKey: Create an API key
//   - CreateCheckout: Create a checkout
//   - CreatePackCheckout: Create a checkout for a pack
//   - CreateRole: Create a role
//   - CreateWebhookEndpoint: Create a webhook endpoint of the tenant
//   - DeleteDomain: Delete a domain
//   - DeleteRole: Delete a role
//   - DeleteSSOConnection: Delete the single sign-on connection
//   - DeleteTenant: Delete the tenant
//   - DeleteWebhookEndpoint: Delete a webhook endpoint of the tenant
//   - DownloadCreditNote: Download a credit note. The caller closes the body of the answer
//   - DownloadInvoice: Download an invoice. The caller closes the body of the answer
//   - DropPendingChange: Discard a pending plan change
//   - EstimateCosts: Estimate usage costs
//   - ExportUsage: Export usage events. The caller closes the body of the answer
//   - InviteMember: Invite a member
//   - LeaveTenant: Leave the tenant
//   - ListAPIKeys: List the tenant's API keys
//   - ListAssignableRoles: List assignable roles
//   - ListCreditNotes: List credit notes
//   - ListDomains: List domains
//   - ListEntitlements: List entitlements
//   - ListGrants: List grants
//   - ListInvitations: List invitations
//   - ListInvoices: List invoices
//   - ListMembers: List members
//   - ListOfferedPlans: List plans for the tenant
//   - ListPermissions: List permissions
//   - ListQuotas: List quotas
//   - ListRoles: List roles
//   - ListTenantAuditLog: List the tenant's audit trail entries
//   - ListTenantRequestLogs: List the tenant's API requests
//   - ListTenantTimeline: List activity in the tenant
//   - ListWebhookDeliveries: List the deliveries to a webhook endpoint of the tenant
//   - ListWebhookEndpoints: List the webhook endpoints of the tenant
//   - OpenBillingPortal: Open the billing portal
//   - PayInvoice: Pay an invoice
//   - PreviewChange: Preview a plan change
//   - PreviewCheckout: Preview a checkout
//   - PutSSOConnection: Set the single sign-on connection
//   - RecordUsage: Record a usage event
//   - RecordUsageBatch: Record several usage events
//   - ReleaseReservation: Release a reservation
//   - RemoveMember: Remove a member
//   - RemovePromotionCode: Remove the promotion code
//   - RenameAPIKey: Rename an API key
//   - ReplayWebhookDeliveries: Replay failed deliveries to a webhook endpoint of the tenant
//   - ResendInvitation: Resend an invitation
//   - ResendWebhookDelivery: Resend a delivery to a webhook endpoint of the tenant
//   - ReserveUsage: Reserve usage
//   - ResumeSubscription: Resume the subscription
//   - RevokeAPIKey: Revoke an API key
//   - RevokeInvitation: Revoke an invitation
//   - RotateAPIKey: Rotate an API key
//   - RotateWebhookSecret: Rotate the secret of a webhook endpoint of the tenant
//   - SearchTenant: Search in the tenant
//   - SetUsageCap: Cap the usage of a meter
//   - SettleReservation: Settle a reservation
//   - ShowCredit: Retrieve the credit
//   - ShowCreditNote: Retrieve a credit note
//   - ShowFailedPayment: Retrieve the last failed payment
//   - ShowInvoice: Retrieve an invoice
//   - ShowMeterUsage: Retrieve usage of a meter
//   - ShowPaymentMethod: Retrieve the payment method
//   - ShowSSOConnection: Retrieve the single sign-on connection
//   - ShowSeats: Retrieve seat usage
//   - ShowSubscription: Retrieve the subscription
//   - ShowTeamStats: Retrieve team statistics
//   - ShowTenant: Retrieve the caller's tenant
//   - ShowUsageSeries: Retrieve usage over time
//   - ShowWebhookDelivery: Retrieve a delivery to a webhook endpoint of the tenant
//   - ShowWebhookEndpoint: Retrieve a webhook endpoint of the tenant
//   - StartTrial: Start a trial without a card
//   - SummarizeInvoices: Summarize invoices
//   - SummarizeUsage: Summarize current usage
//   - TestSSOConnection: Test the single sign-on connection
//   - TestWebhookEndpoint: Test a webhook endpoint of the tenant
//   - TransferOwnership: Transfer ownership
//   - UpdateDomain: Update a domain
//   - UpdateRole: Update a role
//   - UpdateTenant: Update the caller's tenant
//   - UpdateWebhookEndpoint: Update a webhook endpoint of the tenant
//   - VerifyDomain: Verify a domain
//
// tenants:
//
//   - CreateTenant: Create a tenant
//
// user:
//
//   - ChangePassword: Change the caller's password
//   - ConfirmTOTP: Confirm an authenticator app
//   - CreateAssertionOptions: Create options to confirm with a passkey
//   - CreatePasskey: Add a passkey
//   - CreatePasskeyOptions: Create options for a new passkey
//   - CreateRecoveryCodes: Generate recovery codes
//   - DeleteAccount: Delete the caller's account
//   - DeleteAvatar: Delete the caller's picture
//   - DeletePasskey: Remove a passkey
//   - EndLogin: Revoke a session
//   - EndOtherLogins: Revoke all other sessions
//   - EnrollTOTP: Add an authenticator app
//   - ExportAccount: Export the caller's data
//   - ListIdentities: List linked identities
//   - ListLogins: List the caller's sessions
//   - RemoveIdentity: Remove a linked identity
//   - RemoveTOTP: Remove the authenticator app
//   - RenamePasskey: Rename a passkey
//   - RequestEmailChange: Request an email change
//   - RequestEmailVerification: Request email verification
//   - ShowFactors: List second factors
//   - UpdateProfile: Update the caller's profile
//   - UploadAvatar: Upload the caller's picture
package client
