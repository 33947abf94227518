package pack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp/charge"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Service reads and changes packs. It is safe for concurrent use.
type Service struct {
	catalog *catalog.Service
	store   store
}

// New returns a Service.
func New(db *sqldb.DB, c *catalog.Service) *Service {
	return &Service{catalog: c, store: store{conn: db.Conn}}
}

// List returns the filters and sort orders of the admin list of packs.
func List() page.Spec {
	var names, texts []string
	for _, locale := range i18n.Locales() {
		names = append(names, "p.name ->> '"+locale+"'")
		texts = append(texts, "p.description ->> '"+locale+"'")
	}
	return page.Spec{
		Filters: map[string]page.Filter{
			"name":           {Kind: page.PartialMatch, Exprs: names},
			"search":         {Kind: page.PartialMatch, Exprs: slices.Concat([]string{"p.slug"}, names, texts)},
			"feature_code":   {Kind: page.ExactMatch, Exprs: []string{"p.feature_code"}},
			"is_active":      {Kind: page.Bool, Exprs: []string{"p.is_active"}},
			"created_after":  {Kind: page.DateFrom, Exprs: []string{"p.created_at"}},
			"created_before": {Kind: page.DateTo, Exprs: []string{"p.created_at"}},
		},
		Sorts:       map[string]string{"created_at": "p.created_at"},
		DefaultSort: "-created_at",
		Tiebreak:    "p.id",
	}
}

// Page returns a page of packs and the number of all matches. q must be parsed by List.
func (s *Service) Page(ctx context.Context, q page.Query) ([]Pack, int64, error) {
	return s.store.page(ctx, q)
}

// All returns the packs that are not deleted, oldest first.
func (s *Service) All(ctx context.Context) ([]Pack, error) { return s.store.packs(ctx) }

// Get returns a pack that is not deleted, or catalog.ErrNotFound.
func (s *Service) Get(ctx context.Context, id uuid.UUID) (Pack, error) { return s.store.pack(ctx, id) }

// BySlug returns the active or inactive pack with the slug, or catalog.ErrNotFound.
func (s *Service) BySlug(ctx context.Context, slug string) (Pack, error) {
	return s.store.packBySlug(ctx, slug)
}

// OnSale returns the active packs with their prices in active currencies, oldest first.
func (s *Service) OnSale(ctx context.Context) ([]Pack, error) {
	packs, err := s.store.packs(ctx)
	if err != nil {
		return nil, err
	}
	packs = slices.DeleteFunc(packs, func(p Pack) bool { return !p.IsActive })
	return packs, s.dropInactivePrices(ctx, packs)
}

// OnSaleBySlug returns the active pack with the slug, with its prices in active currencies, or
// catalog.ErrNotFound.
func (s *Service) OnSaleBySlug(ctx context.Context, slug string) (Pack, error) {
	p, err := s.store.packBySlug(ctx, slug)
	if err == nil && !p.IsActive {
		err = catalog.ErrNotFound
	}
	if err != nil {
		return Pack{}, err
	}
	packs := []Pack{p}
	err = s.dropInactivePrices(ctx, packs)
	return packs[0], err
}

// dropInactivePrices removes the prices in inactive currencies.
func (s *Service) dropInactivePrices(ctx context.Context, packs []Pack) error {
	currencies, err := s.catalog.Currencies(ctx)
	for i := range packs {
		packs[i].Prices = slices.DeleteFunc(packs[i].Prices, func(price Price) bool {
			return !slices.ContainsFunc(currencies, func(c catalog.Currency) bool { return c.Code == price.Currency && c.IsActive })
		})
	}
	return err
}

// NamesMeter reports whether a pack that is not deleted sells units of the meter with the code.
func (s *Service) NamesMeter(ctx context.Context, code string) (bool, error) {
	packs, err := s.store.packs(ctx)
	return slices.ContainsFunc(packs, func(p Pack) bool { return p.FeatureCode == code }), err
}

// Create adds a pack and sets its IDs and times. It returns a 422 error on slug if another pack has
// the slug; on feature_code unless a sum or count meter has the code; and on a price if its
// currency is unknown or repeated, or if the provider cannot charge its amount.
//
// Invariant: the meter of a pack that is not deleted exists and adds up or counts its events. A
// change of a pack locks the meter, and a change of a meter locks the meter before it looks for
// packs.
func (s *Service) Create(ctx context.Context, p Pack) (Pack, error) {
	err := s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		p.ID, p.CreatedAt, p.UpdatedAt = sqldb.NewID(), now, now
		if err := s.check(ctx, p, s.store.lockMeter); err != nil {
			return err
		}
		if err := s.store.insert(ctx, p); err != nil {
			return err
		}
		if err := s.setPrices(ctx, p.ID, nil, p.Prices, now); err != nil {
			return err
		}
		var err error
		if p, err = s.store.pack(ctx, p.ID); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "pack", "created", p.ID, nil, auditFields(p))
	})
	return p, err
}

