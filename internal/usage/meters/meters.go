// Package meters administers meters and their prices (rules: usage#meters).
package meters

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// Entry is a meter as administrators see it.
type Entry struct {
	usage.Meter
	Prices    []Price // sorted by currency
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Price is the price of one unit of a meter in one currency.
type Price struct {
	ID         uuid.UUID
	Currency   string // ISO 4217
	UnitPrice  money.UnitPrice
	PSPPriceID *string // ID at the payment provider; nil until linked
}

// PriceTerms is one price in a new set of prices.
type PriceTerms struct {
	Currency  string // ISO 4217; must exist and be unique in a set
	UnitPrice money.UnitPrice
	// LinkGiven means that the price is to be linked to PSPPriceID, or unlinked if PSPPriceID is
	// nil. Otherwise the price keeps its link as long as its amount is unchanged, because the
	// amount of the provider's price cannot change.
	LinkGiven  bool
	PSPPriceID *string // unique in a set
}

// SetPrices replaces the prices. Create and Update validate them.
func (e *Entry) SetPrices(set []PriceTerms) {
	old := e.Prices
	e.Prices = make([]Price, len(set))
	for i, terms := range set {
		price := Price{Currency: terms.Currency, UnitPrice: terms.UnitPrice, PSPPriceID: terms.PSPPriceID}
		for _, was := range old {
			if !terms.LinkGiven && was.Currency == terms.Currency && was.UnitPrice == terms.UnitPrice {
				price.PSPPriceID = was.PSPPriceID
			}
		}
		e.Prices[i] = price
	}
}

// Billable reports whether the meter's usage is billed: it has a price that is linked to a price of
// the payment provider (rules: usage#meters).
func (e Entry) Billable() bool {
	for _, p := range e.Prices {
		if p.PSPPriceID != nil {
			return true
		}
	}
	return false
}

// Currencies reports which currencies exist.
type Currencies interface {
	CurrencyExists(ctx context.Context, code string) (bool, error)
}

// Audit records changes in the audit trail.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Links validates prices of the payment provider.
type Links interface {
	// CheckMeter returns an error (psp_price_mismatch) unless the provider's price bills the given
	// unit price.
	CheckMeter(ctx context.Context, currency string, unit money.UnitPrice, pspPriceID string) error
}

// Packs reports which meters packs sell.
type Packs interface {
	// NamesMeter reports whether a pack sells units of the meter with the code.
	NamesMeter(ctx context.Context, code string) (bool, error)
}

// Deps holds the dependencies of a Service.
type Deps struct {
	DB         *sqldb.DB
	Clock      clock.Clock
	Currencies Currencies
	Audit      Audit // nil: changes are not recorded
	Links      Links // only needed by CheckLinks
	Packs      Packs // nil without packs
	// OnChange, if not nil, is called after each change, because plans show the prices of meters.
	OnChange func()
}

// Service manages meters. It is safe for concurrent use.
type Service struct {
	store      store
	clock      clock.Clock
	currencies Currencies
	audit      Audit
	links      Links
	packs      Packs
	onChange   func()
}

// NewService returns a Service.
func NewService(d Deps) *Service {
	return &Service{store: store{db: d.DB}, clock: d.Clock, currencies: d.Currencies, audit: d.Audit, links: d.Links, packs: d.Packs, onChange: d.OnChange}
}

// List returns the filters and sort orders of the admin list of meters.
func List() page.Spec {
	return page.Spec{
		Filters: map[string]page.Filter{
			"code":           {Kind: page.ExactMatch, Exprs: []string{"m.code"}},
			"name":           {Kind: page.PartialMatch, Exprs: []string{"m.name"}},
			"search":         {Kind: page.PartialMatch, Exprs: []string{"m.code", "m.name"}},
			"is_active":      {Kind: page.Bool, Exprs: []string{"m.is_active"}},
			"created_after":  {Kind: page.DateFrom, Exprs: []string{"m.created_at"}},
			"created_before": {Kind: page.DateTo, Exprs: []string{"m.created_at"}},
		},
		// Sorted as bytes, because the collations of the databases differ.
		Sorts:       map[string]string{"code": "m.code::bytea", "created_at": "m.created_at"},
		DefaultSort: "code",
		Tiebreak:    "m.id",
	}
}

// Page returns a page of meters and the number of all matches. q must be parsed by List.
func (s *Service) Page(ctx context.Context, q page.Query) ([]Entry, int64, error) {
	return s.store.meterPage(ctx, q)
}

// All returns the meters that are not deleted, sorted by code.
func (s *Service) All(ctx context.Context) ([]Entry, error) { return s.store.allMeters(ctx) }

// Get returns a meter that is not deleted, or a 404 error.
func (s *Service) Get(ctx context.Context, id uuid.UUID) (Entry, error) {
	return s.store.meterEntry(ctx, id)
}

// Create stores a meter with its prices and returns it with its IDs and times. It returns the same
// validation errors as Update.
func (s *Service) Create(ctx context.Context, e Entry) (Entry, error) {
	err := s.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := s.check(ctx, e); err != nil {
			return err
		}
		now := s.clock.Now()
		e.ID, e.CreatedAt, e.UpdatedAt = sqldb.NewID(), now, now
		inserted, err := s.store.insertMeter(ctx, e)
		if err != nil {
			return err
		}
		if !inserted {
			return errCodeTaken
		}
		if err := s.setPrices(ctx, e.ID, nil, e.Prices, now); err != nil {
			return err
		}
		if err := s.store.recordSales(ctx, e, now); err != nil {
			return err
		}
		e, err = s.recordMeter(ctx, "meter.created", e.ID, nil)
		return err
	})
	return e, err
}

