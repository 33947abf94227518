package pricelist

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
)

func (a *applier) applyPlan(ctx context.Context, product catalog.Product, data PlanData) error {
	set := func(p *catalog.Plan) {
		p.Product.ID = product.ID
		p.Slug, p.Name, p.Description = data.Slug, catalog.Text(data.Name), catalog.Text(data.Description)
		p.PricingType, p.BillingCycle, p.Interval = data.PricingType, data.BillingCycle, data.Interval()
		p.TrialDays, p.CardForTrial, p.SortOrder = data.TrialDays, boolOrTrue(data.TrialRequiresCard), data.SortOrder
		p.IsActive, p.IsDefault, p.Metadata = boolOrTrue(data.IsActive), data.IsDefault, data.Metadata.column()
	}
	old, err := a.catalog.PlanBySlug(ctx, data.Slug)
	isNew := errors.Is(err, catalog.ErrNotFound)
	switch {
	case isNew:
		set(&old)
		old.IsDefault, old.CardForTrial = false, true // set together with the prices
		a.changes.Add("plan", data.Slug)
		if old, err = a.catalog.CreatePlan(ctx, old); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	was, err := planData(old)
	if err != nil {
		return err
	}
	next := old
	set(&next)
	var d Differences
	d.Field("product", old.Product.Slug, product.Slug)
	d.locales("name", was.Name, data.Name)
	d.locales("description", was.Description, data.Description)
	d.Field("pricing_type", string(was.PricingType), string(data.PricingType))
	d.Field("billing_cycle", was.BillingCycle, data.BillingCycle)
	d.Field("interval_unit", old.Interval.Unit, next.Interval.Unit)
	d.number("interval_count", old.Interval.Count, next.Interval.Count)
	d.number("trial_days", was.TrialDays, data.TrialDays)
	d.Bool("trial_requires_card", old.CardForTrial, next.CardForTrial)
	d.Bool("is_default", old.IsDefault, next.IsDefault)
	d.number("sort_order", was.SortOrder, data.SortOrder)
	d.Bool("is_active", old.IsActive, next.IsActive)
	d.Field("metadata", string(was.Metadata), string(data.Metadata))

	prices := a.prices(old, data)
	d.prices(old.Prices, catalog.ResolvePrices(old, next, &prices))
	entitlements, err := a.entitlements(ctx, &d, old, data)
	if err != nil || d.IsEmpty() {
		return err
	}
	if !isNew {
		a.changes.Change("plan", data.Slug, d)
	}
	_, err = a.catalog.UpdatePlan(ctx, old.ID, catalog.PlanChange{
		Fields: set, Prices: &prices, Entitlements: &entitlements, IsPart: true,
	})
	return err
}

// prices returns the prices to set for a plan: the prices in the file and, unless prune is set, the
// existing prices that are not in the file.
func (a *applier) prices(old catalog.Plan, data PlanData) []catalog.PriceTerms {
	var set []catalog.PriceTerms
	for _, p := range old.Prices {
		if _, named := data.Prices[p.Currency]; !named && !a.prune {
			set = append(set, catalog.PriceTerms{Currency: p.Currency, PriceCents: p.PriceCents})
		}
	}
	for _, code := range slices.Sorted(maps.Keys(data.Prices)) {
		p := data.Prices[code]
		set = append(set, catalog.PriceTerms{
			Currency: code, PriceCents: p.PriceCents, LinkGiven: p.Link.Given, PSPPriceID: p.Link.PSPPriceID,
		})
	}
	return set
}

func (d *Differences) prices(old, wanted []catalog.Price) {
	amount := func(prices []catalog.Price, code string) (cents string, link *string) {
		for _, p := range prices {
			if p.Currency == code {
				return strconv.FormatInt(p.PriceCents, 10), p.PSPPriceID
			}
		}
		return "", nil
	}
	codes := map[string]bool{}
	for _, p := range slices.Concat(old, wanted) {
		codes[p.Currency] = true
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		before, linked := amount(old, code)
		after, link := amount(wanted, code)
		d.Field("prices."+code, before, after)
		d.Link("prices."+code, linked, link)
	}
}

// entitlements returns the entitlements to set for a plan: the entitlements in the file and, unless
// prune is set, the existing entitlements that are not in the file. It adds the differences to d.
func (a *applier) entitlements(ctx context.Context, d *Differences, old catalog.Plan, data PlanData) ([]catalog.EntitlementTerms, error) {
	grants := map[string]Grant{}
	ids := map[string]uuid.UUID{}
	before := map[string]string{}
	for _, e := range old.Entitlements {
		code := e.Feature.Code
		ids[code], before[code] = e.Feature.ID, Grant{e.Value}.String()
		if !a.prune {
			grants[code] = Grant{e.Value}
		}
	}
	maps.Copy(grants, data.Entitlements)
	for _, code := range slices.Sorted(maps.Keys(before)) {
		if _, stays := grants[code]; !stays {
			d.Field("entitlements."+code, before[code], "")
		}
	}
	var set []catalog.EntitlementTerms
	for _, code := range slices.Sorted(maps.Keys(grants)) {
		grant := grants[code]
		d.Field("entitlements."+code, before[code], grant.String())
		if _, known := ids[code]; !known {
			feature, err := a.catalog.FeatureByCode(ctx, code)
			if err != nil {
				return nil, fmt.Errorf("entitlement %s: %w", code, err)
			}
			ids[code] = feature.ID
		}
		set = append(set, catalog.EntitlementTerms{FeatureID: ids[code], Type: grant.Type(), Value: grant.Quota})
	}
	return set, nil
}

// String formats the grant as in a file.
func (g Grant) String() string {
	if g.Quota == nil {
		return "true"
	}
	return strconv.FormatInt(*g.Quota, 10)
}