// Update changes a pack, with the validation of Create.
func (s *Service) Update(ctx context.Context, id uuid.UUID, change func(*Pack)) (Pack, error) {
	var p Pack
	err := s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		old, err := s.store.pack(ctx, id)
		if err != nil {
			return err
		}
		p = old
		change(&p)
		p.UpdatedAt = now
		if err := s.check(ctx, p, s.store.lockMeter); err != nil {
			return err
		}
		if err := s.store.save(ctx, p); err != nil {
			return err
		}
		if err := s.setPrices(ctx, id, old.Prices, p.Prices, now); err != nil {
			return err
		}
		if p, err = s.store.pack(ctx, id); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "pack", "updated", id, auditFields(old), auditFields(p))
	})
	return p, err
}

// Delete deletes a pack. Its row remains for the purchases that refer to it, and its slug becomes
// available. An open checkout can still be paid.
func (s *Service) Delete(ctx context.Context, id uuid.UUID) error {
	return s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		p, err := s.store.pack(ctx, id)
		if err != nil {
			return err
		}
		if err := s.store.delete(ctx, id, now); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "pack", "deleted", id, auditFields(p), nil)
	})
}

// Check returns the validation errors of Create.
func (s *Service) Check(ctx context.Context, p Pack) error {
	return s.check(ctx, p, s.store.aggregation)
}

// CheckChange returns the validation errors of Update.
func (s *Service) CheckChange(ctx context.Context, id uuid.UUID, change func(*Pack)) error {
	p, err := s.store.pack(ctx, id)
	if err != nil {
		return err
	}
	change(&p)
	return s.Check(ctx, p)
}

// check returns the invalid fields of a pack. aggregation returns the aggregation of a meter.
func (s *Service) check(ctx context.Context, p Pack, aggregation func(ctx context.Context, code string) (string, error)) error {
	var broken fault.Fields
	if p.Name[i18n.Default] == "" {
		broken.Add("name."+i18n.Default, "validation.required")
	}
	if len(p.Description) > 0 && p.Description[i18n.Default] == "" {
		broken.Add("description."+i18n.Default, "validation.required")
	}
	other, err := s.store.packBySlug(ctx, p.Slug)
	switch {
	case err == nil && other.ID != p.ID:
		broken.Add("slug", "validation.taken")
	case err != nil && !errors.Is(err, catalog.ErrNotFound):
		return err
	}
	switch adds, err := aggregation(ctx, p.FeatureCode); {
	case errors.Is(err, catalog.ErrNotFound), err == nil && adds != "sum" && adds != "count":
		broken.Add("feature_code", "validation.grantable")
	case err != nil:
		return err
	}
	if err := s.checkPrices(ctx, p.Prices, &broken); err != nil {
		return err
	}
	return broken.Err()
}

// checkPrices adds the invalid fields of a set of prices to broken.
func (s *Service) checkPrices(ctx context.Context, prices []Price, broken *fault.Fields) error {
	currencies, err := s.catalog.Currencies(ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, price := range prices {
		path := fmt.Sprintf("prices.%d.", i)
		at := slices.IndexFunc(currencies, func(c catalog.Currency) bool { return c.Code == price.Currency })
		switch {
		case at < 0:
			broken.Add(path+"currency", "validation.exists")
			continue
		case seen[price.Currency]:
			broken.Add(path+"currency", "validation.repeated")
		}
		seen[price.Currency] = true
		units, err := charge.UnitsOf(price.Currency, int(currencies[at].MinorUnits))
		if err != nil {
			continue // no plan or pack is sold in the currency; the checkout refuses it
		}
		if possible := units.NearestChargeable(price.PriceCents); len(possible) > 0 {
			*broken = append(*broken, fault.Field{
				Path: path + "price_cents", Message: "validation.psp_amount", Args: map[string]any{"possible": joinAmounts(possible)},
			})
		}
	}
	return nil
}

func joinAmounts(amounts []int64) string {
	texts := make([]string, len(amounts))
	for i, amount := range amounts {
		texts[i] = strconv.FormatInt(amount, 10)
	}
	return strings.Join(texts, ", ")
}

// setPrices stores the prices of a pack.
func (s *Service) setPrices(ctx context.Context, packID uuid.UUID, old, next []Price, now time.Time) error {
	for _, was := range old {
		if !slices.ContainsFunc(next, func(p Price) bool { return p.ID == was.ID }) {
			if err := s.store.deletePrice(ctx, was.ID); err != nil {
				return err
			}
		}
	}
	for _, price := range next {
		if price.ID == uuid.Nil {
			price.ID = sqldb.NewID()
			if err := s.store.insertPrice(ctx, packID, price, now); err != nil {
				return err
			}
		} else if !slices.Contains(old, price) {
			if err := s.store.savePrice(ctx, price, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// auditFields returns the pack's fields for the audit log, under their API names.
func auditFields(p Pack) map[string]any {
	prices := map[string]any{}
	for _, price := range p.Prices {
		prices[price.Currency] = price.PriceCents
	}
	return map[string]any{
		"slug": p.Slug, "name": p.Name, "description": p.Description, "feature_code": p.FeatureCode, "amount": p.Amount,
		"expires_after_days": p.ExpiresAfterDays, "prices": prices, "is_active": p.IsActive,
	}
}