// Update changes a meter. change receives the current meter and returns the new one. A price keeps
// its ID if its currency stays. Update returns a 404 error if the meter does not exist, and a 409
// error if a pack sells the meter's units and the change affects the code or leads to an
// aggregation other than sum and count. It returns a 422 error on these fields:
//
//   - code: another meter has the code.
//   - prices: a currency is unknown or repeated, or a price of the provider is repeated or linked to
//     another meter.
//   - reset_interval: the meter is a billed maximum that never resets, so its period never ends.
//
// Invariant: a counter is the aggregate of its events according to the meter's aggregation. A
// change locks the meter, so that no event is recorded under the old rules, and deletes the
// counters if the aggregation changes. The next event or reader of a period then counts the events
// again. A new reset interval leads to counters of other periods; the old counters stay correct.
func (s *Service) Update(ctx context.Context, id uuid.UUID, change func(Entry) Entry) (Entry, error) {
	var e Entry
	err := s.store.db.Tx(ctx, func(ctx context.Context) error {
		old, err := s.store.lockMeter(ctx, id)
		if err != nil {
			return err
		}
		e = change(old)
		if err := s.check(ctx, e); err != nil {
			return err
		}
		if e.Code != old.Code || e.Aggregation != old.Aggregation && e.Aggregation != usage.Sum && e.Aggregation != usage.Count {
			if err := s.requireUnsold(ctx, old); err != nil {
				return err
			}
		}
		if e.Aggregation != old.Aggregation {
			if err := s.store.dropCounters(ctx, id); err != nil {
				return err
			}
		}
		now := s.clock.Now()
		e.UpdatedAt = now
		if err := s.store.updateMeter(ctx, e); err != nil {
			return err
		}
		if err := s.setPrices(ctx, id, old.Prices, e.Prices, now); err != nil {
			return err
		}
		if err := s.store.recordSales(ctx, e, now); err != nil {
			return err
		}
		e, err = s.recordMeter(ctx, "meter.updated", id, &old)
		return err
	})
	if sqldb.IsUnique(err) {
		err = errCodeTaken
	}
	return e, err
}

// setPrices stores the prices of a meter. It returns an error if a price of the provider is linked
// to another meter, because the price would then bill the usage of both meters.
//
// Invariant: no two meters that are not deleted are linked to one price. Storing a link locks its
// permanent row, so a concurrent request for the same price waits and then finds the price taken.
func (s *Service) setPrices(ctx context.Context, id uuid.UUID, old, prices []Price, now time.Time) error {
	if err := s.store.setPrices(ctx, id, old, prices, now); err != nil {
		return err
	}
	return s.checkLinked(ctx, id, prices)
}

// checkLinked returns an error if another meter uses one of the provider's prices. id is Nil for a
// new meter.
func (s *Service) checkLinked(ctx context.Context, id uuid.UUID, prices []Price) error {
	var broken fault.Fields
	for i, p := range prices {
		if p.PSPPriceID == nil {
			continue
		}
		taken, err := s.store.isLinkedElsewhere(ctx, id, *p.PSPPriceID)
		if err != nil {
			return err
		}
		if taken {
			broken.Add("prices."+strconv.Itoa(i)+".psp_price_id", "validation.taken")
		}
	}
	return broken.Err()
}

// Delete deletes a meter. It returns a 404 error if the meter does not exist, and 409 if a pack
// sells its units. The rows of the meter and its prices remain for the events that refer to them.
// The code becomes available again.
func (s *Service) Delete(ctx context.Context, id uuid.UUID) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		old, err := s.store.lockMeter(ctx, id)
		if err != nil {
			return err
		}
		if err := s.requireUnsold(ctx, old); err != nil {
			return err
		}
		if err := s.store.dropCounters(ctx, id); err != nil {
			return err
		}
		now := s.clock.Now()
		if err := s.store.deleteMeter(ctx, id, now); err != nil {
			return err
		}
		if err := s.store.recordSales(ctx, Entry{Meter: usage.Meter{ID: id}}, now); err != nil {
			return err
		}
		return s.record(ctx, "meter.deleted", id, &old, nil)
	})
}

