package pricelist

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/money"
)

// applyPacks applies the packs, which are matched by slug. Their meters must exist already.
func (a *applier) applyPacks(ctx context.Context, wanted []PackData) error {
	for _, data := range wanted {
		if err := a.applyPack(ctx, data); err != nil {
			return &RefusalError{"pack " + data.Slug, err}
		}
	}
	if !a.prune {
		return nil
	}
	stored, err := a.packs.All(ctx)
	if err != nil {
		return err
	}
	for _, p := range stored {
		if slices.ContainsFunc(wanted, func(data PackData) bool { return data.Slug == p.Slug }) {
			continue
		}
		a.changes.Remove("pack", p.Slug)
		if err := a.packs.Delete(ctx, p.ID); err != nil {
			return &RefusalError{"pack " + p.Slug, err}
		}
	}
	return nil
}

func (a *applier) applyPack(ctx context.Context, data PackData) error {
	set := func(p *pack.Pack) {
		p.Slug, p.Name, p.Description = data.Slug, catalog.Text(data.Name), catalog.Text(data.Description)
		p.FeatureCode, p.Amount, p.ExpiresAfterDays = data.FeatureCode, money.Quantity(data.Amount), data.ExpiresAfterDays
		p.IsActive = boolOrTrue(data.IsActive)
		var prices []pack.Price
		for _, price := range p.Prices {
			if _, named := data.Prices[price.Currency]; !named && !a.prune {
				prices = append(prices, price)
			}
		}
		for _, code := range slices.Sorted(maps.Keys(data.Prices)) {
			prices = append(prices, pack.Price{Currency: code, PriceCents: data.Prices[code]})
		}
		p.SetPrices(prices)
	}
	old, err := a.packs.BySlug(ctx, data.Slug)
	if errors.Is(err, catalog.ErrNotFound) {
		var p pack.Pack
		set(&p)
		a.changes.Add("pack", data.Slug)
		_, err = a.packs.Create(ctx, p)
		return err
	}
	if err != nil {
		return err
	}
	next := old
	set(&next)
	if a.changes.Change("pack", data.Slug, packDifferences(packData(old), packData(next))) {
		_, err = a.packs.Update(ctx, old.ID, set)
	}
	return err
}

func packDifferences(old, next PackData) Differences {
	var d Differences
	d.locales("name", old.Name, next.Name)
	d.locales("description", old.Description, next.Description)
	d.Field("feature_code", old.FeatureCode, next.FeatureCode)
	d.Field("amount", money.Quantity(old.Amount).String(), money.Quantity(next.Amount).String())
	days := func(p PackData) string {
		if p.ExpiresAfterDays == nil {
			return ""
		}
		return strconv.Itoa(int(*p.ExpiresAfterDays))
	}
	d.Field("expires_after_days", days(old), days(next))
	d.Bool("is_active", boolOrTrue(old.IsActive), boolOrTrue(next.IsActive))
	codes := maps.Clone(old.Prices)
	maps.Copy(codes, next.Prices)
	price := func(p PackData, code string) string {
		if cents, ok := p.Prices[code]; ok {
			return strconv.FormatInt(cents, 10)
		}
		return ""
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		d.Field("prices."+code, price(old, code), price(next, code))
	}
	return d
}

func packData(p pack.Pack) PackData {
	data := PackData{
		Slug: p.Slug, Name: Text(p.Name), Description: Text(p.Description), FeatureCode: p.FeatureCode, Amount: quantity(p.Amount),
		ExpiresAfterDays: p.ExpiresAfterDays, IsActive: BoolOrNil(p.IsActive), Prices: map[string]int64{},
	}
	for _, price := range p.Prices {
		data.Prices[price.Currency] = price.PriceCents
	}
	return data
}
