package stripe

import (
	"context"
	"net/http"
)

var products = kind[product]{name: "product", prefix: "prod", label: "product", path: "/v1/products"}

// product is what is sold; its prices say for how much.
type product struct {
	header
	Active              bool              `json:"active"`
	DefaultPrice        *string           `json:"default_price"`
	Description         *string           `json:"description"`
	Images              []string          `json:"images"`
	MarketingFeatures   none              `json:"marketing_features"`
	Metadata            map[string]string `json:"metadata"`
	Name                string            `json:"name"`
	PackageDimensions   null              `json:"package_dimensions"`
	Shippable           *bool             `json:"shippable"`
	StatementDescriptor *string           `json:"statement_descriptor"`
	TaxCode             null              `json:"tax_code"`
	UnitLabel           *string           `json:"unit_label"`
	Updated             int64             `json:"updated"`
	URL                 *string           `json:"url"`
}

// newProduct is a product that p may describe further; p may name its id.
func newProduct(p *params, now int64) product {
	pr := product{header: products.start(now), Active: true, Images: []string{}, Updated: now}
	p.require("name")
	p.text("id", &pr.ID)
	pr.readShort(p)
	return pr
}

// readShort takes over what a price may say of the product it makes.
func (pr *product) readShort(p *params) {
	p.text("name", &pr.Name)
	p.boolean("active", &pr.Active)
	p.metadata(&pr.Metadata)
	p.clearable("statement_descriptor", &pr.StatementDescriptor)
	p.clearable("unit_label", &pr.UnitLabel)
}

// read takes over the parameters that creating and updating have in common.
func (pr *product) read(p *params) {
	pr.readShort(p)
	p.clearable("description", &pr.Description)
	p.url("url", &pr.URL)
	if p.has("images") {
		pr.Images = append([]string{}, p.texts("images")...)
	}
}

func createProduct(ctx context.Context, c *call) (any, error) {
	pr := newProduct(c.params, c.now)
	pr.read(c.params)
	if err := c.params.done(); err != nil {
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
		e := refuse("id", "resource_already_exists", "Product already exists.")
		e.status = http.StatusBadRequest
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
	c.params.clearable("default_price", &pr.DefaultPrice)
	if err := c.params.done(); err != nil {
		return nil, err
	}
	if id := pr.DefaultPrice; id != nil && c.params.has("default_price") {
		p, err := prices.get(ctx, c.q, *id, "default_price")
		if err != nil {
			return nil, err
		}
		if p.Product != pr.ID {
			return nil, refuse("default_price", "", "The price specified does not belong to this product.")
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
	f.among("$.id", c.params.texts("ids"))
	f.equals(c.params, "url", "$.url")
	return products.page(ctx, c, f)
}
