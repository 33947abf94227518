package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// PriceTerms is one price of a set as somebody wants it (spec: Price rules).
type PriceTerms struct {
	Currency   string // one that exists, each once in a set
	PriceCents int64
	// LinkGiven says that the price is to be linked to PSPPriceID, or to nothing
	// if that is nil. Without it a price keeps its link for as long as its amount,
	// the plan's interval and its pricing type stay: a price of the payment
	// provider cannot change, so after a change the next checkout has a new one
	// made.
	LinkGiven  bool
	PSPPriceID *string // each once in a set
}

// SetPrices replaces the prices of a plan. Prices whose currency stays keep their
// id. Broken terms are a 422 on prices.<n>.<field>.
func (s *Service) SetPrices(ctx context.Context, planID uuid.UUID, set []PriceTerms) ([]Price, error) {
	p, err := s.UpdatePlan(ctx, planID, PlanChange{Prices: &set})
	return p.Prices, err
}

// DeletePrice removes one price of a plan, else ErrNotFound. Subscriptions in its
// currency keep the price that they were made with.
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
			return s.store.q(ctx).DeletePrice(ctx, priceID)
		}
		return ErrNotFound
	})
	return err
}

// ResolvePrices returns the prices that a plan has after a change from old to next:
// those of the set, or without a set those that it had. A price whose terms stay
// the same keeps its link (see PriceTerms). New prices have no id.
func ResolvePrices(old, next Plan, set *[]PriceTerms) []Price {
	if set == nil {
		kept := all(old.Prices, func(p Price) PriceTerms { return PriceTerms{Currency: p.Currency, PriceCents: p.PriceCents} })
		set = &kept
	}
	sameTerms := old.Interval == next.Interval && old.PricingType == next.PricingType
	return all(*set, func(terms PriceTerms) Price {
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

// checkPrices adds what is broken of a set; prices are what it resolves to.
func (s *Service) checkPrices(ctx context.Context, prices []Price, set []PriceTerms, broken *fault.Fields) error {
	currencies, err := s.store.currencies(ctx)
	if err != nil {
		return err
	}
	known, seen := map[string]bool{}, map[string]bool{}
	for _, c := range currencies {
		known[c.Code] = true
	}
	linked := map[string]int{} // index by provider's price
	for i, price := range prices {
		path := fmt.Sprintf("prices.%d.", i)
		switch {
		case !known[price.Currency]:
			broken.Add(path+"currency", "validation.exists")
		case seen[price.Currency]:
			broken.Add(path+"currency", "validation.repeated")
		}
		seen[price.Currency] = true
		if price.PSPPriceID == nil {
			continue
		}
		first, repeated := linked[*price.PSPPriceID]
		switch {
		case !repeated:
			linked[*price.PSPPriceID] = i
		case set[i].LinkGiven:
			broken.Add(path+"psp_price_id", "validation.repeated")
		default: // the other one was given, and this one keeps what it has
			broken.Add(fmt.Sprintf("prices.%d.psp_price_id", first), "validation.repeated")
		}
	}
	return nil
}

// replacePrices makes a plan's prices be those of next, which are valid. Rows that
// do not change are left alone.
func (s store) replacePrices(ctx context.Context, old, next []Price, now time.Time) error {
	wanted := map[uuid.UUID]Price{}
	for _, p := range next {
		if p.ID != uuid.Nil {
			wanted[p.ID] = p
		}
	}
	// Links are cut first: two prices may exchange theirs, which are unique.
	for _, was := range old {
		p, stays := wanted[was.ID]
		var err error
		switch {
		case !stays:
			err = s.q(ctx).DeletePrice(ctx, was.ID)
		case was.PSPPriceID != nil && !equal(was.PSPPriceID, p.PSPPriceID):
			err = s.savePrice(ctx, Price{ID: was.ID, PriceCents: was.PriceCents}, now)
		}
		if err != nil {
			return fmt.Errorf("price in %s: %w", was.Currency, err)
		}
	}
	for _, was := range old {
		p, stays := wanted[was.ID]
		if !stays || p.PriceCents == was.PriceCents && equal(p.PSPPriceID, was.PSPPriceID) {
			continue
		}
		if err := s.savePrice(ctx, p, now); err != nil {
			return fmt.Errorf("price in %s: %w", was.Currency, err)
		}
	}
	for _, p := range next {
		if p.ID != uuid.Nil {
			continue
		}
		p.ID = sqldb.NewID()
		if err := s.insertPrice(ctx, p, now); err != nil {
			return fmt.Errorf("price in %s: %w", p.Currency, err)
		}
	}
	return nil
}

func (s store) insertPrice(ctx context.Context, p Price, now time.Time) error {
	return s.q(ctx).InsertPrice(ctx, catalogsql.InsertPriceParams{
		ID: p.ID, PlanID: p.PlanID, Currency: p.Currency, PriceCents: p.PriceCents, PSPPriceID: p.PSPPriceID, CreatedAt: now,
	})
}

func (s store) savePrice(ctx context.Context, p Price, now time.Time) error {
	return s.q(ctx).SavePrice(ctx, catalogsql.SavePriceParams{
		ID: p.ID, PriceCents: p.PriceCents, PSPPriceID: p.PSPPriceID, UpdatedAt: now,
	})
}
