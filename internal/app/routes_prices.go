package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/rest"
)

// priceLinkRoutes returns the routes that link prices to the payment provider's prices.
func (svc *service) priceLinkRoutes(plans *catalog.HTTP) []rest.Route {
	var (
		prices  = pricelink.NewHTTP(svc.priceLinks, svc.messages)
		onPrice = rest.Exists(prices.PriceExists)
		plan    = rest.Exists(plans.PlanExists)
		created = rest.Status(http.StatusCreated)
	)
	return []rest.Route{
		route(post, planPath+"/prices/{price}/psp-create", rest.Admin, "plans.update", "psp_prices", "Create a price at the payment provider", rest.Handle(prices.Create, onPrice)),
		route(post, planPath+"/prices/{price}/psp-link", rest.Admin, "plans.update", "psp_prices", "Link a price to the payment provider", rest.Handle(prices.Link, onPrice)),
		route(post, planPath+"/prices/{price}/psp-unlink", rest.Admin, "plans.update", "psp_prices", "Unlink a price from the payment provider", rest.Handle(prices.Unlink)),
		route(post, planPath+"/prices/psp-import", rest.Admin, "plans.update", "psp_prices", "Import a price from the payment provider", rest.Handle(prices.Import, created, plan)),
		route(get, planPath+"/psp-price-status", rest.Admin, "plans.view", "psp_prices", "Compare prices with the payment provider", rest.Handle(prices.Statuses)),
	}
}

// currencyRoutes returns the routes of currencies.
func (svc *service) currencyRoutes(plans *catalog.HTTP) []rest.Route {
	var (
		currencies = currency.NewHTTP(svc.currencies)
		exists     = rest.Exists(currencies.Exists)
		created    = rest.Status(http.StatusCreated)
	)
	return []rest.Route{
		route(get, "/api/v1/currencies", rest.Public, "", "catalog", "List active currencies", rest.Handle(plans.Currencies)),

		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/currencies", rest.Admin, authz.CurrenciesManage, "default", "List currencies", rest.Handle(currencies.List))),
		route(get, "/api/v1/admin/currencies/catalog", rest.Admin, authz.CurrenciesManage, "default", "List ISO 4217 currencies", rest.Handle(currencies.ListAddable)),
		route(post, "/api/v1/admin/currencies", rest.Admin, authz.CurrenciesManage, "default", "Create a currency", rest.Handle(currencies.Create, created, rest.Checks(currencies.CheckCreate))),
		route(post, "/api/v1/admin/currencies/bulk", rest.Admin, authz.CurrenciesManage, "default", "Add ISO 4217 currencies", rest.Handle(currencies.AddListed)),
		route(patch, "/api/v1/admin/currencies/{currency}", rest.Admin, authz.CurrenciesManage, "default", "Update a currency", rest.Handle(currencies.Update, exists)),
		route(del, "/api/v1/admin/currencies/{currency}", rest.Admin, authz.CurrenciesManage, "default", "Delete a currency", rest.Handle(currencies.Delete)),
	}
}
