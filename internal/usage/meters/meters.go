// Package meters is the administration of meters and their prices (rules: usage#meters).
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

// Entry is a meter with what administrators see of it.
type Entry struct {
	usage.Meter
	Prices    []Price // by currency
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Price is what one unit of a meter costs in one currency.
type Price struct {
	ID         uuid.UUID
	Currency   string // ISO 4217
	UnitPrice  money.UnitPrice
	PSPPriceID *string // at the payment provider; nil until linked
}

// PriceTerms is one price of the set that a meter is to have.
type PriceTerms struct {
	Currency  string // ISO 4217; it must exist and be in a set once
	UnitPrice money.UnitPrice
	// LinkGiven says that the price is to be linked to PSPPriceID, or to nothing if
	// that is nil. Otherwise the price keeps its link if its amount stays: the
	// provider's price cannot change its amount.
	LinkGiven  bool
	PSPPriceID *string // at most once in a set
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

// Billable reports whether the meter's usage is billed: it has a price that is linked
// to one of the payment provider (rules: usage#meters).
func (e Entry) Billable() bool {
	for _, p := range e.Prices {
		if p.PSPPriceID != nil {
			return true
		}
	}
	return false
}

// Currencies knows which currencies exist.
type Currencies interface {
	CurrencyExists(ctx context.Context, code string) (bool, error)
}

// Audit is the trail of changes.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Links knows the prices of the payment provider.
type Links interface {
	// CheckMeter refuses a price of the provider that does not bill what one unit of a
	// meter costs (psp_price_mismatch).
	CheckMeter(ctx context.Context, currency string, unit money.UnitPrice, pspPriceID string) error
}

// Deps is what the service works with.
type Deps struct {
	DB         *sqldb.DB
	Clock      clock.Clock
	Currencies Currencies
	Audit      Audit // nil records nothing
	Links      Links // needed by CheckLinks alone
	// OnChange is called after each change, because plans show the prices of meters; nil is not called.
	OnChange func()
}

// Service manages meters. It is safe for concurrent use.
type Service struct {
	store      store
	clock      clock.Clock
	currencies Currencies
	audit      Audit
	links      Links
	onChange   func()
}

// NewService makes a service.
func NewService(d Deps) *Service {
	return &Service{store: store{db: d.DB}, clock: d.Clock, currencies: d.Currencies, audit: d.Audit, links: d.Links, onChange: d.OnChange}
}

// List says how the administrators' list of meters can be filtered and sorted.
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
		// As bytes, because the databases sort text by different rules.
		Sorts:       map[string]string{"code": "m.code::bytea", "created_at": "m.created_at"},
		DefaultSort: "code",
		Tiebreak:    "m.id",
	}
}

// Page lists the page of meters that q asks for and counts all that match. q must be
// parsed by List.
func (s *Service) Page(ctx context.Context, q page.Query) ([]Entry, int64, error) {
	return s.store.meterPage(ctx, q)
}

// All lists the meters that are not deleted, by code.
func (s *Service) All(ctx context.Context) ([]Entry, error) { return s.store.allMeters(ctx) }

// Get returns a meter that is not deleted, a 404 error where there is none.
func (s *Service) Get(ctx context.Context, id uuid.UUID) (Entry, error) {
	return s.store.meterEntry(ctx, id)
}

// Create stores a meter with its prices and sets the ids and times of e. It refuses
// what Update refuses.
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

// Update changes a meter, and returns a 404 error where there is none. change is
// given the meter as it is and returns it as it is to be. The price of a currency that
// stays keeps its id. Update refuses a code that another meter has (422 on code); a
// currency that does not exist, a currency or a price of the payment provider that
// is there twice, and a price that another meter has (422 on prices); and billing a maximum that never resets (422 on
// reset_interval), since its period never ends.
//
// Invariant: a counter is the aggregate of its events by the meter's aggregation. A
// change locks the meter, so that nobody records by the old rules any more, and deletes
// the counters when the aggregation changes. The next event of a period, or the next
// reader, then counts the events again. A new reset interval leads to counters of other
// periods; the old counters stay correct.
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

// setPrices stores the prices of a meter and refuses a price of the provider that another
// meter has: the provider would bill the usage of one for both.
//
// Invariant: no two meters that are not deleted are linked to one price. Storing a link
// locks the row that is kept of it for ever, so that who links the same price at the same
// time waits, and then finds it taken.
func (s *Service) setPrices(ctx context.Context, id uuid.UUID, old, prices []Price, now time.Time) error {
	if err := s.store.setPrices(ctx, id, old, prices, now); err != nil {
		return err
	}
	return s.checkLinked(ctx, id, prices)
}

// checkLinked refuses prices of the provider that another meter has. id is Nil for a new meter.
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

// Delete deletes a meter, and returns a 404 error where there is none. The rows of
// the meter and its prices are kept for the events that refer to them; the code becomes
// free.
func (s *Service) Delete(ctx context.Context, id uuid.UUID) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		old, err := s.store.lockMeter(ctx, id)
		if err != nil {
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

// CheckLinks refuses a meter that Create and Update would refuse, and after that links
// of a set that do not bill what the set says. It asks the provider, and must therefore
// not be called in a transaction.
func (s *Service) CheckLinks(ctx context.Context, e Entry, set []PriceTerms) error {
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

// CheckFields refuses the fields that Create and Update refuse.
func (s *Service) CheckFields(ctx context.Context, e Entry) error {
	return fault.Join(s.checkCode(ctx, e), s.check(ctx, e), s.checkLinked(ctx, e.ID, e.Prices))
}

// checkCode refuses a code that another meter has. The database refuses it too.
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

// check returns all that is invalid in a meter and its prices.
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

// SoldPrice is the linked price of a meter that is billed.
type SoldPrice struct {
	MeterCode  string
	PSPPriceID string
	UnitPrice  money.UnitPrice
}

// SoldPrices lists the linked prices, in a currency, of the active meters that are
// billed, by the meter's code.
func (s *Service) SoldPrices(ctx context.Context, currency string) ([]SoldPrice, error) {
	return s.store.linkedPrices(ctx, currency)
}
