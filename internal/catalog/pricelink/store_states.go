package pricelink

import (
	"context"
	"strconv"
	"time"

	"github.com/tenantry/tenantry/internal/catalog/pricelink/pricelinksql"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// states returns the known states of provider prices by ID.
func (s store) states(ctx context.Context) (map[string]state, error) {
	rows, err := s.q(ctx).States(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list states of prices")
	}
	states := make(map[string]state, len(rows))
	for _, row := range rows {
		known := state{missing: row.IsMissing, Price: psp.Price{
			ID: row.PSPPriceID, ProductID: row.PSPProductID, Active: row.IsActive, Currency: row.Currency,
			UnitPrice: row.UnitAmount, IntervalUnit: row.IntervalUnit, IntervalCount: int(row.IntervalCount), Metered: row.IsMetered,
		}}
		if whole, err := strconv.ParseInt(row.UnitAmount, 10, 64); err == nil {
			known.UnitAmount = &whole
		}
		states[row.PSPPriceID] = known
	}
	return states, nil
}

// putState stores the state of a price, unless a reading that started later is already stored.
func (s store) putState(ctx context.Context, pspPriceID string, now state, asked time.Time) error {
	return sqldb.Wrap(s.q(ctx).PutState(ctx, pricelinksql.PutStateParams{
		PSPPriceID: pspPriceID, PSPProductID: now.ProductID, IsMissing: now.missing, IsActive: now.Active, Currency: now.Currency,
		UnitAmount: now.UnitPrice, IntervalUnit: now.IntervalUnit, IntervalCount: int64(now.IntervalCount), IsMetered: now.Metered,
		ReadAt: asked,
	}), "store the state of a price")
}

// pricesOfProduct lists the known prices of a provider product.
func (s store) pricesOfProduct(ctx context.Context, pspProductID string) ([]string, error) {
	ids, err := s.q(ctx).PricesOfPSPProduct(ctx, pspProductID)
	return ids, sqldb.Wrap(err, "list prices of a product")
}

// linkedIDs returns the provider prices that plans and meters are linked to.
func (s store) linkedIDs(ctx context.Context) (map[string]bool, error) {
	ids, err := s.q(ctx).LinkedIDs(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list linked prices")
	}
	linked := make(map[string]bool, len(ids))
	for _, id := range ids {
		if id != nil {
			linked[*id] = true
		}
	}
	return linked, nil
}

func (s store) deleteUnlinkedStates(ctx context.Context) error {
	return sqldb.Wrap(s.q(ctx).DeleteUnlinkedStates(ctx), "delete states of prices")
}
