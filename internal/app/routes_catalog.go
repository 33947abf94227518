package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/subscription"
)

// catalogRoutes returns the routes of products, plans and features.
func (svc *service) catalogRoutes(plans *catalog.HTTP) []rest.Route {
	var (
		product = rest.Exists(plans.ProductExists)
		plan    = rest.Exists(plans.PlanExists)
		feature = rest.Exists(plans.FeatureExists)
		created = rest.Status(http.StatusCreated)
		packs   = pack.NewHTTP(svc.packs, svc.publicURL)
		packed  = rest.Exists(packs.Exists)
		codes   = discount.NewHTTP(svc.discounts, svc.publicURL)
		coded   = rest.Exists(codes.Exists)
		buyers  = subscription.NewHTTP(svc.subscriptions, svc.publicURL, nil)
	)
	return []rest.Route{
		route(get, "/api/v1/catalog/products", rest.Public, "", "catalog", "List active products", rest.Handle(plans.Products)),
		route(get, "/api/v1/catalog/plans", rest.Public, "", "catalog", "List active plans", rest.Handle(plans.Plans)),
		route(get, "/api/v1/catalog/features", rest.Public, "", "catalog", "List active features", rest.Handle(plans.Features)),
		route(get, "/api/v1/catalog/packs", rest.Public, "", "catalog", "List active packs", rest.Handle(packs.Public)),

		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/products", rest.Admin, "products.view", "default", "List products", rest.Handle(plans.AdminProducts, rest.Lists(plans.ProductList())))),
		route(post, "/api/v1/admin/products", rest.Admin, "products.create", "default", "Create a product", rest.Handle(plans.CreateProduct, created, rest.Checks(plans.CheckCreateProduct))),
		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/products/{product}", rest.Admin, "products.view", "default", "Retrieve a product", rest.Handle(plans.AdminProduct))),
		route(patch, "/api/v1/admin/products/{product}", rest.Admin, "products.update", "default", "Update a product", rest.Handle(plans.UpdateProduct, product, rest.Checks(plans.CheckUpdateProduct))),
		route(del, "/api/v1/admin/products/{product}", rest.Admin, "products.delete", "default", "Delete a product", rest.Handle(plans.DeleteProduct)),
		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/plans", rest.Admin, "plans.view", "default", "List plans", rest.Handle(plans.AdminPlans, rest.Lists(plans.PlanList())))),
		route(post, "/api/v1/admin/plans", rest.Admin, "plans.create", "default", "Create a plan", rest.Handle(plans.CreatePlan, created, rest.Checks(plans.CheckCreatePlan))),
		allowAPIKeys(authz.CatalogRead, route(get, planPath, rest.Admin, "plans.view", "default", "Retrieve a plan", rest.Handle(plans.AdminPlan))),
		route(patch, planPath, rest.Admin, "plans.update", "default", "Update a plan", rest.Handle(plans.UpdatePlan, plan, rest.Checks(plans.CheckUpdatePlan))),
		route(del, planPath, rest.Admin, "plans.delete", "default", "Delete a plan", rest.Handle(plans.DeletePlan)),
		route(get, planPath+"/customers", rest.Admin, "plans.view", "default", "Count customers of a plan", rest.Handle(buyers.AdminCustomers, plan)),
		route(post, planPath+"/duplicate", rest.Admin, "plans.create", "default", "Duplicate a plan", rest.Handle(plans.DuplicatePlan, created)),
		route(get, planPath+"/entitlements", rest.Admin, "entitlements.view", "default", "List a plan's entitlements", rest.Handle(plans.AdminEntitlements)),
		route(put, planPath+"/entitlements", rest.Admin, "entitlements.sync", "default", "Replace a plan's entitlements", rest.Handle(plans.SetEntitlements, plan, rest.Checks(plans.CheckSetEntitlements))),
		route(del, "/api/v1/admin/entitlements/{entitlement}", rest.Admin, "entitlements.delete", "default", "Delete an entitlement", rest.Handle(plans.DeleteEntitlement)),
		route(put, planPath+"/prices", rest.Admin, "plans.update", "default", "Replace a plan's prices", rest.Handle(plans.SetPrices, plan, rest.Checks(plans.CheckSetPrices))),
		route(del, planPath+"/prices/{price}", rest.Admin, "plans.update", "default", "Delete a price", rest.Handle(plans.DeletePrice)),
		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/features", rest.Admin, "features.view", "default", "List features", rest.Handle(plans.AdminFeatures, rest.Lists(plans.FeatureList())))),
		route(post, "/api/v1/admin/features", rest.Admin, "features.create", "default", "Create a feature", rest.Handle(plans.CreateFeature, created, rest.Checks(plans.CheckCreateFeature))),
		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/features/{feature}", rest.Admin, "features.view", "default", "Retrieve a feature", rest.Handle(plans.AdminFeature))),
		route(patch, "/api/v1/admin/features/{feature}", rest.Admin, "features.update", "default", "Update a feature", rest.Handle(plans.UpdateFeature, feature, rest.Checks(plans.CheckUpdateFeature))),
		route(del, "/api/v1/admin/features/{feature}", rest.Admin, "features.delete", "default", "Delete a feature", rest.Handle(plans.DeleteFeature)),
		route(get, "/api/v1/admin/discounts", rest.Admin, "plans.view", "default", "List discounts", rest.Handle(codes.List, rest.Lists(discount.List()))),
		route(post, "/api/v1/admin/discounts", rest.Admin, "plans.create", "default", "Create a discount", rest.Handle(codes.Create, created, rest.Checks(codes.CheckCreate))),
		route(get, "/api/v1/admin/discounts/{discount}", rest.Admin, "plans.view", "default", "Retrieve a discount", rest.Handle(codes.Get)),
		route(patch, "/api/v1/admin/discounts/{discount}", rest.Admin, "plans.update", "default", "Update a discount", rest.Handle(codes.Update, coded, rest.Checks(codes.CheckUpdate))),
		route(del, "/api/v1/admin/discounts/{discount}", rest.Admin, "plans.delete", "default", "Delete a discount", rest.Handle(codes.Delete)),
		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/packs", rest.Admin, "plans.view", "default", "List packs", rest.Handle(packs.List, rest.Lists(pack.List())))),
		route(post, "/api/v1/admin/packs", rest.Admin, "plans.create", "default", "Create a pack", rest.Handle(packs.Create, created, rest.Checks(packs.CheckCreate))),
		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/packs/{pack}", rest.Admin, "plans.view", "default", "Retrieve a pack", rest.Handle(packs.Get))),
		route(patch, "/api/v1/admin/packs/{pack}", rest.Admin, "plans.update", "default", "Update a pack", rest.Handle(packs.Update, packed, rest.Checks(packs.CheckUpdate))),
		route(del, "/api/v1/admin/packs/{pack}", rest.Admin, "plans.delete", "default", "Delete a pack", rest.Handle(packs.Delete)),
	}
}
