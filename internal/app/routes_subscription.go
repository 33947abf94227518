package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/purchase"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/credit"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/team"
)

// subscriptionRoutes returns the routes of subscriptions.
func (svc *service) subscriptionRoutes(members *team.HTTP) []rest.Route {
	var (
		subscriptions = subscription.NewHTTP(svc.subscriptions, svc.publicURL, nil)
		customers     = customer.NewHTTP(svc.customers)
		entitlements  = entitlement.NewHTTP(svc.entitlements)
		purchases     = purchase.NewHTTP(svc.purchases)
		credits       = credit.NewHTTP(svc.credits)
		running       = rest.Exists(subscriptions.RunningExists)
		inTenant      = rest.Exists(members.AdminTenantExists)
		created       = rest.Status(http.StatusCreated)

		oneSubscription = adminTenantPath + "/subscriptions/{subscription}"
		known           = rest.Exists(subscriptions.AdminSubscriptionExists)
		isRunning       = rest.Exists(subscriptions.AdminRunningExists)
	)
	return []rest.Route{
		allowAPIKeys(authz.LimitsWrite, route(get, adminTenantPath+"/limits", rest.Admin, authz.LimitsManage, "default", "List a tenant's limits", rest.Handle(entitlements.AdminLimits, inTenant))),
		allowAPIKeys(authz.LimitsWrite, route(put, adminTenantPath+"/limits/{featureCode}", rest.Admin, authz.LimitsManage, "default", "Override a limit of a tenant", rest.Handle(entitlements.PutLimit, rest.Exists(entitlements.FeatureExists), rest.Checks(entitlements.CheckOverride)))),
		allowAPIKeys(authz.LimitsWrite, route(del, adminTenantPath+"/limits/{featureCode}", rest.Admin, authz.LimitsManage, "default", "Remove the override of a limit", rest.Handle(entitlements.DeleteLimit, rest.Exists(entitlements.FeatureExists)))),
		route(get, "/api/v1/studio/access", rest.Member, "", "studio", "Check access to the studio", rest.Handle(entitlements.StudioAccess)),
		allowAPIKeys(authz.SubscriptionRead, route(get, tenantPath+"/plans", rest.Tenant, "", "default", "List plans for the tenant", rest.Handle(entitlements.Plans))),
		idempotent(allowAPIKeys(authz.SubscriptionsWrite, requireVerifiedEmail(route(post, tenantPath+"/checkout", rest.Tenant, authz.BillingManage, "default", "Create a checkout", rest.Handle(subscriptions.Checkout, rest.Checks(subscriptions.CheckCheckout)))))),
		allowAPIKeys(authz.SubscriptionsWrite, requireVerifiedEmail(route(post, tenantPath+"/checkout/preview", rest.Tenant, authz.BillingManage, "default", "Preview a checkout", rest.Handle(subscriptions.PreviewCheckout, rest.Checks(subscriptions.CheckCheckoutPreview))))),
		allowAPIKeys(authz.SubscriptionsWrite, requireProvedEmail(route(post, tenantPath+"/subscription/trial", rest.Tenant, authz.BillingManage, "default", "Start a trial without a card", rest.Handle(subscriptions.StartTrial, created, rest.Checks(subscriptions.CheckTrial))))),
		allowAPIKeys(authz.SubscriptionsWrite, requireVerifiedEmail(route(post, tenantPath+"/packs/{slug}/checkout", rest.Tenant, authz.BillingManage, "default", "Create a checkout for a pack", rest.Handle(purchases.Checkout, rest.Exists(purchases.OnSale), rest.Checks(purchases.CheckCheckout))))),
		allowAPIKeys(authz.SubscriptionRead, route(get, tenantPath+"/subscription", rest.Tenant, "", "default", "Retrieve the subscription", rest.Handle(subscriptions.Show))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, tenantPath+"/subscription/cancel", rest.Tenant, authz.BillingManage, "default", "Cancel the subscription", rest.Handle(subscriptions.Cancel, running))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, tenantPath+"/subscription/resume", rest.Tenant, authz.BillingManage, "default", "Resume the subscription", rest.Handle(subscriptions.Resume, running))),
		allowAPIKeys(authz.SubscriptionRead+"|"+authz.SubscriptionsWrite, route(get, tenantPath+"/subscription/preview-change", rest.Tenant, "", "default", "Preview a plan change", rest.Handle(subscriptions.PreviewChange, running))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, tenantPath+"/subscription/change-plan", rest.Tenant, authz.BillingManage, "default", "Change the plan", rest.Handle(subscriptions.ChangePlan, rest.Exists(subscriptions.CurrentExists), rest.Checks(subscriptions.CheckChangePlan)))),
		allowAPIKeys(authz.SubscriptionsWrite, route(del, tenantPath+"/subscription/pending-change", rest.Tenant, authz.BillingManage, "default", "Discard a pending plan change", rest.Handle(subscriptions.DropChange))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, tenantPath+"/subscription/promotion-code", rest.Tenant, authz.BillingManage, "default", "Apply a promotion code", rest.Handle(subscriptions.ApplyCode, running))),
		allowAPIKeys(authz.SubscriptionsWrite, route(del, tenantPath+"/subscription/promotion-code", rest.Tenant, authz.BillingManage, "default", "Remove the promotion code", rest.Handle(subscriptions.DropCode, running))),
		allowAPIKeys(authz.SubscriptionRead, route(get, tenantPath+"/subscription/seats", rest.Tenant, "", "default", "Retrieve seat usage", rest.Handle(subscriptions.Seats, running))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, tenantPath+"/docs/billing/portal", rest.Billing, authz.BillingManage, "default", "Open the billing portal", rest.Handle(customers.Portal, rest.Exists(customers.PortalExists)))),
		allowAPIKeys(authz.EntitlementsRead, route(get, tenantPath+"/entitlements", rest.Tenant, "", "default", "List entitlements", rest.Handle(entitlements.Entitlements))),

		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/credit", rest.Tenant, authz.BillingManage, "default", "Retrieve the credit", rest.Handle(credits.Show))),
		allowAPIKeys(authz.CreditWrite, route(get, adminTenantPath+"/credit", rest.Admin, authz.BillingCredit, "default", "Retrieve a tenant's credit", rest.Handle(credits.AdminShow, inTenant))),
		idempotent(allowAPIKeys(authz.CreditWrite, route(post, adminTenantPath+"/credit", rest.Admin, authz.BillingCredit, "default", "Change a tenant's credit", rest.Handle(credits.Adjust, created, inTenant, rest.Checks(credits.CheckAdjust))))),

		allowAPIKeys(authz.TenantsRead, route(get, adminTenantPath+"/subscriptions", rest.Admin, authz.TenantsView, "default", "List a tenant's subscriptions", rest.Handle(subscriptions.AdminList, inTenant, rest.Lists(page.Spec{})))),
		idempotent(allowAPIKeys(authz.SubscriptionsWrite, route(post, adminTenantPath+"/subscriptions", rest.Admin, authz.SubscriptionsManage, "default", "Create a subscription for a tenant", rest.Handle(subscriptions.CreateContract, created, inTenant, rest.Checks(subscriptions.CheckContract))))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, oneSubscription+"/cancel", rest.Admin, authz.TenantsManage, "default", "Cancel a tenant's subscription", rest.Handle(subscriptions.AdminCancel, known))),
		allowAPIKeys(authz.SubscriptionsWrite, route(patch, oneSubscription, rest.Admin, authz.SubscriptionsManage+"|"+authz.TenantsManage, "default", "Update a tenant's subscription", rest.Handle(subscriptions.AdminUpdate, known, rest.Checks(subscriptions.CheckAdminUpdate)))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, adminTenantPath+"/subscriptions/preview", rest.Admin, authz.SubscriptionsManage, "default", "Preview a subscription for a tenant", rest.Handle(subscriptions.PreviewContract, inTenant, rest.Checks(subscriptions.CheckContract)))),
		allowAPIKeys(authz.SubscriptionsWrite, route(get, oneSubscription+"/preview-change", rest.Admin, authz.SubscriptionsManage, "default", "Preview a plan change of a tenant", rest.Handle(subscriptions.AdminPreviewChange, isRunning))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, oneSubscription+"/change-plan", rest.Admin, authz.SubscriptionsManage, "default", "Change the plan of a tenant", rest.Handle(subscriptions.AdminChangePlan, known, rest.Checks(subscriptions.CheckAdminChange)))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, oneSubscription+"/resume", rest.Admin, authz.SubscriptionsManage, "default", "Resume a tenant's subscription", rest.Handle(subscriptions.AdminResume, isRunning))),
		allowAPIKeys(authz.SubscriptionsWrite, route(del, oneSubscription+"/pending-change", rest.Admin, authz.SubscriptionsManage, "default", "Discard a pending plan change of a tenant", rest.Handle(subscriptions.AdminDropChange, known))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, oneSubscription+"/promotion-code", rest.Admin, authz.SubscriptionsManage, "default", "Apply a promotion code to a tenant's subscription", rest.Handle(subscriptions.AdminApplyCode, isRunning))),
		allowAPIKeys(authz.SubscriptionsWrite, route(del, oneSubscription+"/promotion-code", rest.Admin, authz.SubscriptionsManage, "default", "Remove the promotion code of a tenant's subscription", rest.Handle(subscriptions.AdminDropCode, isRunning))),
	}
}
