package catalog

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/psp/charge"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
)

// PriceTerms is one price of a set to store (rules: catalog#prices).
type PriceTerms struct {
	Currency   string // must exist; unique within a set
	PriceCents int64
	// LinkGiven means that the price is to be linked to PSPPriceID, or unlinked if that is nil.
	// Otherwise a price keeps its link until its amount, or the plan's interval or pricing type,
	// changes. After such a change, the next checkout creates a new price at the payment provider,
	// where prices are immutable.
	LinkGiven  bool
	PSPPriceID *string // unique within a set
}

// SetPrices replaces the prices of a plan. Prices whose currency remains in the set keep their IDs.
// Invalid terms are a 422 error on prices.<n>.<field>.
func (s *Service) SetPrices(ctx context.Context, planID uuid.UUID, set []PriceTerms) ([]Price, error) {
	p, err := s.UpdatePlan(ctx, planID, PlanChange{Prices: &set})
	return p.Prices, err
}

// DeletePrice removes a price from a plan. It returns ErrNotFound if the plan lacks the price.
// Subscriptions in its currency keep the price that they were created with.
func (s *Service) DeletePrice(ctx context.Context, planID, priceID uuid.UUID) error {
	_, err := s.changePlan(ctx, planID, "updated", func(ctx context.Context, old Plan, now time.Time) error {
		old.UpdatedAt = now
		for _, price := range old.Prices {
			if price.ID != priceID {
				continue
			}
			if err := s.store.savePlan(ctx, old); err != nil {
				return err
			}
			return s.store.deletePrice(ctx, priceID)
		}
		return ErrNotFound
	})
	return err
}

// ResolvePrices returns the prices of a plan after it changes from old to next: the prices of the
// set, or the old prices if set is nil. A price whose terms are unchanged keeps its link (see
// PriceTerms). New prices have no ID.
func ResolvePrices(old, next Plan, set *[]PriceTerms) []Price {
	if set == nil {
		kept := viewAll(old.Prices, func(p Price) PriceTerms { return PriceTerms{Currency: p.Currency, PriceCents: p.PriceCents} })
		set = &kept
	}
	sameTerms := old.Interval == next.Interval && old.PricingType == next.PricingType
	return viewAll(*set, func(terms PriceTerms) Price {
		was, exists := old.PriceIn(terms.Currency)
		price := Price{ID: was.ID, PlanID: old.ID, Currency: terms.Currency, PriceCents: terms.PriceCents}
		switch {
		case terms.LinkGiven:
			price.PSPPriceID = terms.PSPPriceID
		case exists && sameTerms && was.PriceCents == terms.PriceCents:
			price.PSPPriceID = was.PSPPriceID
		}
		return price
	})
}

// checkPrices adds the invalid fields of a set to broken. prices is the result of ResolvePrices for
// the set.
func (s *Service) checkPrices(ctx context.Context, prices []Price, set []PriceTerms, broken *fault.Fields) error {
	currencies, err := s.store.currencies(ctx)
	if err != nil {
		return err
	}
	known, seen := map[string]Currency{}, map[string]bool{}
	for _, c := range currencies {
		known[c.Code] = c
	}
	linked := map[string]int{} // index of a price by its link
	for i, price := range prices {
		path := fmt.Sprintf("prices.%d.", i)
		currency, exists := known[price.Currency]
		switch {
		case !exists:
			broken.Add(path+"currency", "validation.exists")
		case seen[price.Currency]:
			broken.Add(path+"currency", "validation.repeated")
		}
		seen[price.Currency] = true
		if units, err := charge.UnitsOf(price.Currency, int(currency.MinorUnits)); exists && err == nil {
			checkChargeable(broken, path+"price_cents", units.NearestChargeable(price.PriceCents))
		}
		if price.PSPPriceID == nil {
			continue
		}
		first, repeated := linked[*price.PSPPriceID]
		switch {
		case !repeated:
			linked[*price.PSPPriceID] = i
		case set[i].LinkGiven:
			broken.Add(path+"psp_price_id", "validation.repeated")
		default: // the first price was given the link, and this price keeps it
			broken.Add(fmt.Sprintf("prices.%d.psp_price_id", first), "validation.repeated")
		}
	}
	return nil
}

// checkChargeable adds an invalid field if the payment provider cannot charge an amount. possible
// are the nearest chargeable amounts; it is empty if the amount is chargeable.
func checkChargeable(broken *fault.Fields, path string, possible []int64) {
	if len(possible) == 0 {
		return
	}
	texts := viewAll(possible, func(amount int64) string { return strconv.FormatInt(amount, 10) })
	*broken = append(*broken, fault.Field{
		Path: path, Message: "validation.psp_amount", Args: map[string]any{"possible": strings.Join(texts, ", ")},
	})
}
