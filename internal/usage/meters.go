package usage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// UnitPrice is what one unit of a meter costs: an exact decimal of minor units.
type UnitPrice = money.UnitPrice

// MeterEntry is a meter as the administration sees it.
type MeterEntry struct {
	Meter
	Prices    []MeterPrice // by currency
	CreatedAt time.Time
	UpdatedAt time.Time
}

// MeterPrice is what one unit of a meter costs in one currency.
type MeterPrice struct {
	ID         uuid.UUID
	Currency   string // ISO 4217
	UnitPrice  UnitPrice
	PSPPriceID *string // at the payment provider; nil until linked
}

// PriceTerms is one price of a set as somebody wants it.
type PriceTerms struct {
	Currency  string // one that exists, each once in a set
	UnitPrice UnitPrice
	// LinkGiven says that the price is to be linked to PSPPriceID, or to nothing
	// if that is nil. Without it a price keeps its link for as long as its amount
	// stays: a price of the payment provider cannot change.
	LinkGiven  bool
	PSPPriceID *string // each once in a set
}

// SetPrices replaces the prices; UpdateMeter and CreateMeter check them.
func (e *MeterEntry) SetPrices(set []PriceTerms) {
	old := e.Prices
	e.Prices = make([]MeterPrice, len(set))
	for i, terms := range set {
		price := MeterPrice{Currency: terms.Currency, UnitPrice: terms.UnitPrice, PSPPriceID: terms.PSPPriceID}
		for _, was := range old {
			if !terms.LinkGiven && was.Currency == terms.Currency && was.UnitPrice == terms.UnitPrice {
				price.PSPPriceID = was.PSPPriceID
			}
		}
		e.Prices[i] = price
	}
}

// Billable tells whether the meter's usage costs something: it has a price that
// is linked to one of the payment provider (spec: Meter).
func (e MeterEntry) Billable() bool {
	for _, p := range e.Prices {
		if p.PSPPriceID != nil {
			return true
		}
	}
	return false
}

// Currencies is what prices of meters need of the catalog.
type Currencies interface {
	CurrencyExists(ctx context.Context, code string) (bool, error)
}

// Audit is the trail of changes.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// MeterList is what the administration's list of meters can be asked for.
func MeterList() page.Spec {
	return page.Spec{
		Filters: map[string]page.Filter{
			"code":           {Kind: page.Exact, Exprs: []string{"m.code"}},
			"name":           {Kind: page.Partial, Exprs: []string{"m.name"}},
			"search":         {Kind: page.Partial, Exprs: []string{"m.code", "m.name"}},
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

// Meters lists the meters that q asks for, and counts all that match; q is parsed
// by MeterList.
func (s *Service) Meters(ctx context.Context, q page.Query) ([]MeterEntry, int64, error) {
	return s.store.meterPage(ctx, q)
}

// AllMeters lists the meters that are not deleted, by code.
func (s *Service) AllMeters(ctx context.Context) ([]MeterEntry, error) { return s.store.allMeters(ctx) }

// Meter returns a meter that is not deleted; otherwise it is not found.
func (s *Service) Meter(ctx context.Context, id uuid.UUID) (MeterEntry, error) {
	return s.store.meterEntry(ctx, id)
}

// CreateMeter stores a meter with its prices; ids and times of e are given here.
// It refuses a code that another meter has (422 on code), and the rest as
// UpdateMeter does.
func (s *Service) CreateMeter(ctx context.Context, e MeterEntry) (MeterEntry, error) {
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
		if err := s.store.setPrices(ctx, e.ID, nil, e.Prices, now); err != nil {
			return err
		}
		e, err = s.recordMeter(ctx, "meter.created", e.ID, nil)
		return err
	})
	return e, err
}

// UpdateMeter changes a meter that is not deleted, else it is not found; change
// is given the meter as it is and returns it as it is to be. Prices are a set:
// that of a currency that stays keeps its id. It refuses a code that another
// meter has (422 on code), a currency that does not exist, and a currency or a
// price of the payment provider that is there twice (422 on prices), and to bill a
// maximum that never resets (422 on reset_interval): what it comes to would be known
// at the end of time.
//
// Invariant: a counter is the aggregate of its events by the meter's own rule. A
// change locks the meter, so that nobody records by the old rules from then on, and
// drops the counters when the aggregation changed; the next event of a period, or
// who reads it first, counts the events anew. Another reset interval asks for
// counters of other periods, beside which the old ones stay true.
func (s *Service) UpdateMeter(ctx context.Context, id uuid.UUID, change func(MeterEntry) MeterEntry) (MeterEntry, error) {
	var e MeterEntry
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
		if err := s.store.setPrices(ctx, id, old.Prices, e.Prices, now); err != nil {
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

// DeleteMeter deletes a meter that is there, else it is not found. Its row and
// its prices are kept for the events that refer to them; its code is free again.
func (s *Service) DeleteMeter(ctx context.Context, id uuid.UUID) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		old, err := s.store.lockMeter(ctx, id)
		if err != nil {
			return err
		}
		if err := s.store.dropCounters(ctx, id); err != nil {
			return err
		}
		if err := s.store.deleteMeter(ctx, id, s.clock.Now()); err != nil {
			return err
		}
		return s.record(ctx, "meter.deleted", id, &old, nil)
	})
}

// check tells everything that is broken in a meter and its prices.
func (s *Service) check(ctx context.Context, e MeterEntry) error {
	var broken fault.Fields
	if e.Aggregation == Max && e.Reset == Never && e.Billable() {
		broken.Add("reset_interval", "validation.billed_maximum")
	}
	currencies, linked := map[string]bool{}, map[string]bool{}
	for i, p := range e.Prices {
		path := "prices." + strconv.Itoa(i)
		exists, err := s.currencies.CurrencyExists(ctx, p.Currency)
		switch {
		case err != nil:
			return fmt.Errorf("usage: currency %s: %w", p.Currency, err)
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

// recordMeter reads a meter as it is stored now, and notes it in the trail.
func (s *Service) recordMeter(ctx context.Context, action string, id uuid.UUID, old *MeterEntry) (MeterEntry, error) {
	e, err := s.store.meterEntry(ctx, id)
	if err == nil {
		err = s.record(ctx, action, id, old, &e)
	}
	return e, err
}

func (s *Service) record(ctx context.Context, action string, id uuid.UUID, before, after *MeterEntry) error {
	if s.audit == nil {
		return nil
	}
	state := func(e *MeterEntry) any {
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

// MeteredPrices lists the provider's prices, in a currency, of the active meters
// that are billed.
func (s *Service) MeteredPrices(ctx context.Context, currency string) ([]string, error) {
	return s.store.linkedPrices(ctx, currency)
}
