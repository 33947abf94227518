package meters

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/meters/metersql"
)

// errNeverLinked means that no meter was ever linked to the provider's price.
var errNeverLinked = errors.New("no meter was ever linked to the price")

// recordSales records the prices of a meter that usage plans sell from now on: its linked prices
// while it is active.
func (s store) recordSales(ctx context.Context, e Entry, now time.Time) error {
	last, err := s.q(ctx).LastSales(ctx, e.ID)
	if err != nil {
		return sqldb.Wrap(err, "read sales of a meter")
	}
	sold := map[string]*string{}
	for _, p := range e.Prices {
		if e.Active && p.PSPPriceID != nil {
			sold[p.Currency] = p.PSPPriceID
		}
	}
	changed := map[string]*string{}
	for currency, id := range sold {
		changed[currency] = id
	}
	for _, was := range last {
		if id := sold[was.Currency]; equal(was.PSPPriceID, id) {
			delete(changed, was.Currency)
		} else {
			changed[was.Currency] = id
		}
	}
	for currency, id := range changed {
		err := s.q(ctx).PutSale(ctx, metersql.PutSaleParams{MeterID: e.ID, Currency: currency, Since: now, PSPPriceID: id})
		if err != nil {
			return sqldb.Wrap(err, "store sale of a meter")
		}
	}
	return nil
}

// readSales returns the prices that usage plans sold in a currency at the given time, by meter.
func (s store) readSales(ctx context.Context, currency string, at time.Time) (map[uuid.UUID]string, error) {
	rows, err := s.q(ctx).SalesAt(ctx, metersql.SalesAtParams{Currency: currency, At: at})
	if err != nil {
		return nil, sqldb.Wrap(err, "read sales")
	}
	sold := make(map[uuid.UUID]string, len(rows))
	for _, row := range rows {
		sold[row.MeterID] = *row.PSPPriceID
	}
	return sold, nil
}

// meterOfPrice returns the meter that is or was linked to a price of the provider, or
// errNeverLinked.
func (s store) meterOfPrice(ctx context.Context, pspPriceID string) (uuid.UUID, error) {
	id, err := s.q(ctx).MeterOfPrice(ctx, pspPriceID)
	return id, sqldb.WrapAbsent(err, "read the meter of a price", errNeverLinked)
}

// codeOf returns the code of a meter, even a deleted one.
func (s store) codeOf(ctx context.Context, id uuid.UUID) (string, error) {
	code, err := s.q(ctx).CodeOfMeter(ctx, id)
	return code, sqldb.WrapAbsent(err, "read code of a meter", errNoSuchMeter)
}
