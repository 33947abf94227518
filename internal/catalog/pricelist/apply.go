package pricelist

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
)

// applier is one run of Apply.
type applier struct {
	*Service
	prune   bool
	changes Changes
}

// applyCatalog applies everything except meters and packs, under the catalog lock.
func (a *applier) applyCatalog(ctx context.Context, c Catalog) error {
	return a.catalog.Change(ctx, func(ctx context.Context, _ time.Time) error {
		for _, data := range c.Currencies {
			if err := a.applyCurrency(ctx, data); err != nil {
				return &RefusalError{"currency " + data.Code, err}
			}
		}
		for _, data := range c.Features {
			if err := a.applyFeature(ctx, data); err != nil {
				return &RefusalError{"feature " + data.Code, err}
			}
		}
		if err := a.checkReferences(ctx, c); err != nil {
			return err
		}
		var plans []productPlan
		for _, data := range c.Products {
			product, err := a.applyProduct(ctx, data)
			if err != nil {
				return &RefusalError{"product " + data.Slug, err}
			}
			for _, plan := range data.Plans {
				plans = append(plans, productPlan{product, plan})
			}
		}
		// Apply the default plan last, because another plan can be the default until it is updated.
		slices.SortStableFunc(plans, func(a, b productPlan) int {
			switch {
			case a.data.IsDefault == b.data.IsDefault:
				return 0
			case a.data.IsDefault:
				return 1
			default:
				return -1
			}
		})
		for _, plan := range plans {
			if err := a.applyPlan(ctx, plan.product, plan.data); err != nil {
				return &RefusalError{"plan " + plan.data.Slug, err}
			}
		}
		if a.prune {
			if err := a.removeUnnamed(ctx, c); err != nil {
				return err
			}
		}
		if err := a.catalog.CheckTrialsWithoutCard(ctx); err != nil {
			return &RefusalError{"default plan", err}
		}
		return nil
	})
}

// productPlan is a plan of the file with its product.
type productPlan struct {
	product catalog.Product
	data    PlanData
}

// checkReferences checks that the currencies and features that c refers to exist.
func (a *applier) checkReferences(ctx context.Context, c Catalog) error {
	currencies, err := a.catalog.Currencies(ctx)
	if err != nil {
		return err
	}
	features, err := a.catalog.AllFeatures(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, currency := range currencies {
		known["currency "+currency.Code] = true
	}
	for _, f := range features {
		known["feature "+f.Code] = true
	}
	broken := problems{lines: c.lines}
	check := func(path, kind, key string) {
		if !known[kind+" "+key] {
			broken.fail(path+"."+key, "is an unknown %s", kind)
		}
	}
	for i, product := range c.Products {
		for j, plan := range product.Plans {
			path := fmt.Sprintf("products[%d].plans[%d]", i, j)
			for _, code := range slices.Sorted(maps.Keys(plan.Prices)) {
				check(path+".prices", "currency", code)
			}
			for _, code := range slices.Sorted(maps.Keys(plan.Entitlements)) {
				check(path+".entitlements", "feature", code)
			}
		}
	}
	for i, p := range c.Packs {
		for _, code := range slices.Sorted(maps.Keys(p.Prices)) {
			check(fmt.Sprintf("packs[%d].prices", i), "currency", code)
		}
	}
	for i, meter := range c.Meters {
		for _, code := range slices.Sorted(maps.Keys(meter.Prices)) {
			check(fmt.Sprintf("meters[%d].prices", i), "currency", code)
		}
	}
	return broken.err()
}

func (a *applier) applyCurrency(ctx context.Context, data CurrencyData) error {
	wanted := catalog.Currency{
		Code: data.Code, Name: data.Name, Symbol: data.Symbol, MinorUnits: data.MinorUnits, IsActive: boolOrTrue(data.IsActive),
	}
	old, err := a.catalog.Currency(ctx, data.Code)
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		a.changes.Add("currency", data.Code)
		return a.currencies.Create(ctx, wanted)
	case err != nil:
		return err
	}
	var d Differences
	d.Text("name", old.Name, wanted.Name)
	d.Text("symbol", old.Symbol, wanted.Symbol)
	d.number("minor_units", old.MinorUnits, wanted.MinorUnits)
	d.Bool("is_active", old.IsActive, wanted.IsActive)
	if a.changes.Change("currency", data.Code, d) {
		_, err = a.currencies.Update(ctx, data.Code, func(catalog.Currency) catalog.Currency { return wanted })
	}
	return err
}

