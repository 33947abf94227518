package discount

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
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp/charge"
	"github.com/tenantry/tenantry/internal/psp/promo"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Catalog  *catalog.Service
	Jobs     *jobs.Queue
	Provider promo.Codes
	Decimals charge.Decimals
}

// Service implements the use cases of discounts. It is safe for concurrent use.
type Service struct {
	catalog  *catalog.Service
	clock    clock.Clock
	jobs     *jobs.Queue
	provider promo.Codes
	decimals charge.Decimals
	store    store
}

// New returns a Service.
func New(d Deps) *Service {
	return &Service{catalog: d.Catalog, clock: d.Clock, jobs: d.Jobs, provider: d.Provider, decimals: d.Decimals, store: store{conn: d.DB.Conn}}
}

// List returns the filters and sort orders of the admin list.
func List() page.Spec {
	return page.Spec{
		Filters: map[string]page.Filter{
			"code":           {Kind: page.ExactMatch, Exprs: []string{"d.code_key"}},
			"is_active":      {Kind: page.Bool, Exprs: []string{"d.is_active"}},
			"created_after":  {Kind: page.DateFrom, Exprs: []string{"d.created_at"}},
			"created_before": {Kind: page.DateTo, Exprs: []string{"d.created_at"}},
		},
		Sorts:       map[string]string{"created_at": "d.created_at"},
		DefaultSort: "-created_at",
		Tiebreak:    "d.id",
	}
}

// Page returns a page of discounts and the number of all matches. q must be parsed by List.
func (s *Service) Page(ctx context.Context, q page.Query) ([]Discount, int64, error) {
	return s.store.page(ctx, q)
}

// Load returns a discount, deleted or not, or catalog.ErrNotFound.
func (s *Service) Load(ctx context.Context, id uuid.UUID) (Discount, error) {
	return s.store.load(ctx, id)
}

// Get returns a discount that is not deleted, or catalog.ErrNotFound.
func (s *Service) Get(ctx context.Context, id uuid.UUID) (Discount, error) {
	d, err := s.store.load(ctx, id)
	if err == nil && d.DeletedAt != nil {
		err = catalog.ErrNotFound
	}
	return d, err
}

// Create adds a discount and sets its ID and times. It returns a 422 error on code if another
// discount has the code, ignoring case, and on each other invalid field.
func (s *Service) Create(ctx context.Context, d Discount) (Discount, error) {
	err := s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		d.ID, d.CreatedAt, d.UpdatedAt = sqldb.NewID(), now, now
		if err := s.Check(ctx, d); err != nil {
			return err
		}
		if err := s.store.insert(ctx, d); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "discount", "created", d.ID, nil, auditFields(d))
	})
	return d, err
}

// Update changes the name of a discount and whether it is active. The other fields never change.
func (s *Service) Update(ctx context.Context, id uuid.UUID, change func(*Discount)) (Discount, error) {
	var d Discount
	err := s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		old, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		d = old
		change(&d)
		d.UpdatedAt = now
		if err := checkName(d); err != nil {
			return err
		}
		if err := s.store.save(ctx, d); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "discount", "updated", id, auditFields(old), auditFields(d))
	})
	return d, err
}

// Delete deletes a discount. Subscriptions keep it, and its code becomes available: a job deactivates
// the provider's promotion code.
func (s *Service) Delete(ctx context.Context, id uuid.UUID) error {
	return s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		d, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := s.store.delete(ctx, id, now); err != nil {
			return err
		}
		if err := s.jobs.Enqueue(ctx, JobDeactivate, id, jobs.Key(id.String())); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "discount", "deleted", id, auditFields(d), nil)
	})
}

// CheckChange returns the validation errors of Update.
func (s *Service) CheckChange(ctx context.Context, id uuid.UUID, change func(*Discount)) error {
	d, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	change(&d)
	return checkName(d)
}

func checkName(d Discount) error {
	if d.Name[i18n.Default] == "" {
		return fault.OnField("name."+i18n.Default, "validation.required")
	}
	return nil
}

