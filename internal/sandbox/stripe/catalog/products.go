package catalog

import (
	"context"
	"net/http"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

var Products = kernel.Kind[product]{Name: "product", Prefix: "prod", Label: "product", Path: "/v1/products"}

// product is what is sold; its prices say for how much.
type product struct {
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

// newProduct is a product that p may describe further; p may name its id.
func newProduct(p *form.Params, now int64) product {
	pr := product{Header: Products.Start(now), Active: true, Images: []string{}, Updated: now}
	p.Require("name")
	p.Text("id", &pr.ID)
	pr.readShort(p)
	return pr
}

// readShort takes over what a price may say of the product it makes.
func (pr *product) readShort(p *form.Params) {
	p.Text("name", &pr.Name)
	p.Boolean("active", &pr.Active)
	p.Metadata(&pr.Metadata)
	p.Clearable("statement_descriptor", &pr.StatementDescriptor)
	p.Clearable("unit_label", &pr.UnitLabel)
}

// read takes over the parameters that creating and updating have in common.
func (pr *product) read(p *form.Params) {
	pr.readShort(p)
	p.Clearable("description", &pr.Description)
	p.URL("url", &pr.URL)
	if p.Has("images") {
		pr.Images = append([]string{}, p.Texts("images")...)
	}
}

func CreateProduct(ctx context.Context, c *kernel.Call) (any, error) {
	pr := newProduct(c.Params, c.Now)
	pr.read(c.Params)
	if err := c.Params.Done(); err != nil {
		return nil, err
	}
	return pr, addProduct(ctx, c.Step, pr)
}

// addProduct stores a new product, whose id must be free.
func addProduct(ctx context.Context, st *kernel.Step, pr product) error {
	taken, err := Products.Find(ctx, st.Q, pr.ID)
	if err != nil {
		return err
	}
	if taken != nil {
		e := form.Refuse("id", "resource_already_exists", "Product already exists.")
		e.Status = http.StatusBadRequest
		return e
	}
	return st.Create(ctx, "product.created", pr)
}

func GetProduct(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Products)
}

func UpdateProduct(ctx context.Context, c *kernel.Call) (any, error) {
	pr, err := Products.Get(ctx, c.Q, c.Id, "id")
	if err != nil {
		return nil, err
	}
	before := *pr
	pr.read(c.Params)
	c.Params.Clearable("default_price", &pr.DefaultPrice)
	if err := c.Params.Done(); err != nil {
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

func ListProducts(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.Holds(c.Params, "active", "$.active")
	f.Among("$.id", c.Params.Texts("ids"))
	f.Equals(c.Params, "url", "$.url")
	return Products.Page(ctx, c, f)
}
