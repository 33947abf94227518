package stripe

import (
	"context"
	"net/http"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
)

var products = kind[product]{name: "product", prefix: "prod", label: "product", path: "/v1/products"}

// product is what is sold; its prices say for how much.
type product struct {
	header
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
	pr := product{header: products.start(now), Active: true, Images: []string{}, Updated: now}
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

func createProduct(ctx context.Context, c *call) (any, error) {
	pr := newProduct(c.params, c.now)
	pr.read(c.params)
	if err := c.params.Done(); err != nil {
		return nil, err
	}
	return pr, addProduct(ctx, c.step, pr)
}

// addProduct stores a new product, whose id must be free.
func addProduct(ctx context.Context, st *step, pr product) error {
	taken, err := products.find(ctx, st.q, pr.ID)
	if err != nil {
		return err
	}
	if taken != nil {
		e := form.Refuse("id", "resource_already_exists", "Product already exists.")
		e.Status = http.StatusBadRequest
		return e
	}
	return st.create(ctx, "product.created", pr)
}

func getProduct(ctx context.Context, c *call) (any, error) { return retrieve(ctx, c, products) }

func updateProduct(ctx context.Context, c *call) (any, error) {
	pr, err := products.get(ctx, c.q, c.id, "id")
	if err != nil {
		return nil, err
	}
	before := *pr
	pr.read(c.params)
	c.params.Clearable("default_price", &pr.DefaultPrice)
	if err := c.params.Done(); err != nil {
		return nil, err
	}
	if id := pr.DefaultPrice; id != nil && c.params.Has("default_price") {
		p, err := prices.get(ctx, c.q, *id, "default_price")
		if err != nil {
			return nil, err
		}
		if p.Product != pr.ID {
			return nil, form.Refuse("default_price", "", "The price specified does not belong to this product.")
		}
	}
	if same, err := difference(before, pr); err != nil || len(same) == 0 {
		return pr, err
	}
	pr.Updated = c.now
	return pr, c.change(ctx, "product.updated", before, pr)
}

func listProducts(ctx context.Context, c *call) (any, error) {
	var f filter
	f.holds(c.params, "active", "$.active")
	f.among("$.id", c.params.Texts("ids"))
	f.equals(c.params, "url", "$.url")
	return products.page(ctx, c, f)
}
