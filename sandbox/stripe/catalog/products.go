package catalog

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Products is the collection of products.
var Products = kernel.Kind[Product]{Name: "product", Prefix: "prod", Label: "product", Path: "/v1/products"}

// Product is an item for sale. It can have several prices.
type Product struct {
	kernel.Header
	Active              bool              `json:"active"`
	DefaultPrice        *string           `json:"default_price"`
	Description         *string           `json:"description"`
	Images              []string          `json:"images"`
	MarketingFeatures   form.None         `json:"marketing_features"`
	Metadata            map[string]string `json:"metadata"`
	Name                string            `json:"name"`
	PackageDimensions   form.Null         `json:"package_dimensions"`
	Shippable           *bool             `json:"shippable"`
	StatementDescriptor *string           `json:"statement_descriptor"`
	TaxCode             form.Null         `json:"tax_code"`
	UnitLabel           *string           `json:"unit_label"`
	Updated             int64             `json:"updated"`
	URL                 *string           `json:"url"`
}

// newProduct reads the parameters of a new product, which can include its id.
func newProduct(p *form.Params, now int64) Product {
	pr := Product{Header: Products.Start(now), Active: true, Images: []string{}, Updated: now}
	p.Require("name")
	p.Text("id", &pr.ID)
	pr.readShort(p)
	return pr
}

// readShort reads the parameters that are also accepted for a product that is created together with
// its price.
func (pr *Product) readShort(p *form.Params) {
	p.Text("name", &pr.Name)
	p.Boolean("active", &pr.Active)
	p.Metadata(&pr.Metadata)
	p.ReadClearable("statement_descriptor", &pr.StatementDescriptor)
	p.ReadClearable("unit_label", &pr.UnitLabel)
}

// read reads the parameters that creating and updating have in common.
func (pr *Product) read(p *form.Params) {
	pr.readShort(p)
	p.ReadClearable("description", &pr.Description)
	p.URL("url", &pr.URL)
	if p.Has("images") {
		pr.Images = append([]string{}, p.Texts("images")...)
	}
}

// CreateProduct handles POST /v1/products.
func CreateProduct(ctx context.Context, c *kernel.Call) (any, error) {
	pr := newProduct(c.Params, c.Now)
	pr.read(c.Params)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	return pr, addProduct(ctx, c.Step, pr)
}

// addProduct stores a new product. It refuses an id that is already in use.
func addProduct(ctx context.Context, st *kernel.Step, pr Product) error {
	_, err := Products.Find(ctx, st.Q, pr.ID)
	if errors.Is(err, kernel.ErrNotFound) {
		return st.Create(ctx, "product.created", pr)
	}
	if err != nil {
		return err
	}
	return form.Refuse("id", "resource_already_exists", "Product already exists.")
}

// GetProduct handles GET /v1/products/{id}.
func GetProduct(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Products)
}

// UpdateProduct handles POST /v1/products/{id}.
func UpdateProduct(ctx context.Context, c *kernel.Call) (any, error) {
	pr, err := Products.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *pr
	pr.read(c.Params)
	c.Params.ReadClearable("default_price", &pr.DefaultPrice)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if id := pr.DefaultPrice; id != nil && c.Params.Has("default_price") {
		p, err := Prices.Get(ctx, c.Q, *id, "default_price")
		if err != nil {
			return nil, err
		}
		if p.Product != pr.ID {
			return nil, form.Refuse("default_price", "", "The price specified does not belong to this product.")
		}
	}
	if same, err := kernel.Difference(before, pr); err != nil || len(same) == 0 {
		return pr, err
	}
	pr.Updated = c.Now
	return pr, c.Change(ctx, "product.updated", before, pr)
}

// ListProducts handles GET /v1/products.
func ListProducts(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddBool(c.Params, "active", "$.active")
	f.AddIn("$.id", c.Params.Texts("ids"))
	f.AddEqual(c.Params, "url", "$.url")
	return Products.Page(ctx, c, f)
}