func (a *applier) applyFeature(ctx context.Context, data FeatureData) error {
	set := func(f *catalog.Feature) {
		f.Code, f.Name, f.Description = data.Code, catalog.Text(data.Name), catalog.Text(data.Description)
		f.IsActive, f.SortOrder, f.Metadata = boolOrTrue(data.IsActive), data.SortOrder, data.Metadata.column()
	}
	old, err := a.catalog.FeatureByCode(ctx, data.Code)
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		var f catalog.Feature
		set(&f)
		a.changes.Add("feature", data.Code)
		_, err = a.catalog.CreateFeature(ctx, f)
		return err
	case err != nil:
		return err
	}
	was, err := featureData(old)
	if err != nil {
		return err
	}
	var d Differences
	d.locales("name", was.Name, data.Name)
	d.locales("description", was.Description, data.Description)
	d.Bool("is_active", old.IsActive, boolOrTrue(data.IsActive))
	d.number("sort_order", was.SortOrder, data.SortOrder)
	d.Field("metadata", string(was.Metadata), string(data.Metadata))
	if a.changes.Change("feature", data.Code, d) {
		_, err = a.catalog.UpdateFeature(ctx, old.ID, set)
	}
	return err
}

func (a *applier) applyProduct(ctx context.Context, data ProductData) (catalog.Product, error) {
	set := func(p *catalog.Product) {
		p.Slug, p.Name, p.Description = data.Slug, catalog.Text(data.Name), catalog.Text(data.Description)
		p.IsActive, p.Metadata = boolOrTrue(data.IsActive), data.Metadata.column()
	}
	old, err := a.catalog.ProductBySlug(ctx, data.Slug)
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		var p catalog.Product
		set(&p)
		a.changes.Add("product", data.Slug)
		return a.catalog.CreateProduct(ctx, p)
	case err != nil:
		return catalog.Product{}, err
	}
	was, err := productData(old)
	if err != nil {
		return catalog.Product{}, err
	}
	var d Differences
	d.locales("name", was.Name, data.Name)
	d.locales("description", was.Description, data.Description)
	d.Bool("is_active", old.IsActive, boolOrTrue(data.IsActive))
	d.Field("metadata", string(was.Metadata), string(data.Metadata))
	if a.changes.Change("product", data.Slug, d) {
		return a.catalog.UpdateProduct(ctx, old.ID, set)
	}
	return old, nil
}

// removeUnnamed deletes the plans, products and features that are missing from c. It returns a
// *RefusalError for a record that is in use.
func (a *applier) removeUnnamed(ctx context.Context, c Catalog) error {
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
	plans, err := a.catalog.AllPlans(ctx)
	if err != nil {
		return err
	}
	products, err := a.catalog.AllProducts(ctx)
	if err != nil {
		return err
	}
	features, err := a.catalog.AllFeatures(ctx)
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
		if err := remove("plan", p.Slug, p.ID, a.catalog.DeletePlan); err != nil {
			return err
		}
	}
	for _, p := range products {
		if err := remove("product", p.Slug, p.ID, a.catalog.DeleteProduct); err != nil {
			return err
		}
	}
	for _, f := range features {
		if f.IsSystem {
			continue
		}
		if err := remove("feature", f.Code, f.ID, a.catalog.DeleteFeature); err != nil {
			return err
		}
	}
	return nil
}
