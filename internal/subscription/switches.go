package subscription

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
)

// Switches lists the metered prices that a usage plan sells, and how many of its subscriptions do
// not have them yet.
func (s *Service) Switches(ctx context.Context, planID uuid.UUID) ([]pricelink.Switch, error) {
	plan, err := s.deps.Catalog.Plan(ctx, planID)
	if err != nil {
		return nil, err
	}
	c := switchCount{svc: s, at: s.deps.Clock.Now(), switches: map[switchKey]*pricelink.Switch{}, fits: map[fitKey]bool{}, meters: map[string]uuid.UUID{}}
	for _, price := range plan.Prices {
		sold, err := s.deps.Metering.PricesSoldAt(ctx, price.Currency, c.at)
		if err != nil {
			return nil, err
		}
		for meter, id := range sold {
			c.switchOf(price.Currency, meter).PSPPriceID = id
		}
	}
	if err := s.eachOfPlan(ctx, planID, func(sub Subscription) error { return c.add(ctx, sub) }); err != nil {
		return nil, err
	}
	list := make([]pricelink.Switch, 0, len(c.switches))
	for key, sw := range c.switches {
		if sw.MeterCode, err = s.deps.Metering.CodeOf(ctx, key.meter); err != nil {
			return nil, err
		}
		list = append(list, *sw)
	}
	slices.SortFunc(list, func(a, b pricelink.Switch) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.MeterCode, b.MeterCode))
	})
	return list, nil
}

type switchKey struct {
	currency string
	meter    uuid.UUID
}

type fitKey struct {
	price, currency string
	every           catalog.Interval
}

// switchCount counts the subscriptions that do not have the prices that are sold.
type switchCount struct {
	svc      *Service
	at       time.Time
	switches map[switchKey]*pricelink.Switch
	fits     map[fitKey]bool
	meters   map[string]uuid.UUID // keyed by price
}

func (c *switchCount) switchOf(currency string, meter uuid.UUID) *pricelink.Switch {
	key := switchKey{currency, meter}
	if c.switches[key] == nil {
		c.switches[key] = &pricelink.Switch{Currency: currency}
	}
	return c.switches[key]
}

func (c *switchCount) add(ctx context.Context, sub Subscription) error {
	items, known, err := sub.MeteredItems()
	if err != nil || !known {
		return err
	}
	own := map[uuid.UUID]string{}
	for _, item := range items {
		meter, err := c.meterOf(ctx, item.PriceID)
		if err != nil {
			return err
		}
		if meter != uuid.Nil {
			own[meter] = item.PriceID
			c.switchOf(sub.Currency, meter)
		}
	}
	for key, sw := range c.switches {
		if key.currency != sub.Currency || own[key.meter] == sw.PSPPriceID {
			continue
		}
		sw.Pending++
		if own[key.meter] == "" && len(items)+1 >= pricelink.MaxItems {
			continue // the provider accepts no more items
		}
		next, err := c.nextSwitch(ctx, sub, sw.PSPPriceID)
		if err != nil {
			return err
		}
		if !next.IsZero() && (sw.Next.IsZero() || next.Before(sw.Next)) {
			sw.Next = next
		}
	}
	return nil
}

// meterOf returns the meter of a price of the provider, or Nil.
func (c *switchCount) meterOf(ctx context.Context, price string) (uuid.UUID, error) {
	if meter, known := c.meters[price]; known {
		return meter, nil
	}
	found, err := c.svc.deps.Metering.MetersOf(ctx, []string{price})
	if err == nil {
		c.meters[price] = found[price]
	}
	return found[price], err
}

// nextSwitch returns when a subscription switches to a price: at the start of its next period, or
// immediately if the items of the current period are not decided yet. It returns zero if the
// subscription ends before the switch, or if the price cannot bill the subscription.
func (c *switchCount) nextSwitch(ctx context.Context, sub Subscription, price string) (time.Time, error) {
	if price != "" {
		key := fitKey{price, sub.Currency, sub.Interval()}
		fits, known := c.fits[key]
		if !known {
			var err error
			if fits, err = c.svc.deps.Metering.BillsEvery(ctx, key.price, key.currency, key.every); err != nil {
				fits = true // the provider is unavailable; the switch itself will check again
			}
			c.fits[key] = fits
		}
		if !fits {
			return time.Time{}, nil
		}
	}
	_, decided, err := sub.MeteredTerms()
	if err != nil {
		return time.Time{}, err
	}
	switch {
	case !decided:
		return sub.CurrentPeriodStart, nil
	case sub.IsEnding() && (sub.CancelAt == nil || !sub.CancelAt.After(sub.CurrentPeriodEnd)):
		return time.Time{}, nil
	default:
		return sub.CurrentPeriodEnd, nil
	}
}
