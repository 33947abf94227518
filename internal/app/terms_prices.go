package app

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// decodePriceIDs returns the provider's prices of stored metered items, or nil if they are unknown.
func decodePriceIDs(text sqldb.JSON) ([]string, error) {
	if text == nil {
		return nil, nil
	}
	var items []psp.MeteredItem
	if err := json.Unmarshal(text, &items); err != nil {
		return nil, fmt.Errorf("decode metered items: %w", err)
	}
	return pricesOf(items), nil
}

// Prices returns the unit prices of the meters that the plans of tenants bill, by tenant and meter.
// It uses the subscription's prices at the provider. If they are unknown, it uses the linked prices
// in the currency of the subscription.
func (a allowances) Prices(ctx context.Context, allowances map[uuid.UUID]usage.Allowance) (map[uuid.UUID]map[uuid.UUID]money.UnitPrice, error) {
	byID, byCurrency := map[string]meterPrices{}, map[string]meterPrices{}
	for _, one := range allowances {
		switch {
		case !one.BillsUsage:
		case one.PriceIDs == nil:
			byCurrency[one.Currency] = meterPrices{}
		default:
			for _, id := range one.PriceIDs {
				byID[id] = meterPrices{}
			}
		}
	}
	var queries []sqldb.Query
	if len(byID) > 0 {
		queries = append(queries, priceQuery(a.db, `SELECT psp_price_id, meter_id, unit_price_cents FROM meter_links WHERE psp_price_id `, byID))
	}
	if len(byCurrency) > 0 {
		queries = append(queries, priceQuery(a.db, `SELECT currency, meter_id, unit_price_cents FROM meter_prices WHERE psp_price_id IS NOT NULL AND currency `, byCurrency))
	}
	found := map[uuid.UUID]map[uuid.UUID]money.UnitPrice{}
	if len(queries) == 0 {
		return found, nil
	}
	if err := a.db.QueryAll(ctx, queries...); err != nil {
		return nil, err
	}
	for id, one := range allowances {
		if one.BillsUsage && one.PriceIDs == nil {
			found[id] = byCurrency[one.Currency]
			continue
		}
		prices := meterPrices{}
		for _, price := range one.PriceIDs {
			for meter, unit := range byID[price] {
				prices[meter] = unit
			}
		}
		found[id] = prices
	}
	return found, nil
}

// meterPrices are unit prices by meter.
type meterPrices = map[uuid.UUID]money.UnitPrice

// priceQuery fills found with the prices of its keys. found must not be empty.
func priceQuery(db *sqldb.DB, text string, found map[string]meterPrices) sqldb.Query {
	keys := make([]string, 0, len(found))
	for key := range found {
		keys = append(keys, key)
	}
	among, args := sqldb.InCondition(db, 1, "text", keys)
	return sqldb.Query{
		Doing: "read prices of usage", Text: text + among, Args: args,
		Row: func(scan func(...any) error) error {
			var key, cents string
			var meter uuid.UUID
			if err := scan(&key, &meter, &cents); err != nil {
				return err
			}
			unit, err := money.ParseUnitPrice(cents)
			found[key][meter] = unit
			return err
		},
	}
}
