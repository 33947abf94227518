package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"
)

func (a *applier) plan(ctx context.Context, product Product, data PlanData) error {
	set := func(p *Plan) {
		p.Product.ID = product.ID
		p.Slug, p.Name, p.Description = data.Slug, data.Name, data.Description
		p.PricingType, p.BillingCycle, p.Interval = data.PricingType, data.BillingCycle, data.interval()
		p.TrialDays, p.SortOrder = data.TrialDays, data.SortOrder
		p.IsActive, p.Metadata = active(data.IsActive), data.Metadata.column()
	}
	old, err := a.store.planBySlug(ctx, data.Slug)
	isNew := errors.Is(err, ErrNotFound)
	switch {
	case isNew:
		set(&old)
		a.changes.Add("plan", data.Slug)
		if old, err = a.CreatePlan(ctx, old); err != nil {
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
	d.number("sort_order", was.SortOrder, data.SortOrder)
	d.Bool("is_active", old.IsActive, next.IsActive)
	d.Field("metadata", string(was.Metadata), string(data.Metadata))

	prices := a.prices(old, data)
	d.prices(old.Prices, resolvePrices(old, next, &prices))
	entitlements, err := a.entitlements(ctx, &d, old, data)
	if err != nil || d.None() {
		return err
	}
	if !isNew {
		a.changes.Change("plan", data.Slug, d)
	}
	_, err = a.UpdatePlan(ctx, old.ID, PlanChange{Fields: set, Prices: &prices, Entitlements: &entitlements})
	return err
}

// prices is the set that a plan is to have: that of the file, and what it does
// not name.
func (a *applier) prices(old Plan, data PlanData) []PriceTerms {
	var set []PriceTerms
	for _, p := range old.Prices {
		if _, named := data.Prices[p.Currency]; !named && !a.prune {
			set = append(set, PriceTerms{Currency: p.Currency, PriceCents: p.PriceCents})
		}
	}
	for _, code := range slices.Sorted(maps.Keys(data.Prices)) {
		p := data.Prices[code]
		set = append(set, PriceTerms{
			Currency: code, PriceCents: p.PriceCents, LinkGiven: p.Link.Given, PSPPriceID: p.Link.PSPPriceID,
		})
	}
	return set
}

func (d *Differences) prices(old, wanted []Price) {
	amount := func(prices []Price, code string) (cents string, link *string) {
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

// entitlements is the set that a plan is to have: that of the file, and what it
// does not name. It notes what differs.
func (a *applier) entitlements(ctx context.Context, d *Differences, old Plan, data PlanData) ([]EntitlementTerms, error) {
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
	var set []EntitlementTerms
	for _, code := range slices.Sorted(maps.Keys(grants)) {
		grant := grants[code]
		d.Field("entitlements."+code, before[code], grant.String())
		if _, known := ids[code]; !known {
			feature, err := a.store.featureByCode(ctx, code)
			if err != nil {
				return nil, fmt.Errorf("entitlement %s: %w", code, err)
			}
			ids[code] = feature.ID
		}
		set = append(set, EntitlementTerms{FeatureID: ids[code], Type: grant.Type(), Value: grant.Quota})
	}
	return set, nil
}

// String is the grant as a file has it.
func (g Grant) String() string {
	if g.Quota == nil {
		return "true"
	}
	return strconv.FormatInt(*g.Quota, 10)
}

// removeOthers deletes what c does not name, as far as nobody relies on it.
func (a *applier) removeOthers(ctx context.Context, c Catalog) error {
	named := map[string]bool{}
	for _, f := range c.Features {
		named["feature "+f.Code] = true
	}
	for _, product := range c.Products {
		named["product "+product.Slug] = true
		for _, plan := range product.Plans {
			named["plan "+plan.Slug] = true
		}
	}
	plans, err := a.store.plans(ctx)
	if err != nil {
		return err
	}
	products, err := a.store.products(ctx)
	if err != nil {
		return err
	}
	features, err := a.store.features(ctx)
	if err != nil {
		return err
	}
	remove := func(kind, key string, id uuid.UUID, remove func(context.Context, uuid.UUID) error) error {
		if named[kind+" "+key] {
			return nil
		}
		a.changes.Remove(kind, key)
		if err := remove(ctx, id); err != nil {
			return &RefusalError{kind + " " + key, err}
		}
		return nil
	}
	for _, p := range plans {
		if err := remove("plan", p.Slug, p.ID, a.DeletePlan); err != nil {
			return err
		}
	}
	for _, p := range products {
		if err := remove("product", p.Slug, p.ID, a.DeleteProduct); err != nil {
			return err
		}
	}
	for _, f := range features {
		if f.IsSystem {
			continue
		}
		if err := remove("feature", f.Code, f.ID, a.DeleteFeature); err != nil {
			return err
		}
	}
	return nil
}
