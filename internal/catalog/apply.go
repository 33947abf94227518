package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// RefusalError says which record of a catalog could not be brought into the database,
// and why.
type RefusalError struct {
	Record string // "plan starter"
	Err    error
}

// Error names the record and the reason, for the log.
func (r *RefusalError) Error() string { return r.Record + ": " + r.Err.Error() }

// Unwrap gives the reason.
func (r *RefusalError) Unwrap() error { return r.Err }

// Apply brings c into the database in one transaction, or that of ctx, by the
// rules of the administration: what is missing is created, what differs is
// changed and keeps its id. It tells what it has changed: nothing when it is
// applied again. What c does not name stays, unless prune says that it goes;
// currencies, the payment provider's products and what the service relies on stay
// in any case. Meters are left to the usage domain.
//
// The error is a *ProblemError, or several, where c refers to a currency or feature
// that there is not, and a *RefusalError where a rule forbids a change.
func (s *Service) Apply(ctx context.Context, c Catalog, prune bool) (Changes, error) {
	var changes Changes
	err := s.change(ctx, func(ctx context.Context, _ time.Time) error {
		a := applier{Service: s, prune: prune}
		err := a.apply(ctx, c)
		changes = a.changes
		return err
	})
	return changes, err
}

// applier is one run of Apply.
type applier struct {
	*Service
	prune   bool
	changes Changes
}

func (a *applier) apply(ctx context.Context, c Catalog) error {
	for _, currency := range c.Currencies {
		if err := a.currency(ctx, currency); err != nil {
			return &RefusalError{"currency " + currency.Code, err}
		}
	}
	for _, f := range c.Features {
		if err := a.feature(ctx, f); err != nil {
			return &RefusalError{"feature " + f.Code, err}
		}
	}
	if err := a.checkReferences(ctx, c); err != nil {
		return err
	}
	for _, p := range c.Products {
		product, err := a.product(ctx, p)
		if err != nil {
			return &RefusalError{"product " + p.Slug, err}
		}
		for _, plan := range p.Plans {
			if err := a.plan(ctx, product, plan); err != nil {
				return &RefusalError{"plan " + plan.Slug, err}
			}
		}
	}
	if a.prune {
		return a.removeOthers(ctx, c)
	}
	return nil
}

// checkReferences holds that there are the currencies and features that c names.
func (a *applier) checkReferences(ctx context.Context, c Catalog) error {
	currencies, err := a.store.currencies(ctx)
	if err != nil {
		return err
	}
	features, err := a.store.features(ctx)
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
			broken.fail(path+"."+key, "is a %s that there is neither in the file nor in the database", kind)
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
	for i, meter := range c.Meters {
		for _, code := range slices.Sorted(maps.Keys(meter.Prices)) {
			check(fmt.Sprintf("meters[%d].prices", i), "currency", code)
		}
	}
	return broken.err()
}

func (a *applier) currency(ctx context.Context, data CurrencyData) error {
	wanted := Currency{
		Code: data.Code, Name: data.Name, Symbol: data.Symbol, MinorUnits: data.MinorUnits, IsActive: active(data.IsActive),
	}
	old, err := a.store.currency(ctx, data.Code)
	switch {
	case errors.Is(err, ErrNotFound):
		a.changes.Add("currency", data.Code)
		return a.CreateCurrency(ctx, wanted)
	case err != nil:
		return err
	}
	var d Differences
	d.Text("name", old.Name, wanted.Name)
	d.Text("symbol", old.Symbol, wanted.Symbol)
	d.number("minor_units", old.MinorUnits, wanted.MinorUnits)
	d.Bool("is_active", old.IsActive, wanted.IsActive)
	if a.changes.Change("currency", data.Code, d) {
		_, err = a.UpdateCurrency(ctx, data.Code, func(Currency) Currency { return wanted })
	}
	return err
}

func (a *applier) feature(ctx context.Context, data FeatureData) error {
	set := func(f *Feature) {
		f.Code, f.Name, f.Description = data.Code, data.Name, data.Description
		f.IsActive, f.Metadata = active(data.IsActive), data.Metadata.column()
	}
	old, err := a.store.featureByCode(ctx, data.Code)
	switch {
	case errors.Is(err, ErrNotFound):
		var f Feature
		set(&f)
		a.changes.Add("feature", data.Code)
		_, err = a.CreateFeature(ctx, f)
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
	d.Bool("is_active", old.IsActive, active(data.IsActive))
	d.Field("metadata", string(was.Metadata), string(data.Metadata))
	if a.changes.Change("feature", data.Code, d) {
		_, err = a.UpdateFeature(ctx, old.ID, set)
	}
	return err
}

func (a *applier) product(ctx context.Context, data ProductData) (Product, error) {
	set := func(p *Product) {
		p.Slug, p.Name, p.Description = data.Slug, data.Name, data.Description
		p.IsActive, p.Metadata = active(data.IsActive), data.Metadata.column()
	}
	old, err := a.store.productBySlug(ctx, data.Slug)
	switch {
	case errors.Is(err, ErrNotFound):
		var p Product
		set(&p)
		a.changes.Add("product", data.Slug)
		return a.CreateProduct(ctx, p)
	case err != nil:
		return Product{}, err
	}
	was, err := productData(old)
	if err != nil {
		return Product{}, err
	}
	var d Differences
	d.locales("name", was.Name, data.Name)
	d.locales("description", was.Description, data.Description)
	d.Bool("is_active", old.IsActive, active(data.IsActive))
	d.Field("metadata", string(was.Metadata), string(data.Metadata))
	if a.changes.Change("product", data.Slug, d) {
		return a.UpdateProduct(ctx, old.ID, set)
	}
	return old, nil
}

// active reads a switch that is on unless it is turned off.
func active(is *bool) bool { return is == nil || *is }

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
