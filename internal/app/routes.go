package app

import (
	"net/http"
	"strings"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/onboarding"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
)

const (
	get   = http.MethodGet
	post  = http.MethodPost
	put   = http.MethodPut
	patch = http.MethodPatch
	del   = http.MethodDelete
)

// routes is the one table of everything that the service answers under /api/v1:
// method, path, scope (which guards run), permission, rate-limit group, a line
// for the reference, and the handler.
func (svc *service) routes(messages *i18n.Catalog) []rest.Route {
	publicURL := strings.TrimSuffix(svc.settings.PublicURL.String(), "/")
	var (
		accounts      = account.NewHTTP(svc.accounts, svc.avatars)
		oauth         = account.NewOAuthHTTP(svc.oauth, accounts)
		avatars       = account.NewAvatarHTTP(svc.avatars)
		pushes        = account.NewPushHTTP(svc.pushes)
		settings      = svc.publicSettings()
		tenants       = tenant.NewHTTP(svc.tenants)
		onboarding    = onboarding.NewHTTP(svc.onboarding, accounts)
		plans         = catalog.NewHTTP(svc.catalog, publicURL)
		prices        = catalog.NewPSPHTTP(svc.pspPrices, messages)
		subscriptions = subscription.NewHTTP(svc.subscriptions)
		invoices      = invoice.NewHTTP(svc.invoices, publicURL)
		meters        = usage.NewHTTP(svc.usage)
		adminMeters   = usage.NewAdminHTTP(svc.usage, publicURL)
		adminTenants  = tenant.NewAdminHTTP(svc.tenants, publicURL)
		members       = team.NewHTTP(svc.team, accounts, svc.avatars)
		imitations    = impersonation.NewHTTP(svc.impersonation, publicURL)
		trail         = audit.NewHTTP(svc.audit, publicURL)
		created       = rest.Status(http.StatusCreated)
		redirected    = rest.Status(http.StatusFound)
	)
	const (
		of      = "/api/v1/tenant/{tenantId}"
		adminOf = "/api/v1/admin/tenants/{tenant}"
		planOf  = "/api/v1/admin/plans/{plan}"
	)
	var (
		invitee  = rest.Exists(members.InvitationKnown)
		inTenant = rest.Exists(members.AdminTenantExists)
		inTeam   = rest.Exists(members.AdminMemberExists)
		ownRole  = rest.Exists(members.RoleEditable)
		product  = rest.Exists(plans.ProductExists)
		plan     = rest.Exists(plans.PlanExists)
		feature  = rest.Exists(plans.FeatureExists)
		onPrice  = rest.Exists(prices.PriceExists)
		currency = rest.Exists(plans.CurrencyKnown)
		running  = rest.Exists(subscriptions.RunningExists)
	)
	return []rest.Route{
		route(post, "/api/v1/auth/register", rest.Public, "", "register", "Register an account and its first tenant", rest.Handle(accounts.Register, created)),
		route(post, "/api/v1/auth/login", rest.Public, "", "login", "Log in with email and password", rest.Handle(accounts.Login)),
		route(post, "/api/v1/auth/refresh", rest.Public, "", "refresh", "Trade a refresh token for a new pair", rest.Handle(accounts.Refresh)),
		route(post, "/api/v1/auth/logout", rest.User, "", "default", "End the login and all refresh tokens", rest.Handle(accounts.Logout)),
		route(post, "/api/v1/auth/forgot-password", rest.Public, "", "password", "Have a reset link mailed", rest.Handle(accounts.ForgotPassword)),
		route(post, "/api/v1/auth/reset-password", rest.Public, "", "password", "Set a new password by the token of a mail", rest.Handle(accounts.ResetPassword)),
		route(get, "/api/v1/auth/me", rest.User, "", "default", "Show the caller's profile", rest.Handle(accounts.Me)),

		route(get, "/api/v1/auth/oauth/providers", rest.Public, "", "default", "List the configured identity providers", rest.Handle(oauth.Providers)),
		route(get, "/api/v1/auth/oauth/{provider}/redirect", rest.Public, "", "oauth", "Begin a login at an identity provider", rest.Handle(oauth.Redirect, redirected)),
		route(get, "/api/v1/auth/oauth/{provider}/callback", rest.Public, "", "oauth", "Receive the browser back from an identity provider", rest.Handle(oauth.Callback, redirected)),
		route(post, "/api/v1/auth/oauth/exchange", rest.Public, "", "oauth", "Trade the one-time code of a delegated login for a session or tokens", rest.Handle(oauth.Exchange)),

		route(get, "/api/v1/settings", rest.Public, "", "catalog", "Show the settings that a frontend needs", rest.Handle(settings.Show)),
		route(get, "/api/v1/avatars/{hash}", rest.Public, "", "default", "Show a user's picture", rest.File(avatars.Show, "image/jpeg", "image/png")),
		route(post, "/api/v1/user/avatar", rest.User, "", "avatar", "Upload the caller's picture", rest.Upload("avatar", account.MaxAvatarBytes, avatars.Upload)),
		route(del, "/api/v1/user/avatar", rest.User, "", "avatar", "Delete the caller's picture", rest.Handle(avatars.Delete)),
		route(get, "/api/v1/push-subscriptions", rest.User, "", "push", "List the browsers that get the caller's push messages", rest.Handle(pushes.List)),
		route(post, "/api/v1/push-subscriptions", rest.User, "", "push", "Subscribe a browser to push messages", rest.Handle(pushes.Subscribe, created)),
		route(del, "/api/v1/push-subscriptions", rest.User, "", "push", "End a browser's subscription", rest.Handle(pushes.Unsubscribe)),
		route(get, "/api/v1/studio/access", rest.Member, "", "studio", "Tell whether the tenant may use the studio", rest.Handle(subscriptions.StudioAccess)),

		route(post, "/api/v1/onboarding/start", rest.Public, "", "onboarding_start", "Register and open the checkout of a plan", rest.Handle(onboarding.Start, created)),
		route(get, "/api/v1/onboarding/status", rest.Member, "", "onboarding", "Tell how far the onboarding is", rest.Handle(onboarding.Status)),
		route(post, "/api/v1/onboarding/retry-checkout", rest.Member, authz.BillingManage, "onboarding", "Open a checkout anew", rest.Handle(onboarding.RetryCheckout)),
		route(patch, "/api/v1/onboarding/complete-setup", rest.Member, "", "onboarding", "Fill billing details and complete the onboarding", rest.Handle(onboarding.CompleteSetup)),
		route(post, "/api/v1/tenants", rest.User, "", "default", "Make a tenant, for a caller without one", rest.Handle(tenants.Create, created)),
		route(get, "/api/v1/tenant", rest.Tenant, "", "default", "Show the caller's tenant", rest.Handle(tenants.Show)),

		route(patch, "/api/v1/tenant", rest.Tenant, authz.TenantUpdate, "default", "Change the caller's tenant", rest.Handle(tenants.Update)),

		route(get, of+"/team/members", rest.Tenant, "", "default", "List the team's members", rest.Handle(members.Members)),
		route(get, of+"/team/roles", rest.Tenant, "", "default", "List the roles that a member can be given", rest.Handle(members.AssignableRoles)),
		route(get, of+"/team/stats", rest.Tenant, "", "default", "Count the team's places", rest.Handle(members.Stats)),
		route(patch, of+"/team/members/{member}/role", rest.Tenant, authz.TeamManage, "default", "Give a member another role", rest.Handle(members.ChangeRole, rest.Exists(members.MemberExists))),
		route(del, of+"/team/members/{member}", rest.Tenant, authz.TeamManage, "default", "Remove a member", rest.Handle(members.RemoveMember)),
		route(get, of+"/team/invitations", rest.Tenant, "", "default", "List the invitations", rest.Handle(members.Invitations)),
		route(post, of+"/team/invitations", rest.Tenant, "", "default", "Invite somebody by mail", rest.Handle(members.Invite, created, rest.Exists(members.MayInvite))),
		route(del, of+"/team/invitations/{invitation}", rest.Tenant, authz.TeamInvite, "default", "Revoke an invitation", rest.Handle(members.RevokeInvitation)),
		route(post, of+"/team/invitations/{invitation}/resend", rest.Tenant, authz.TeamInvite, "default", "Mail an invitation anew", rest.Handle(members.ResendInvitation)),
		route(get, of+"/roles", rest.Tenant, authz.RolesManage, "default", "List built-in and custom roles", rest.Handle(members.Roles)),
		route(get, of+"/roles/permissions", rest.Tenant, authz.RolesManage, "default", "List what a role can hold", rest.Handle(members.Permissions)),
		route(post, of+"/roles", rest.Tenant, authz.RolesManage, "default", "Make a role", rest.Handle(members.CreateRole, created)),
		route(patch, of+"/roles/{role}", rest.Tenant, authz.RolesManage, "default", "Change a role", rest.Handle(members.UpdateRole, ownRole)),
		route(del, of+"/roles/{role}", rest.Tenant, authz.RolesManage, "default", "Delete a role", rest.Handle(members.DeleteRole)),
		route(get, "/api/v1/invitations/{token}", rest.Public, "", "invitations", "Show an invitation by the token of its mail", rest.Handle(members.ShowInvitation)),
		route(post, "/api/v1/invitations/{token}/accept", rest.User, "", "invitations", "Accept an invitation", rest.Handle(members.Accept)),
		route(post, "/api/v1/invitations/{token}/accept-with-registration", rest.Public, "", "invitations", "Register and accept an invitation", rest.Handle(members.AcceptAndRegister, created, invitee)),

		route(get, "/api/v1/catalog/products", rest.Public, "", "catalog", "List active products", rest.Cached(plans.Products)),
		route(get, "/api/v1/catalog/plans", rest.Public, "", "catalog", "List active plans", rest.Cached(plans.Plans)),
		route(get, "/api/v1/catalog/features", rest.Public, "", "catalog", "List active features", rest.Cached(plans.Features)),
		route(get, "/api/v1/currencies", rest.Public, "", "catalog", "List active currencies", rest.Cached(plans.Currencies)),

		route(get, of+"/plans", rest.Tenant, "", "default", "List plans with the tenant's eligibility", rest.Handle(subscriptions.Plans)),
		route(post, of+"/checkout", rest.Tenant, authz.BillingManage, "default", "Open a hosted checkout", rest.Handle(subscriptions.Checkout)),
		route(get, of+"/subscription", rest.Tenant, "", "default", "Show the subscription", rest.Handle(subscriptions.Show)),
		route(post, of+"/subscription/cancel", rest.Tenant, authz.BillingManage, "default", "Cancel the subscription", rest.Handle(subscriptions.Cancel, running)),
		route(post, of+"/subscription/resume", rest.Tenant, authz.BillingManage, "default", "Take back that the subscription ends", rest.Handle(subscriptions.Resume, running)),
		route(get, of+"/subscription/preview-change", rest.Tenant, "", "default", "Show what another plan would cost now", rest.Handle(subscriptions.PreviewChange, running)),
		route(post, of+"/subscription/change-plan", rest.Tenant, authz.BillingManage, "default", "Change to another plan", rest.Handle(subscriptions.ChangePlan, rest.Exists(subscriptions.CurrentExists))),
		route(get, of+"/subscription/seats", rest.Tenant, "", "default", "Show what the team takes of the subscription", rest.Handle(subscriptions.Seats, running)),
		route(post, of+"/docs/billing/portal", rest.Billing, authz.BillingManage, "default", "Open the hosted billing portal", rest.Handle(subscriptions.Portal, rest.Exists(subscriptions.PortalExists))),
		route(get, of+"/entitlements", rest.Tenant, "", "default", "List what the subscription entitles to", rest.Handle(subscriptions.Entitlements)),

		route(post, of+"/usage", rest.Tenant, "", "usage", "Record usage", rest.Handle(meters.Record, created)),
		route(post, of+"/usage/batch", rest.Tenant, "", "usage", "Record several usage events", rest.Handle(meters.Batch)),
		route(get, of+"/usage", rest.Tenant, "", "default", "Summarize the usage of the current period", rest.Handle(meters.Summary)),
		route(get, of+"/usage/quotas", rest.Tenant, "", "default", "Show usage against quotas", rest.Handle(meters.Quotas)),
		route(get, of+"/usage/cost-estimate", rest.Tenant, "", "default", "Estimate what the usage of the current billing period costs", rest.Handle(meters.CostEstimate)),
		route(get, of+"/usage/{meterCode}", rest.Tenant, "", "default", "Show one meter with its newest events", rest.Handle(meters.Meter)),

		route(get, of+"/invoices", rest.Tenant, "", "default", "List the invoices", rest.Handle(invoices.List)),
		route(get, of+"/invoices/{invoiceId}", rest.Tenant, "", "default", "Show an invoice", rest.Handle(invoices.Show)),
		route(get, of+"/invoices/{invoiceId}/pdf", rest.Tenant, "", "default", "Download an invoice's document", rest.File(invoices.PDF, "application/pdf")),

		route(post, "/api/v1/webhooks/stripe", rest.Public, "", "", "Receive a signed notification of the payment provider", rest.Raw(svc.receiver, "application/json")),

		route(get, adminOf+"/members", rest.Admin, "", "default", "List a tenant's members", rest.Handle(members.AdminMembers, inTenant)),
		route(patch, adminOf+"/members/{user}", rest.Admin, "", "default", "Change a member's name and password", rest.Handle(members.AdminUpdateMember, inTeam)),
		route(patch, adminOf+"/members/{user}/role", rest.Admin, "", "default", "Give a member another role", rest.Handle(members.AdminChangeRole, inTeam)),
		route(del, adminOf+"/members/{user}", rest.Admin, "", "default", "Remove a member", rest.Handle(members.AdminRemoveMember)),
		route(get, adminOf+"/invitations", rest.Admin, "", "default", "List a tenant's invitations", rest.Handle(members.AdminInvitations, inTenant)),
		route(post, adminOf+"/invitations", rest.Admin, "", "default", "Invite somebody into a tenant", rest.Handle(members.AdminInvite, created, inTenant)),
		route(del, adminOf+"/invitations/{invitation}", rest.Admin, "", "default", "Revoke an invitation", rest.Handle(members.AdminRevokeInvitation)),
		route(post, adminOf+"/invitations/{invitation}/resend", rest.Admin, "", "default", "Mail an invitation anew", rest.Handle(members.AdminResendInvitation)),
		route(get, adminOf+"/subscriptions", rest.Admin, "", "default", "List a tenant's subscriptions", rest.Handle(subscriptions.AdminList, inTenant)),
		route(post, adminOf+"/subscriptions/{subscription}/cancel", rest.Admin, "", "default", "Cancel a tenant's subscription", rest.Handle(subscriptions.AdminCancel, rest.Exists(subscriptions.AdminSubscriptionExists))),

		route(post, adminOf+"/invoices/{invoice}/void", rest.Admin, "", "default", "Void an invoice that is not final", rest.Handle(invoices.AdminVoid)),

		route(post, "/api/v1/admin/impersonation/start", rest.Admin, "", "default", "Act as a member of a tenant", rest.Handle(imitations.Start)),
		route(post, "/api/v1/admin/impersonation/stop", rest.Impersonating, "", "default", "Act for oneself again", rest.Handle(imitations.Stop)),
		route(get, "/api/v1/admin/impersonation/status", rest.Impersonating, "", "default", "Tell who acts as whom", rest.Handle(imitations.Status)),
		route(get, "/api/v1/admin/impersonation/logs", rest.Admin, "", "default", "List who acted as whom", rest.Handle(imitations.Logs)),
		route(get, "/api/v1/admin/audit-logs", rest.Admin, "", "default", "List what was changed, and by whom", rest.Handle(trail.List)),
		route(get, "/api/v1/admin/tenants", rest.Admin, "", "default", "List tenants", rest.Handle(adminTenants.List)),
		route(get, "/api/v1/admin/tenants/search-with-roles", rest.Admin, "users.create", "default", "Search tenants, with their roles", rest.Handle(adminTenants.SearchWithRoles)),
		route(get, "/api/v1/admin/tenants/{tenant}", rest.Admin, "", "default", "Show a tenant", rest.Handle(adminTenants.Show)),
		route(patch, "/api/v1/admin/tenants/{tenant}", rest.Admin, "", "default", "Change a tenant", rest.Handle(adminTenants.Update, rest.Exists(adminTenants.Exists))),

		route(get, "/api/v1/admin/products", rest.Admin, "products.view", "default", "List products", rest.Handle(plans.AdminProducts, rest.Lists(catalog.ProductList()))),
		route(post, "/api/v1/admin/products", rest.Admin, "products.create", "default", "Make a product", rest.Handle(plans.CreateProduct, created)),
		route(get, "/api/v1/admin/products/{product}", rest.Admin, "products.view", "default", "Show a product", rest.Handle(plans.AdminProduct)),
		route(patch, "/api/v1/admin/products/{product}", rest.Admin, "products.update", "default", "Change a product", rest.Handle(plans.UpdateProduct, product)),
		route(del, "/api/v1/admin/products/{product}", rest.Admin, "products.delete", "default", "Delete a product and its plans", rest.Handle(plans.DeleteProduct)),
		route(get, "/api/v1/admin/plans", rest.Admin, "plans.view", "default", "List plans", rest.Handle(plans.AdminPlans, rest.Lists(catalog.PlanList()))),
		route(post, "/api/v1/admin/plans", rest.Admin, "plans.create", "default", "Make a plan", rest.Handle(plans.CreatePlan, created)),
		route(get, planOf, rest.Admin, "plans.view", "default", "Show a plan", rest.Handle(plans.AdminPlan)),
		route(patch, planOf, rest.Admin, "plans.update", "default", "Change a plan", rest.Handle(plans.UpdatePlan, plan)),
		route(del, planOf, rest.Admin, "plans.delete", "default", "Delete a plan", rest.Handle(plans.DeletePlan)),
		route(post, planOf+"/duplicate", rest.Admin, "plans.create", "default", "Copy a plan", rest.Handle(plans.DuplicatePlan, created)),
		route(get, planOf+"/entitlements", rest.Admin, "entitlements.view", "default", "List what a plan gives", rest.Handle(plans.AdminEntitlements)),
		route(put, planOf+"/entitlements", rest.Admin, "entitlements.sync", "default", "Replace what a plan gives", rest.Handle(plans.SetEntitlements, plan)),
		route(del, "/api/v1/admin/entitlements/{entitlement}", rest.Admin, "entitlements.delete", "default", "Remove one thing that a plan gives", rest.Handle(plans.DeleteEntitlement)),
		route(put, planOf+"/prices", rest.Admin, "", "default", "Replace a plan's prices", rest.Handle(plans.SetPrices, plan)),
		route(del, planOf+"/prices/{price}", rest.Admin, "", "default", "Remove a plan's price", rest.Handle(plans.DeletePrice)),
		route(get, "/api/v1/admin/features", rest.Admin, "features.view", "default", "List features", rest.Handle(plans.AdminFeatures, rest.Lists(catalog.FeatureList()))),
		route(post, "/api/v1/admin/features", rest.Admin, "features.create", "default", "Make a feature", rest.Handle(plans.CreateFeature, created)),
		route(get, "/api/v1/admin/features/{feature}", rest.Admin, "features.view", "default", "Show a feature", rest.Handle(plans.AdminFeature)),
		route(patch, "/api/v1/admin/features/{feature}", rest.Admin, "features.update", "default", "Change a feature", rest.Handle(plans.UpdateFeature, feature)),
		route(del, "/api/v1/admin/features/{feature}", rest.Admin, "features.delete", "default", "Delete a feature", rest.Handle(plans.DeleteFeature)),

		route(get, "/api/v1/admin/meters", rest.Admin, "", "default", "List meters", rest.Handle(adminMeters.List, rest.Lists(usage.MeterList()))),
		route(post, "/api/v1/admin/meters", rest.Admin, "", "default", "Make a meter", rest.Handle(adminMeters.Create, created)),
		route(get, "/api/v1/admin/meters/{meter}", rest.Admin, "", "default", "Show a meter", rest.Handle(adminMeters.Show)),
		route(patch, "/api/v1/admin/meters/{meter}", rest.Admin, "", "default", "Change a meter", rest.Handle(adminMeters.Update, rest.Exists(adminMeters.Exists))),
		route(del, "/api/v1/admin/meters/{meter}", rest.Admin, "", "default", "Delete a meter; its events stay", rest.Handle(adminMeters.Delete)),

		route(post, planOf+"/prices/{price}/psp-create", rest.Admin, "", "psp_prices", "Make a price at the payment provider", rest.Handle(prices.Create, onPrice)),
		route(post, planOf+"/prices/{price}/psp-link", rest.Admin, "", "psp_prices", "Link a price to one of the payment provider", rest.Handle(prices.Link, onPrice)),
		route(post, planOf+"/prices/{price}/psp-unlink", rest.Admin, "", "psp_prices", "Unlink a price from the payment provider's", rest.Handle(prices.Unlink)),
		route(post, planOf+"/prices/psp-import", rest.Admin, "", "psp_prices", "Make a price of one of the payment provider", rest.Handle(prices.Import, created, plan)),
		route(get, planOf+"/psp-price-status", rest.Admin, "", "psp_prices", "Compare a plan's prices with the payment provider's", rest.Handle(prices.Statuses)),

		route(get, "/api/v1/admin/currencies", rest.Admin, "", "default", "List currencies, active and inactive", rest.Handle(plans.AdminCurrencies)),
		route(get, "/api/v1/admin/currencies/catalog", rest.Admin, "", "default", "List the currencies of ISO 4217 that can be added", rest.Handle(plans.CurrencyCatalog)),
		route(post, "/api/v1/admin/currencies", rest.Admin, "", "default", "Add a currency", rest.Handle(plans.CreateCurrency, created)),
		route(post, "/api/v1/admin/currencies/bulk", rest.Admin, "", "default", "Add currencies of ISO 4217 by their codes", rest.Handle(plans.AddCurrencies)),
		route(patch, "/api/v1/admin/currencies/{currency}", rest.Admin, "", "default", "Change a currency", rest.Handle(plans.UpdateCurrency, currency)),
		route(del, "/api/v1/admin/currencies/{currency}", rest.Admin, "", "default", "Delete a currency that nothing uses", rest.Handle(plans.DeleteCurrency)),
	}
}

// route is one row of the table.
func route(method, path string, scope rest.Scope, permission, rate, summary string, h rest.Handler) rest.Route {
	return rest.Route{
		Method: method, Path: path, Scope: scope, Permission: permission, Rate: rate, Summary: summary, Handler: h,
	}
}
