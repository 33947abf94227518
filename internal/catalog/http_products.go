package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// AdminProducts handles GET /admin/products.
func (h *HTTP) AdminProducts(ctx context.Context, _ *noInput) (*rest.Body[page.Page[AdminProduct]], error) {
	q, err := h.ProductList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	entries, total, err := h.svc.Products(ctx, q)
	if err != nil {
		return nil, err
	}
	views := viewAll(entries, func(e ProductEntry) AdminProduct {
		view := adminProduct(e.Product)
		if q.Includes("plansCount") {
			view.PlansCount = &e.PlansCount
		}
		if q.Includes("plans") {
			plans := viewAll(e.Plans, adminPlan)
			view.Plans = &plans
		}
		return view
	})
	return rest.NewBody(page.New(q, h.publicURL+"/api/v1/admin/products", views, total)), nil
}

type productInput struct {
	Product string `path:"product" format:"uuid"`
}

// AdminProduct handles GET /admin/products/{product}.
func (h *HTTP) AdminProduct(ctx context.Context, in *productInput) (*rest.Data[AdminProduct], error) {
	id, err := shape.ParseID(in.Product)
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

// ProductExists is the rest.Exists check for routes with {product}.
func (h *HTTP) ProductExists(ctx context.Context, param func(string) string) error {
	return exists(ctx, param("product"), h.svc.store.product)
}

// exists returns an error if the record with the ID of a path parameter cannot be read.
func exists[T any](ctx context.Context, id string, read func(context.Context, uuid.UUID) (T, error)) error {
	parsed, err := shape.ParseID(id)
	if err == nil {
		_, err = read(ctx, parsed)
	}
	return err
}

type createProductInput struct {
	Body struct {
		Slug        string       `json:"slug" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		Name        shape.Texts  `json:"name" format:"name" maxLength:"255"`
		Description shape.Texts  `json:"description,omitempty" nullable:"true" maxLength:"65535" format:"multiline"`
		IsActive    *bool        `json:"is_active,omitempty" default:"true"`
		Metadata    shape.Object `json:"metadata,omitempty" nullable:"true" maxBytes:"16384"`
	}
}

func (in *createProductInput) product() Product {
	b := in.Body
	return Product{
		Slug: b.Slug, Name: newText(b.Name), Description: newText(b.Description),
		IsActive: boolOrTrue(b.IsActive), Metadata: sqldb.JSON(b.Metadata),
	}
}

// CheckCreateProduct is the rest.Checks check for CreateProduct.
func (h *HTTP) CheckCreateProduct(ctx context.Context, in *createProductInput) error {
	return h.svc.CheckProduct(ctx, in.product())
}

// CreateProduct handles POST /admin/products.
func (h *HTTP) CreateProduct(ctx context.Context, in *createProductInput) (*rest.Data[AdminProduct], error) {
	p, err := h.svc.CreateProduct(ctx, in.product())
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminProduct(p), "products.created"), nil
}

type updateProductInput struct {
	Product string `path:"product" format:"uuid"`
	Body    struct {
		Slug shape.Opt[string] `json:"slug,omitzero" minLength:"1" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		recordChange
	}
}

func (in *updateProductInput) change(p *Product) {
	p.Slug = in.Body.Slug.OrValue(p.Slug)
	in.Body.apply(&p.Name, &p.Description, &p.IsActive, &p.Metadata)
}

// CheckUpdateProduct is the rest.Checks check for UpdateProduct.
func (h *HTTP) CheckUpdateProduct(ctx context.Context, in *updateProductInput) error {
	id, err := shape.ParseID(in.Product)
	if err != nil {
		return err
	}
	return h.svc.CheckProductChange(ctx, id, in.change)
}

// UpdateProduct handles PATCH /admin/products/{product}.
func (h *HTTP) UpdateProduct(ctx context.Context, in *updateProductInput) (*rest.Data[AdminProduct], error) {
	id, err := shape.ParseID(in.Product)
	if err != nil {
		return nil, err
	}
	p, err := h.svc.UpdateProduct(ctx, id, in.change)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminProduct(p), "products.updated"), nil
}

// DeleteProduct handles DELETE /admin/products/{product}.
func (h *HTTP) DeleteProduct(ctx context.Context, in *productInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Product)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.DeleteProduct(ctx, id)
}

// recordChange has the updatable fields that products, plans and features share. A text changes
// only in the given locales (rules: http#translatable-fields).
type recordChange struct {
	Name        shape.Opt[shape.TextsChange] `json:"name,omitzero" format:"name" maxLength:"255" doc:"Display name by language. Other languages are not changed. Null removes a language; English cannot be removed."`
	Description shape.Opt[shape.TextsChange] `json:"description,omitzero" nullable:"true" maxLength:"65535" format:"multiline" doc:"Description by language, in the same form as the name. Null removes the description."`
	IsActive    shape.Opt[bool]              `json:"is_active,omitzero"`
	Metadata    shape.Opt[shape.Object]      `json:"metadata,omitzero" nullable:"true" maxBytes:"16384"`
}

func (c recordChange) apply(name, description *Text, isActive *bool, metadata *sqldb.JSON) {
	*name = name.With(c.Name.Value)
	if c.Description.Null {
		*description = nil
	} else {
		*description = description.With(c.Description.Value)
	}
	*isActive = c.IsActive.OrValue(*isActive)
	if c.Metadata.Set {
		*metadata = sqldb.JSON(c.Metadata.Value)
	}
}

func newText(texts shape.Texts) Text { return Text(nil).With(texts) }