// requireUnsold returns errSold if a pack sells units of a meter, which must be locked.
func (s *Service) requireUnsold(ctx context.Context, e Entry) error {
	if s.packs == nil {
		return nil
	}
	sold, err := s.packs.NamesMeter(ctx, e.Code)
	if err == nil && sold {
		err = errSold
	}
	return err
}

// ValidateLinks validates a meter like Create and Update, and then checks that each linked price of
// the provider bills the unit price in set. It calls the provider, so it must not be called in a
// transaction.
func (s *Service) ValidateLinks(ctx context.Context, e Entry, set []PriceTerms) error {
	if err := s.check(ctx, e); err != nil {
		return err
	}
	for _, terms := range set {
		if !terms.LinkGiven || terms.PSPPriceID == nil {
			continue
		}
		if err := s.links.CheckMeter(ctx, terms.Currency, terms.UnitPrice, *terms.PSPPriceID); err != nil {
			return err
		}
	}
	return nil
}

// CheckFields returns the validation errors of Create and Update.
func (s *Service) CheckFields(ctx context.Context, e Entry) error {
	return fault.Join(s.checkCode(ctx, e), s.check(ctx, e), s.checkLinked(ctx, e.ID, e.Prices))
}

// checkCode returns an error if another meter has the code. The database enforces this, too.
func (s *Service) checkCode(ctx context.Context, e Entry) error {
	all, err := s.store.allMeters(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(other Entry) bool { return other.Code == e.Code && other.ID != e.ID }) {
		return errCodeTaken
	}
	return nil
}

// check returns all validation errors of a meter and its prices.
func (s *Service) check(ctx context.Context, e Entry) error {
	var broken fault.Fields
	if e.Aggregation == usage.Max && e.Reset == usage.ResetNever && e.Billable() {
		broken.Add("reset_interval", "validation.billed_maximum")
	}
	currencies, linked := map[string]bool{}, map[string]bool{}
	for i, p := range e.Prices {
		path := "prices." + strconv.Itoa(i)
		exists, err := s.currencies.CurrencyExists(ctx, p.Currency)
		switch {
		case err != nil:
			return fmt.Errorf("find currency %s: %w", p.Currency, err)
		case !exists:
			broken.Add(path+".currency", "validation.exists")
		case currencies[p.Currency]:
			broken.Add(path+".currency", "validation.repeated")
		}
		currencies[p.Currency] = true
		if p.PSPPriceID == nil {
			continue
		}
		if linked[*p.PSPPriceID] {
			broken.Add(path+".psp_price_id", "validation.repeated")
		}
		linked[*p.PSPPriceID] = true
	}
	return broken.Err()
}

// recordMeter reads the stored meter and records the change in the audit trail.
func (s *Service) recordMeter(ctx context.Context, action string, id uuid.UUID, old *Entry) (Entry, error) {
	e, err := s.store.meterEntry(ctx, id)
	if err == nil {
		err = s.record(ctx, action, id, old, &e)
	}
	return e, err
}

func (s *Service) record(ctx context.Context, action string, id uuid.UUID, before, after *Entry) error {
	if s.onChange != nil {
		s.store.db.AfterCommit(ctx, s.onChange)
	}
	if s.audit == nil {
		return nil
	}
	state := func(e *Entry) any {
		if e == nil {
			return nil
		}
		prices := map[string]any{}
		for _, p := range e.Prices {
			prices[p.Currency] = map[string]any{"unit_price_cents": p.UnitPrice, "psp_price_id": p.PSPPriceID}
		}
		return map[string]any{
			"code": e.Code, "name": e.Name, "aggregation_type": e.Aggregation, "reset_interval": e.Reset,
			"quota_enforcement": e.Enforcement, "unit_label": e.UnitLabel, "is_active": e.Active, "prices": prices,
		}
	}
	return s.audit.Record(ctx, audit.Entry{
		Action: action, Resource: "meter", ResourceID: id.String(), Before: state(before), After: state(after),
	})
}

// LinkedPrice is the linked price of a billed meter.
type LinkedPrice struct {
	MeterCode  string
	PSPPriceID string
	UnitPrice  money.UnitPrice
}

// SoldPrices lists the linked prices of the active billed meters in a currency, sorted by the
// meter's code.
func (s *Service) SoldPrices(ctx context.Context, currency string) ([]LinkedPrice, error) {
	return s.store.linkedPrices(ctx, currency)
}
