package psp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v85"
)

// The units of a billing interval.
const (
	IntervalDay   = "day"
	IntervalWeek  = "week"
	IntervalMonth = "month"
	IntervalYear  = "year"
)

// PriceParams describes a recurring price for a fixed number of units.
type PriceParams struct {
	Key           string // idempotency key
	ProductID     string
	Currency      string // ISO 4217
	UnitAmount    int64  // minor units; see charge.Units
	IntervalUnit  string
	IntervalCount int
	Nickname      string // internal name, may be empty
	// LookupKey is a name by which FindPrice finds the price. It is unique among the active prices
	// of the account and can be empty.
	LookupKey string
	Metadata  map[string]string
}

// Price is a price at the provider.
type Price struct {
	ID        string
	ProductID string
	Currency  string // ISO 4217, upper case
	// UnitAmount is in minor units. It is nil if the price does not have a single whole amount per
	// unit, as with tiers, packages of several units, fractions of a minor unit, and customer-chosen
	// amounts.
	UnitAmount *int64
	// UnitPrice is the exact amount per unit as decimal text in minor units, or empty if there is
	// no single amount.
	UnitPrice     string
	IntervalUnit  string // empty for a one-time price
	IntervalCount int
	Metered       bool   // billed by reported usage, not by quantity
	MeterID       string // the meter that a metered price bills
	Active        bool   // whether the price is active, and its product if that was expanded
	Nickname      string
	Metadata      map[string]string
}

// CreatePrice creates a recurring price. If the amount cannot be charged, it returns
// charge.ErrUnsupported without calling the provider.
func (c *Client) CreatePrice(ctx context.Context, p PriceParams) (Price, error) {
	units, err := c.units(ctx, p.Currency)
	if err != nil {
		return Price{}, err
	}
	amount, err := units.ToProvider(p.UnitAmount)
	if err != nil {
		return Price{}, err
	}
	return writeOnce(ctx, c, "create price", p.Key, func(ctx context.Context) (Price, error) {
		created, err := c.api.V1Prices.Create(ctx, &stripe.PriceCreateParams{
			Params:     idempotencyParams(p.Key),
			Product:    stripe.String(p.ProductID),
			Currency:   stripe.String(strings.ToLower(p.Currency)),
			UnitAmount: stripe.Int64(amount),
			Recurring: &stripe.PriceCreateRecurringParams{
				Interval:      stripe.String(p.IntervalUnit),
				IntervalCount: stripe.Int64(int64(p.IntervalCount)),
			},
			Nickname:  stringOrNil(p.Nickname),
			LookupKey: stringOrNil(p.LookupKey),
			Metadata:  p.Metadata,
		})
		if err != nil {
			return Price{}, err
		}
		return c.newPrice(ctx, created)
	}, func(ctx context.Context) (Price, error) {
		if p.LookupKey == "" {
			return Price{}, ErrNotDone
		}
		made, err := c.FindPrice(ctx, p.LookupKey)
		return made, wrapNotDone(err)
	})
}

// GetPrice returns a price, or ErrNotFound.
func (c *Client) GetPrice(ctx context.Context, id string) (Price, error) {
	return read(ctx, c, "get price", id, func(ctx context.Context) (Price, error) {
		params := &stripe.PriceRetrieveParams{}
		params.AddExpand("product")
		p, err := c.api.V1Prices.Retrieve(ctx, id, params)
		if err != nil {
			return Price{}, err
		}
		return c.newPrice(ctx, p)
	})
}

// FindPrice returns the price with the lookup key, active or not, or ErrNotFound.
func (c *Client) FindPrice(ctx context.Context, lookupKey string) (Price, error) {
	id, err := read(ctx, c, "find price", lookupKey, func(ctx context.Context) (string, error) {
		list := c.api.V1Prices.List(ctx, &stripe.PriceListParams{LookupKeys: []*string{stripe.String(lookupKey)}})
		if err := list.Err(); err != nil {
			return "", err
		}
		if len(list.Data()) == 0 {
			return "", nil
		}
		return list.Data()[0].ID, nil
	})
	if err != nil {
		return Price{}, err
	}
	if id == "" {
		return Price{}, ErrUnavailable.Wrap(fmt.Errorf("find price: %w", ErrNotFound))
	}
	return c.GetPrice(ctx, id)
}

func (c *Client) newPrice(ctx context.Context, p *stripe.Price) (Price, error) {
	// The library decodes a null amount as 0, which would mean free.
	var exact struct {
		UnitAmount *int64          `json:"unit_amount"`
		Decimal    string          `json:"unit_amount_decimal"`
		Product    json.RawMessage `json:"product"`
	}
	if err := json.Unmarshal(p.LastResponse.RawJSON, &exact); err != nil {
		return Price{}, err
	}
	units, err := c.UnitsRead(ctx, string(p.Currency))
	if err != nil {
		return Price{}, err
	}
	price := Price{
		ID:         p.ID,
		Currency:   strings.ToUpper(string(p.Currency)),
		UnitAmount: units.FromProviderExact(exact.UnitAmount),
		UnitPrice:  units.Decimal(exact.Decimal),
		Active:     p.Active && isActive(exact.Product),
		Nickname:   p.Nickname,
		Metadata:   p.Metadata,
	}
	if p.TransformQuantity != nil {
		price.UnitAmount, price.UnitPrice = nil, ""
	}
	if p.Product != nil {
		price.ProductID = p.Product.ID
	}
	if r := p.Recurring; r != nil {
		price.IntervalUnit, price.IntervalCount = string(r.Interval), int(r.IntervalCount)
		price.Metered, price.MeterID = isMetered(p), r.Meter
	}
	return price, nil
}

// isActive reports whether a product is active. It returns true if the product is not expanded. A
// price cannot be sold if its product is inactive.
func isActive(product json.RawMessage) bool {
	var expanded struct {
		Active bool `json:"active"`
	}
	if len(product) == 0 || product[0] != '{' {
		return true
	}
	return json.Unmarshal(product, &expanded) == nil && expanded.Active
}
