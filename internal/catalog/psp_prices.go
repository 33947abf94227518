package catalog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Provider is what the catalog needs of the payment provider; *psp.Client is
// one.
type Provider interface {
	CreateProduct(ctx context.Context, p psp.ProductParams) (string, error)
	GetProduct(ctx context.Context, id string) (psp.Product, error)
	CreatePrice(ctx context.Context, p psp.PriceParams) (psp.Price, error)
	FindPrice(ctx context.Context, lookupKey string) (psp.Price, error)
	GetPrice(ctx context.Context, id string) (psp.Price, error)
}

// PSPPricesDeps is what PSPPrices needs.
type PSPPricesDeps struct {
	Catalog  *Service
	Provider Provider
	Log      *slog.Logger
}

// PSPPrices keeps the prices of plans linked to prices of the payment provider
// (spec: Payment-provider price management). It is safe for concurrent use.
//
// Invariants: a link is stored only under the catalog's lock, after what the
// provider sells (currency, amount, interval) was compared with what is sold now;
// whoever changes that holds the same lock and removes the link. And the provider
// is never asked within a transaction.
type PSPPrices struct {
	catalog  *Service
	provider Provider
	log      *slog.Logger
}

// NewPSPPrices returns the service.
func NewPSPPrices(d PSPPricesDeps) *PSPPrices {
	return &PSPPrices{catalog: d.Catalog, provider: d.Provider, log: d.Log}
}

// errPSPPriceLinked refuses to link a price that another link was made for.
var errPSPPriceLinked = fault.Coded(fault.Invalid, fault.PSPPriceAlreadyLinked)

// Errors of the field psp_price_id.
var (
	errPSPPriceUnknown         = fault.OnField("psp_price_id", "validation.exists")
	errPSPPriceCurrencyUnknown = fault.OnField("psp_price_id", "validation.psp_price_currency_unknown")
	errPSPPriceCurrencyTaken   = fault.OnField("psp_price_id", "validation.psp_price_currency_taken")
)

// Find returns a plan that is not deleted and a price of it, else ErrNotFound.
func (p *PSPPrices) Find(ctx context.Context, planID, priceID uuid.UUID) (Plan, Price, error) {
	plan, err := p.catalog.CurrentPlan(ctx, planID)
	if err != nil {
		return Plan{}, Price{}, err
	}
	for _, price := range plan.Prices {
		if price.ID == priceID {
			return plan, price, nil
		}
	}
	return Plan{}, Price{}, ErrNotFound
}

// Link links a price to one of the provider that sells the same, in place of the
// one that it was linked to. A price that the provider does not have is refused
// on psp_price_id, one that differs with psp_price_mismatch.
func (p *PSPPrices) Link(ctx context.Context, planID, priceID uuid.UUID, pspPriceID string) (Price, error) {
	_, before, err := p.Find(ctx, planID, priceID)
	if err != nil {
		return Price{}, err
	}
	remote, err := p.read(ctx, pspPriceID)
	if err != nil {
		return Price{}, err
	}
	var linked Price
	err = p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, price, err := p.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		if differences := differences(plan, price, remote); len(differences) > 0 {
			return mismatch(differences)
		}
		if err := p.chargeable(ctx, price.Currency, price.PriceCents); err != nil {
			return err
		}
		if !equal(price.PSPPriceID, before.PSPPriceID) {
			return errPSPPriceLinked // by somebody else, meanwhile
		}
		linked, err = p.link(ctx, now, "psp_linked", plan, price, remote)
		return err
	})
	return linked, err
}

// link stores a link in the transaction of a change. A product
// that has no counterpart yet gets that of its first linked price, so that the
// provider has one product for one of ours.
func (p *PSPPrices) link(ctx context.Context, now time.Time, action string, plan Plan, price Price, remote psp.Price) (Price, error) {
	q := p.catalog.store.q(ctx)
	old := price.PSPPriceID
	price.PSPPriceID = &remote.ID
	if equal(old, price.PSPPriceID) {
		return price, nil
	}
	if err := q.LinkPrice(ctx, catalogsql.LinkPriceParams{ID: price.ID, PSPPriceID: &remote.ID, UpdatedAt: now}); err != nil {
		return price, err
	}
	if remote.ProductID != "" {
		_, err := q.LinkProduct(ctx, catalogsql.LinkProductParams{ID: plan.Product.ID, PSPProductID: &remote.ProductID, UpdatedAt: now})
		if err != nil {
			return price, err
		}
	}
	return price, p.record(ctx, action, price, old, price.PSPPriceID)
}

