package pricelist

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// applyMeters applies the meters, which are matched by code.
func (a *applier) applyMeters(ctx context.Context, wanted []MeterData) error {
	if len(wanted) == 0 {
		return nil
	}
	stored, err := a.meters.All(ctx)
	if err != nil {
		return err
	}
	byCode := make(map[string]meters.Entry, len(stored))
	for _, e := range stored {
		byCode[e.Code] = e
	}
	for _, data := range wanted {
		old, exists := byCode[data.Code]
		if exists {
			err = a.updateMeter(ctx, old, data)
		} else {
			a.changes.Add("meter", data.Code)
			_, err = a.meters.Create(ctx, a.withImported(meters.Entry{}, data))
		}
		if err != nil {
			return &RefusalError{"meter " + data.Code, err}
		}
	}
	return nil
}

// pruneMeters deletes the meters that are missing from the file.
func (a *applier) pruneMeters(ctx context.Context, wanted []MeterData) error {
	stored, err := a.meters.All(ctx)
	if err != nil {
		return err
	}
	for _, e := range stored {
		if slices.ContainsFunc(wanted, func(data MeterData) bool { return data.Code == e.Code }) {
			continue
		}
		a.changes.Remove("meter", e.Code)
		if err := a.meters.Delete(ctx, e.ID); err != nil {
			return &RefusalError{"meter " + e.Code, err}
		}
	}
	return nil
}

// updateMeter updates a meter if it differs from the file. It does not touch an unchanged meter,
// because locking it would block recording usage on it.
func (a *applier) updateMeter(ctx context.Context, old meters.Entry, data MeterData) error {
	d := meterDifferences(old, a.withImported(old, data))
	if d.IsEmpty() {
		return nil
	}
	_, err := a.meters.Update(ctx, old.ID, func(e meters.Entry) meters.Entry {
		next := a.withImported(e, data)
		a.changes.Change("meter", data.Code, meterDifferences(e, next))
		return next
	})
	return err
}

// withImported returns e with the imported values.
func (a *applier) withImported(e meters.Entry, data MeterData) meters.Entry {
	e.Code, e.Name, e.UnitLabel, e.Active = data.Code, data.Name, data.UnitLabel, boolOrTrue(data.IsActive)
	e.Aggregation, e.Reset = usage.Aggregation(data.AggregationType), usage.ResetInterval(data.ResetInterval)
	e.Enforcement = usage.Enforcement(data.QuotaEnforcement)
	var set []meters.PriceTerms
	for _, p := range e.Prices {
		if _, named := data.Prices[p.Currency]; !named && !a.prune {
			set = append(set, meters.PriceTerms{Currency: p.Currency, UnitPrice: p.UnitPrice})
		}
	}
	for _, code := range slices.Sorted(maps.Keys(data.Prices)) {
		p := data.Prices[code]
		set = append(set, meters.PriceTerms{
			Currency: code, UnitPrice: p.UnitPrice, LinkGiven: p.Link.Given, PSPPriceID: p.Link.PSPPriceID,
		})
	}
	e.SetPrices(set)
	slices.SortFunc(e.Prices, func(a, b meters.Price) int { return cmp.Compare(a.Currency, b.Currency) })
	return e
}

func meterDifferences(old, next meters.Entry) Differences {
	var d Differences
	d.Text("name", old.Name, next.Name)
	d.Field("aggregation_type", string(old.Aggregation), string(next.Aggregation))
	d.Field("reset_interval", string(old.Reset), string(next.Reset))
	d.Field("quota_enforcement", string(old.Enforcement), string(next.Enforcement))
	d.Text("unit_label", deref(old.UnitLabel), deref(next.UnitLabel))
	d.Bool("is_active", old.Active, next.Active)
	price := func(e meters.Entry, code string) (cents string, link *string) {
		for _, p := range e.Prices {
			if p.Currency == code {
				return p.UnitPrice.String(), p.PSPPriceID
			}
		}
		return "", nil
	}
	codes := map[string]bool{}
	for _, p := range slices.Concat(old.Prices, next.Prices) {
		codes[p.Currency] = true
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		before, linked := price(old, code)
		after, link := price(next, code)
		d.Field("prices."+code, before, after)
		d.Link("prices."+code, linked, link)
	}
	return d
}
