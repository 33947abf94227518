package rates

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/stats/rates/ratessql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *ratessql.Queries { return ratessql.New(s.db.Conn(ctx)) }

// day has the rates of one day.
type day struct {
	day   int64
	rates map[string]money.UnitPrice // by currency
}

// list returns the rates of the days from one to another, both inclusive, newest day first.
func (s store) list(ctx context.Context, base string, from, to int64) ([]day, error) {
	rows, err := s.q(ctx).List(ctx, ratessql.ListParams{Base: base, Since: from, Until: to})
	if err != nil {
		return nil, sqldb.Wrap(err, "list exchange rates")
	}
	days := []day{}
	for _, r := range rows {
		if len(days) == 0 || days[len(days)-1].day != r.Day {
			days = append(days, day{r.Day, map[string]money.UnitPrice{}})
		}
		value, err := money.ParseUnitPrice(r.Rate)
		if err != nil {
			return nil, sqldb.Wrap(err, "read exchange rate")
		}
		days[len(days)-1].rates[r.Currency] = value
	}
	return days, nil
}

// replace replaces the rates of a day. rates can be empty.
func (s store) replace(ctx context.Context, base string, of day) error {
	if err := s.q(ctx).DeleteDay(ctx, ratessql.DeleteDayParams{Base: base, Day: of.day}); err != nil {
		return sqldb.Wrap(err, "delete exchange rates")
	}
	for currency, value := range of.rates {
		err := s.q(ctx).Insert(ctx, ratessql.InsertParams{Base: base, Day: of.day, Currency: currency, Rate: value.String()})
		if err != nil {
			return sqldb.Wrap(err, "insert exchange rate")
		}
	}
	return nil
}

// lock serializes changes of the rates of a base.
func (s store) lock(ctx context.Context, base string) error {
	_, err := s.q(ctx).LockBase(ctx, base)
	return sqldb.Wrap(err, "lock the base currency")
}

// currencies returns the decimals of all currencies, and the codes of the active ones.
func (s store) currencies(ctx context.Context) (units map[string]int32, active map[string]bool, err error) {
	rows, err := s.q(ctx).Currencies(ctx)
	units, active = map[string]int32{}, map[string]bool{}
	for _, r := range rows {
		units[r.Code], active[r.Code] = r.MinorUnits, r.IsActive
	}
	return units, active, sqldb.Wrap(err, "list currencies")
}

// isUsed reports whether a subscription has a currency.
func (s store) isUsed(ctx context.Context, currency string) (bool, error) {
	n, err := s.q(ctx).IsUsed(ctx, currency)
	return n > 0, sqldb.Wrap(err, "find subscriptions in a currency")
}

// MissingCurrencies returns the currencies with recurring revenue that have no current rate for a base, sorted.
func MissingCurrencies(ctx context.Context, db *sqldb.DB, base string, now time.Time) ([]string, error) {
	s := store{db}
	used, err := s.q(ctx).UsedCurrencies(ctx, base)
	if err != nil {
		return nil, sqldb.Wrap(err, "list currencies in use")
	}
	t, err := s.table(ctx, base)
	var missing []string
	for _, code := range used {
		if _, isMissing := t.ConversionAt(code, now); isMissing {
			missing = append(missing, code)
		}
	}
	return missing, err
}

// table returns all rates of a base.
func (s store) table(ctx context.Context, base string) (Table, error) {
	t := Table{base: base, rates: map[string][]rate{}}
	var err error
	if t.units, _, err = s.currencies(ctx); err != nil || base == "" {
		return t, err
	}
	rows, err := s.q(ctx).All(ctx, base)
	if err != nil {
		return t, sqldb.Wrap(err, "read exchange rates")
	}
	for _, r := range rows {
		value, err := money.ParseUnitPrice(r.Rate)
		if err != nil {
			return t, sqldb.Wrap(err, "read exchange rate")
		}
		if _, known := t.units[r.Currency]; known {
			t.rates[r.Currency] = append(t.rates[r.Currency], rate{r.Day, value})
		}
	}
	return t, nil
}
