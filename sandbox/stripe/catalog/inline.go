package catalog

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Inline is a price that a request describes instead of naming an existing price. The request can
// also describe the product. Both are stored as inactive, because they are sold only once.
type Inline struct {
	params  *form.Params
	price   Price
	product *Product // nil if the request names an existing product
}

// ReadRecurring reads price_data of an item of a subscription, which requires a recurring price of an
// existing product (https://docs.stripe.com/api/subscriptions/create).
func ReadRecurring(p *form.Params, now int64) *Inline {
	data := p.Hash("price_data")
	if data == nil {
		return nil
	}
	data.Require("currency", "product", "recurring")
	inline := readInline(data, now)
	data.Text("product", &inline.price.Product)
	return inline
}

// ReadInline reads price_data. It returns nil if the parameter was not given.
func ReadInline(p *form.Params, now int64) *Inline {
	data := p.Hash("price_data")
	if data == nil {
		return nil
	}
	inline := readInline(data, now)
	made := data.Hash("product_data")
	switch {
	case made != nil && data.Has("product"):
		data.Fail("product_data", "", "You may only specify one of these parameters: product, product_data.")
	case made != nil:
		pd := newProduct(made, now)
		made.ReadClearable("description", &pd.Description)
		pd.Active, inline.price.Product, inline.product = false, pd.ID, &pd
	default:
		data.Require("product")
		data.Text("product", &inline.price.Product)
	}
	return inline
}

// readInline reads the parameters that all inline prices have in common.
func readInline(data *form.Params, now int64) *Inline {
	inline := &Inline{params: data, price: Price{
		Header: Prices.Start(now), BillingScheme: "per_unit", Metadata: map[string]string{}, TaxBehavior: "unspecified", Type: "one_time",
	}}
	pr := &inline.price
	data.Require("currency")
	form.ReadCurrency(data, "currency", &pr.Currency)
	pr.readUnitAmount(data)
	pr.checkUnitAmount(data)
	data.Choice("tax_behavior", &pr.TaxBehavior, "exclusive", "inclusive", "unspecified")
	if pr.Recurring = readRecurring(data); pr.Recurring != nil {
		pr.Type = "recurring"
	}
	return inline
}

// Store stores an inline price and returns it with its product.
func (i *Inline) Store(ctx context.Context, st *kernel.Step) (*Price, *Product, error) {
	if i.product != nil {
		if err := addProduct(ctx, st, *i.product); err != nil {
			return nil, nil, err
		}
	} else {
		pd, err := Products.Get(ctx, st.Q, i.price.Product, i.params.Name("product"))
		if err != nil {
			return nil, nil, err
		}
		i.product = pd
	}
	return &i.price, i.product, st.Create(ctx, "price.created", i.price)
}
