package usage

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/tenantry/tenantry/internal/catalog"
)

// ExportMeters reads the meters that are not deleted as a catalog's data, by
// code.
func (s *Service) ExportMeters(ctx context.Context) ([]catalog.MeterData, error) {
	entries, err := s.store.allMeters(ctx)
	if err != nil {
		return nil, err
	}
	meters := make([]catalog.MeterData, len(entries))
	for i, e := range entries {
		meters[i] = catalog.MeterData{
			Code: e.Code, Name: e.Name, AggregationType: string(e.Aggregation), ResetInterval: string(e.Reset),
			QuotaEnforcement: string(e.Enforcement), UnitLabel: e.UnitLabel, IsActive: catalog.Switch(e.Active),
			Prices: map[string]catalog.UnitPriceData{},
		}
		for _, p := range e.Prices {
			meters[i].Prices[p.Currency] = catalog.UnitPriceData{UnitPrice: p.UnitPrice, Link: catalog.LinkTo(p.PSPPriceID)}
		}
	}
	return meters, nil
}

// ApplyMeters brings the meters of a catalog into the database, as catalog.Apply
// does with the rest of it: under their codes, by the rules of the
// administration. Meters and prices that are not named stay, unless prune says
// that they go.
func (s *Service) ApplyMeters(ctx context.Context, meters []catalog.MeterData, prune bool) (catalog.Changes, error) {
	var changes catalog.Changes
	err := s.store.db.Tx(ctx, func(ctx context.Context) error {
		changes = nil
		named := map[string]bool{}
		for _, m := range meters {
			named[m.Code] = true
			if err := s.applyMeter(ctx, m, prune, &changes); err != nil {
				return &catalog.RefusalError{Record: "meter " + m.Code, Err: err}
			}
		}
		if !prune {
			return nil
		}
		entries, err := s.store.allMeters(ctx)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if named[e.Code] {
				continue
			}
			changes.Remove("meter", e.Code)
			if err := s.DeleteMeter(ctx, e.ID); err != nil {
				return &catalog.RefusalError{Record: "meter " + e.Code, Err: err}
			}
		}
		return nil
	})
	return changes, err
}

func (s *Service) applyMeter(ctx context.Context, m catalog.MeterData, prune bool, changes *catalog.Changes) error {
	found, exists, err := s.store.meter(ctx, m.Code)
	switch {
	case err != nil:
		return err
	case !exists:
		changes.Add("meter", m.Code)
		_, err := s.CreateMeter(ctx, become(MeterEntry{}, m, prune))
		return err
	}
	old, err := s.store.meterEntry(ctx, found.ID)
	if err != nil {
		return err
	}
	d := differences(old, become(old, m, prune))
	if d.None() { // the meter is not locked without need: that keeps everybody from recording
		return nil
	}
	_, err = s.UpdateMeter(ctx, found.ID, func(e MeterEntry) MeterEntry {
		next := become(e, m, prune)
		changes.Change("meter", m.Code, differences(e, next))
		return next
	})
	return err
}

// become is e as a catalog wants it.
func become(e MeterEntry, m catalog.MeterData, prune bool) MeterEntry {
	e.Code, e.Name, e.UnitLabel, e.Active = m.Code, m.Name, m.UnitLabel, m.Active()
	e.Aggregation, e.Reset = Aggregation(m.AggregationType), ResetInterval(m.ResetInterval)
	e.Enforcement = Enforcement(m.QuotaEnforcement)
	var set []PriceTerms
	for _, p := range e.Prices {
		if _, named := m.Prices[p.Currency]; !named && !prune {
			set = append(set, PriceTerms{Currency: p.Currency, UnitPrice: p.UnitPrice})
		}
	}
	for _, code := range slices.Sorted(maps.Keys(m.Prices)) {
		p := m.Prices[code]
		set = append(set, PriceTerms{
			Currency: code, UnitPrice: p.UnitPrice, LinkGiven: p.Link.Given, PSPPriceID: p.Link.PSPPriceID,
		})
	}
	e.SetPrices(set)
	slices.SortFunc(e.Prices, func(a, b MeterPrice) int { return cmp.Compare(a.Currency, b.Currency) })
	return e
}

func differences(old, next MeterEntry) catalog.Differences {
	text := func(t *string) string {
		if t == nil {
			return ""
		}
		return *t
	}
	var d catalog.Differences
	d.Text("name", old.Name, next.Name)
	d.Field("aggregation_type", string(old.Aggregation), string(next.Aggregation))
	d.Field("reset_interval", string(old.Reset), string(next.Reset))
	d.Field("quota_enforcement", string(old.Enforcement), string(next.Enforcement))
	d.Text("unit_label", text(old.UnitLabel), text(next.UnitLabel))
	d.Bool("is_active", old.Active, next.Active)
	price := func(e MeterEntry, code string) (cents string, link *string) {
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
