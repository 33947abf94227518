// Code generated from api/api.gen.go by TestOperationsAreDocumented. DO NOT EDIT.

// # Operations
//
// Each is a method of [Client]. Show its arguments and its result with, for example,
// go doc github.com/tenantry/tenantry/client/api Client.Register.
//
// admin:
//
//   - AdminAddCurrencies: Add currencies of ISO 4217 by their codes
//   - AdminCancelSubscription: Cancel a tenant's subscription
//   - AdminChangeMemberRole: Change a member's role
//   - AdminCountPlanCustomers: Count who pays which price of a plan
//   - AdminCreateCurrency: Create a currency
//   - AdminCreateFeature: Create a feature
//   - AdminCreateMeter: Create a meter
//   - AdminCreatePlan: Create a plan
//   - AdminCreateProduct: Create a product
//   - AdminCreateProviderPrice: Create a price at the payment provider
//   - AdminCreateTenant: Create a tenant
//   - AdminDeleteCurrency: Delete a currency that nothing uses
//   - AdminDeleteEntitlement: Remove an entitlement
//   - AdminDeleteFeature: Delete a feature
//   - AdminDeleteMeter: Delete a meter; its events stay
//   - AdminDeletePlan: Delete a plan
//   - AdminDeletePrice: Remove a plan's price
//   - AdminDeleteProduct: Delete a product and its plans
//   - AdminDissolveTenant: Delete a tenant without members
//   - AdminDuplicatePlan: Copy a plan
//   - AdminImportPrice: Create a price from one at the payment provider
//   - AdminInviteMember: Invite a person to a tenant
//   - AdminLinkPrice: Link a price to one at the payment provider
//   - AdminListCurrencies: List currencies, active and inactive
//   - AdminListEntitlements: List a plan's entitlements
//   - AdminListFeatures: List features
//   - AdminListInvitations: List a tenant's invitations
//   - AdminListKnownCurrencies: List the currencies of ISO 4217 that can be added
//   - AdminListMembers: List a tenant's members
//   - AdminListMeters: List meters
//   - AdminListPlans: List plans
//   - AdminListPriceStatuses: Compare a plan's prices with the payment provider's
//   - AdminListProducts: List products
//   - AdminListSubscriptions: List a tenant's subscriptions
//   - AdminListTenants: List tenants
//   - AdminRemoveMember: Remove a member
//   - AdminReplaceEntitlements: Replace a plan's entitlements
//   - AdminReplacePrices: Replace a plan's prices
//   - AdminResendInvitation: Resend an invitation
//   - AdminRestoreTenant: Restore a deleted tenant
//   - AdminRevokeInvitation: Revoke an invitation
//   - AdminSearchTenants: Search tenants, with their roles
//   - AdminShowBilling: Show how a tenant pays
//   - AdminShowFeature: Show a feature
//   - AdminShowMeter: Show a meter
//   - AdminShowPlan: Show a plan
//   - AdminShowProduct: Show a product
//   - AdminShowTenant: Show a tenant
//   - AdminUnlinkPrice: Unlink a price from the payment provider's
//   - AdminUpdateCurrency: Change a currency
//   - AdminUpdateFeature: Change a feature
//   - AdminUpdateMember: Change a member's name and password
//   - AdminUpdateMeter: Change a meter
//   - AdminUpdatePlan: Change a plan
//   - AdminUpdateProduct: Change a product
//   - AdminUpdateTenant: Change a tenant
//   - AdminVoidInvoice: Void an invoice that is not final
//   - CreatePlatformAPIKey: Create an API key of the platform
//   - CreatePlatformWebhookEndpoint: Create a webhook endpoint of the platform; its secret is shown once
//   - DeletePlatformWebhookEndpoint: Delete a webhook endpoint of the platform
//   - ListActivity: List what has happened anywhere
//   - ListAuditLog: List the audit trail
//   - ListImpersonations: List impersonations
//   - ListPlatformAPIKeys: List the platform's API keys
//   - ListPlatformWebhookDeliveries: List the deliveries to a webhook endpoint of the platform
//   - ListPlatformWebhookEndpoints: List the webhook endpoints of the platform
//   - RenamePlatformAPIKey: Rename an API key of the platform
//   - ReplayPlatformWebhookDeliveries: Send again what was not delivered to a webhook endpoint of the platform
//   - ResendPlatformWebhookDelivery: Send a delivery again to a webhook endpoint of the platform
//   - RevokePlatformAPIKey: End an API key of the platform at once
//   - RotatePlatformAPIKey: Replace an API key of the platform by a new one
//   - RotatePlatformWebhookSecret: Replace the secret of a webhook endpoint of the platform
//   - ShowImpersonation: Show the impersonation that is active
//   - ShowPlatformWebhookEndpoint: Show a webhook endpoint of the platform
//   - ShowStats: Show the figures of the platform
//   - ShowStatsSeries: Show a figure of the platform over time
//   - ShowTenantTimeline: List what has happened in a tenant
//   - StartImpersonation: Act as a member of a tenant
//   - StopImpersonation: Stop impersonating
//   - TestPlatformWebhookEndpoint: Send an event of type webhook.test to a webhook endpoint of the platform
//   - UpdatePlatformWebhookEndpoint: Change a webhook endpoint of the platform
//
// auth:
//
//   - ExchangeLoginCode: Exchange the one-time code of a delegated login for a session or tokens
//   - ListLoginProviders: List the configured identity providers
//   - Login: Log in with email and password
//   - Logout: Log out and revoke all refresh tokens
//   - RefreshTokens: Exchange a refresh token for a new pair
//   - Register: Register an account and its first tenant
//   - RequestPasswordReset: Send a password reset link
//   - ResetPassword: Set a new password by the token of a mail
//   - ShowProfile: Show the caller's profile
//   - VerifyEmail: Confirm an email by the token of a mail
//
// avatars:
//
//   - ShowAvatar: Show a user's picture. The caller closes the body of the answer
//
// catalog:
//
//   - ListFeatures: List active features
//   - ListPlans: List active plans
//   - ListProducts: List active products
//
// currencies:
//
//   - ListCurrencies: List active currencies
//
// healthz:
//
//   - ShowLiveness: Show whether the process lives
//
// invitations:
//
//   - AcceptInvitation: Accept an invitation
//   - RegisterWithInvitation: Register and accept an invitation
//   - ShowInvitation: Show an invitation by the token of its mail
//
// onboarding:
//
//   - CompleteOnboarding: Save billing details and complete the onboarding
//   - RetryCheckout: Reopen checkout
//   - ShowOnboarding: Show onboarding progress
//   - StartOnboarding: Register and open the checkout of a plan
//
// push-subscriptions:
//
//   - CreatePushSubscription: Subscribe a browser to push notifications
//   - DeletePushSubscription: Unsubscribe a browser from push notifications
//   - ListPushSubscriptions: List the browsers that get the caller's push notifications
//
// readyz:
//
//   - ShowReadiness: Show whether requests can be served
//
// settings:
//
//   - ShowSettings: Show the settings that a frontend needs
//
// studio:
//
//   - ShowStudioAccess: Show whether the tenant may use the studio
//
// tenant:
//
//   - CancelSubscription: Cancel the subscription
//   - ChangeMemberRole: Change a member's role
//   - ChangePlan: Change to another plan
//   - CreateAPIKey: Create an API key; its secret is shown once
//   - CreateCheckout: Open a hosted checkout
//   - CreateRole: Create a role
//   - CreateWebhookEndpoint: Create a webhook endpoint of the tenant; its secret is shown once
//   - DeleteRole: Delete a role
//   - DeleteTenant: Delete the tenant; it can be restored for some time
//   - DeleteWebhookEndpoint: Delete a webhook endpoint of the tenant
//   - DownloadInvoice: Download an invoice's document. The caller closes the body of the answer
//   - DropPendingChange: Discard a change that waits for confirmation
//   - EstimateCosts: Estimate what the usage of the current billing period costs
//   - ExportUsage: Download the events of a meter. The caller closes the body of the answer
//   - InviteMember: Invite a person by mail
//   - LeaveTenant: Leave the tenant
//   - ListAPIKeys: List the tenant's API keys
//   - ListAssignableRoles: List the roles that a member can be given
//   - ListEntitlements: List the subscription's entitlements
//   - ListInvitations: List the invitations
//   - ListInvoices: List the invoices
//   - ListMembers: List the team's members
//   - ListOfferedPlans: List plans with the tenant's eligibility
//   - ListPermissions: List the permissions that a role can hold
//   - ListQuotas: Show usage against quotas
//   - ListRoles: List built-in and custom roles
//   - ListTenantAuditLog: List the tenant's part of the audit trail
//   - ListTenantTimeline: List what has happened in the tenant
//   - ListWebhookDeliveries: List the deliveries to a webhook endpoint of the tenant
//   - ListWebhookEndpoints: List the webhook endpoints of the tenant
//   - OpenBillingPortal: Open the hosted billing portal
//   - PayInvoice: Pay an open invoice now
//   - PreviewChange: Show what another plan would cost now
//   - RecordUsage: Record usage
//   - RecordUsageBatch: Record several usage events
//   - RemoveMember: Remove a member
//   - RenameAPIKey: Rename an API key
//   - ReplayWebhookDeliveries: Send again what was not delivered to a webhook endpoint of the tenant
//   - ResendInvitation: Resend an invitation
//   - ResendWebhookDelivery: Send a delivery again to a webhook endpoint of the tenant
//   - ResumeSubscription: Resume a subscription that is set to end
//   - RevokeAPIKey: End an API key at once
//   - RevokeInvitation: Revoke an invitation
//   - RotateAPIKey: Replace an API key by a new one
//   - RotateWebhookSecret: Replace the secret of a webhook endpoint of the tenant
//   - ShowCredit: Show the credit that the next invoices use
//   - ShowFailedPayment: Show the last failed payment
//   - ShowInvoice: Show an invoice
//   - ShowMeterUsage: Show one meter with its newest events
//   - ShowPaymentMethod: Show what the next invoice is paid with
//   - ShowSeats: Show seats in use
//   - ShowSubscription: Show the subscription
//   - ShowTeamStats: Show seat counts
//   - ShowTenant: Show the caller's tenant
//   - ShowUsageSeries: Show a meter over time
//   - ShowWebhookEndpoint: Show a webhook endpoint of the tenant
//   - SummarizeInvoices: Add up the invoices of a year
//   - SummarizeUsage: Summarize the usage of the current period
//   - TestWebhookEndpoint: Send an event of type webhook.test to a webhook endpoint of the tenant
//   - TransferOwnership: Make another member the owner
//   - UpdateRole: Change a role
//   - UpdateTenant: Change the caller's tenant
//   - UpdateWebhookEndpoint: Change a webhook endpoint of the tenant
//
// tenants:
//
//   - CreateTenant: Create a tenant, for a caller without one
//
// user:
//
//   - ChangePassword: Change the caller's password; other logins end
//   - DeleteAccount: Delete the caller's account
//   - DeleteAvatar: Delete the caller's picture
//   - EndLogin: End one of the caller's logins
//   - EndOtherLogins: End every login but this one
//   - ExportAccount: Download everything that is kept about the caller
//   - ListIdentities: List the caller's accounts at identity providers
//   - ListLogins: List the caller's logins
//   - RemoveIdentity: Remove one of the caller's accounts at identity providers
//   - RequestEmailChange: Have a link mailed to a new address
//   - RequestEmailVerification: Have a link mailed to the present address
//   - UpdateProfile: Change the caller's name and language
//   - UploadAvatar: Upload the caller's picture
package client
