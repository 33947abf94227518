package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
)

// AdminProducts answers GET /admin/products.
func (h *HTTP) AdminProducts(ctx context.Context, _ *noInput) (*rest.Plain[page.Page[AdminProduct]], error) {
	q, err := ProductList().Parse(rest.Query(ctx))
	if err != nil {
		return nil, err
	}
	entries, total, err := h.svc.Products(ctx, q)
	if err != nil {
		return nil, err
	}
	views := all(entries, func(e ProductEntry) AdminProduct {
		view := adminProduct(e.Product)
		if q.Includes("plansCount") {
			view.PlansCount = &e.PlansCount
		}
		if q.Includes("plans") {
			plans := all(e.Plans, adminPlan)
			view.Plans = &plans
		}
		return view
	})
	return rest.Bare(page.New(q, h.publicURL+"/api/v1/admin/products", views, total)), nil
}

type productInput struct {
	Product string `path:"product" format:"uuid"`
}

// AdminProduct answers GET /admin/products/{product}.
func (h *HTTP) AdminProduct(ctx context.Context, in *productInput) (*rest.Data[AdminProduct], error) {
	id, err := rest.ParseID(in.Product)
	if err != nil {
		return nil, err
	}
	entry, err := h.svc.Product(ctx, id)
	if err != nil {
		return nil, err
	}
	view := adminProduct(entry.Product)
	view.PlansCount = &entry.PlansCount
	return rest.OK(view), nil
}