// Unlink forgets which price of the provider a price is linked to. The provider
// keeps its price, and what was subscribed to by it goes on.
func (p *PSPPrices) Unlink(ctx context.Context, planID, priceID uuid.UUID) (Price, error) {
	var unlinked Price
	err := p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		_, price, err := p.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		unlinked, err = p.unlink(ctx, now, price)
		return err
	})
	return unlinked, err
}

// unlink removes the link that price has, if it still has it.
func (p *PSPPrices) unlink(ctx context.Context, now time.Time, price Price) (Price, error) {
	old := price.PSPPriceID
	price.PSPPriceID = nil
	if old == nil {
		return price, nil
	}
	n, err := p.catalog.store.q(ctx).UnlinkPrice(ctx, catalogsql.UnlinkPriceParams{
		ID: price.ID, PSPPriceID: old, Now: now,
	})
	if err != nil || n == 0 {
		return price, err
	}
	return price, p.record(ctx, "psp_unlinked", price, old, nil)
}

// Import makes a price of the plan from a price of the provider: one that is due
// as often as the plan, in a currency that is known here and that the plan has no
// price in.
func (p *PSPPrices) Import(ctx context.Context, planID uuid.UUID, pspPriceID string) (Price, error) {
	if _, err := p.catalog.CurrentPlan(ctx, planID); err != nil {
		return Price{}, err
	}
	remote, err := p.read(ctx, pspPriceID)
	if err != nil {
		return Price{}, err
	}
	price := Price{ID: sqldb.NewID(), PlanID: planID, Currency: remote.Currency, PSPPriceID: &remote.ID}
	err = p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, err := p.catalog.CurrentPlan(ctx, planID)
		if err != nil {
			return err
		}
		if remote.UnitAmount != nil {
			price.PriceCents = *remote.UnitAmount
		}
		if differences := differences(plan, price, remote); len(differences) > 0 {
			return mismatch(differences)
		}
		if err := p.chargeable(ctx, price.Currency, price.PriceCents); errors.Is(err, ErrNotFound) {
			return errPSPPriceCurrencyUnknown
		} else if err != nil {
			return err
		}
		if _, has := plan.PriceIn(price.Currency); has {
			return errPSPPriceCurrencyTaken
		}
		err = p.catalog.store.q(ctx).InsertPrice(ctx, catalogsql.InsertPriceParams{
			ID: price.ID, PlanID: planID, Currency: price.Currency, PriceCents: price.PriceCents,
			PSPPriceID: price.PSPPriceID, CreatedAt: now,
		})
		if err != nil {
			return err
		}
		return p.catalog.Record(ctx, "plan_price", "psp_imported", price.ID, nil, priceTrail(price, price.PSPPriceID))
	})
	return price, err
}

// read reads a price of the provider that a caller names.
func (p *PSPPrices) read(ctx context.Context, pspPriceID string) (psp.Price, error) {
	remote, err := p.provider.GetPrice(ctx, pspPriceID)
	if errors.Is(err, psp.ErrNotFound) {
		err = errPSPPriceUnknown
	}
	return remote, err
}

// PriceEvent handles the provider's notifications about prices: links to one that
// is no longer sold there are removed, so that the next checkout makes a new one
// instead of failing.
func (p *PSPPrices) PriceEvent(ctx context.Context, e psp.Event) error {
	rows, err := p.catalog.store.q(ctx).LinkedPrices(ctx, &e.ObjectID)
	if err != nil || len(rows) == 0 {
		return err
	}
	remote, err := p.provider.GetPrice(ctx, e.ObjectID)
	switch {
	case err == nil && remote.Active:
		return nil // whatever else can be changed there is not what is sold
	case err != nil && !errors.Is(err, psp.ErrNotFound):
		return err
	}
	return p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		for _, price := range pricesOf(rows) {
			if _, err := p.unlink(ctx, now, price); err != nil {
				return err
			}
			p.log.WarnContext(ctx, "a price was unlinked: the payment provider does not sell it any more",
				"plan_id", price.PlanID, "price_id", price.ID, "psp_price_id", e.ObjectID)
		}
		return nil
	})
}

func (p *PSPPrices) record(ctx context.Context, action string, price Price, before, after *string) error {
	return p.catalog.Record(ctx, "plan_price", action, price.ID, priceTrail(price, before), priceTrail(price, after))
}

func priceTrail(price Price, pspPriceID *string) any {
	return map[string]any{
		"plan_id": price.PlanID, "currency": price.Currency, "price_cents": price.PriceCents, "psp_price_id": pspPriceID,
	}
}