// Check returns the validation errors of Create.
func (s *Service) Check(ctx context.Context, d Discount) error {
	var broken fault.Fields
	_, err := s.store.byCode(ctx, d.Code)
	switch {
	case err == nil:
		broken.Add("code", "validation.taken")
	case !errors.Is(err, catalog.ErrNotFound):
		return err
	}
	switch {
	case (d.PercentOff == nil) == (len(d.Amounts) == 0):
		broken.Add("percent_off", "validation.percent_or_amounts")
	case d.PercentOff != nil && (*d.PercentOff < 1 || *d.PercentOff > wholePercent):
		broken.Add("percent_off", "validation.percent_off")
	}
	if err := s.checkAmounts(ctx, d.Amounts, &broken); err != nil {
		return err
	}
	switch {
	case d.Duration == Repeating && d.Months == nil:
		broken.Add("months", "validation.required")
	case d.Duration != Repeating && d.Months != nil:
		broken.Add("months", "validation.only_repeating")
	}
	if err := s.checkPlans(ctx, d.PlanIDs, &broken); err != nil {
		return err
	}
	switch {
	case d.EndsAt == nil:
	case !d.EndsAt.After(s.clock.Now()):
		broken.Add("ends_at", "validation.after_now")
	case d.StartsAt != nil && !d.EndsAt.After(*d.StartsAt):
		broken.Add("ends_at", "validation.after_start")
	}
	return fault.Join(checkName(d), broken.Err())
}

// checkPlans adds the unknown and repeated plans to broken.
func (s *Service) checkPlans(ctx context.Context, ids []uuid.UUID, broken *fault.Fields) error {
	for i, id := range ids {
		path := fmt.Sprintf("plan_ids.%d", i)
		_, err := s.catalog.CurrentPlan(ctx, id)
		switch {
		case errors.Is(err, catalog.ErrNotFound):
			broken.Add(path, "validation.exists")
		case err != nil:
			return err
		case slices.Contains(ids[:i], id):
			broken.Add(path, "validation.repeated")
		}
	}
	return nil
}

// checkAmounts adds the invalid fields of a set of amounts to broken.
func (s *Service) checkAmounts(ctx context.Context, amounts []Amount, broken *fault.Fields) error {
	currencies, err := s.catalog.Currencies(ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, a := range amounts {
		path := fmt.Sprintf("amounts.%d.", i)
		known := slices.ContainsFunc(currencies, func(c catalog.Currency) bool { return c.Code == a.Currency })
		switch {
		case !known:
			broken.Add(path+"currency", "validation.exists")
			continue
		case seen[a.Currency]:
			broken.Add(path+"currency", "validation.repeated")
		}
		seen[a.Currency] = true
		units, err := s.units(ctx, a.Currency)
		if err != nil {
			return err
		}
		if possible := units.NearestChargeable(a.AmountCents); len(possible) > 0 {
			texts := make([]string, len(possible))
			for i, n := range possible {
				texts[i] = strconv.FormatInt(n, 10)
			}
			*broken = append(*broken, fault.Field{
				Path: path + "amount_cents", Message: "validation.psp_amount", Args: map[string]any{"possible": strings.Join(texts, ", ")},
			})
		}
	}
	return nil
}

// auditFields returns the discount's fields for the audit log, under their API names.
func auditFields(d Discount) map[string]any {
	amounts := map[string]any{}
	for _, a := range d.Amounts {
		amounts[a.Currency] = a.AmountCents
	}
	var percent any
	if d.PercentOff != nil {
		percent = quantityOf(*d.PercentOff)
	}
	return map[string]any{
		"code": d.Code, "name": d.Name, "percent_off": percent, "amounts": amounts, "duration": d.Duration, "months": d.Months,
		"plan_ids": append([]uuid.UUID{}, d.PlanIDs...), "first_purchase_only": d.FirstPurchaseOnly, "max_redemptions": d.MaxRedemptions,
		"max_per_tenant": d.MaxPerTenant, "starts_at": d.StartsAt, "ends_at": d.EndsAt, "is_active": d.IsActive,
	}
}
