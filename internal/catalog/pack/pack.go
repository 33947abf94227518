// Package pack manages packs: amounts of prepaid units of a meter, with prices in several currencies
// (rules: catalog#packs). Package purchase sells them.
package pack

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/money"
)

// Pack is an amount of units of a meter for sale.
type Pack struct {
	ID               uuid.UUID
	Slug             string
	Name             catalog.Text
	Description      catalog.Text // nil if absent
	FeatureCode      string       // the code of a sum or count meter
	Amount           money.Quantity
	ExpiresAfterDays *int32 // from the payment; nil for never
	IsActive         bool
	Prices           []Price // by currency code
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// Price is the price of a pack in one currency.
type Price struct {
	ID         uuid.UUID
	Currency   string // ISO 4217
	PriceCents int64  // in minor units
}

// PriceIn returns the pack's price in a currency, if it has one.
func (p Pack) PriceIn(currency string) (Price, bool) {
	for _, price := range p.Prices {
		if price.Currency == currency {
			return price, true
		}
	}
	return Price{}, false
}

// SetPrices replaces the prices. A price keeps its ID if its currency stays.
func (p *Pack) SetPrices(set []Price) {
	prices := make([]Price, len(set))
	for i, price := range set {
		was, _ := p.PriceIn(price.Currency)
		prices[i] = Price{ID: was.ID, Currency: price.Currency, PriceCents: price.PriceCents}
	}
	p.Prices = prices
}
