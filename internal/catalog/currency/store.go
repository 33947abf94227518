package currency

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency/currencysql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the package's queries in the transaction of the context, or else directly on the
// database.
type store struct {
	conn func(ctx context.Context) sqldb.DBTX
}

func (s store) q(ctx context.Context) *currencysql.Queries { return currencysql.New(s.conn(ctx)) }

// lock reads a currency. Until the transaction ends, it blocks changes of the currency and inserts
// of amounts in the currency. It returns catalog.ErrNotFound if the code is unknown.
func (s store) lock(ctx context.Context, code string) (catalog.Currency, error) {
	row, err := s.q(ctx).LockCurrency(ctx, code)
	return catalog.Currency{
		Code: row.Code, Name: row.Name, Symbol: row.Symbol, MinorUnits: row.MinorUnits, IsActive: row.IsActive,
	}, sqldb.WrapAbsent(err, "lock currency", catalog.ErrNotFound)
}

// insert adds a currency and reports whether it did. It returns false if the code exists.
func (s store) insert(ctx context.Context, c catalog.Currency, now time.Time) (bool, error) {
	n, err := s.q(ctx).InsertCurrency(ctx, currencysql.InsertCurrencyParams{
		Code: c.Code, Name: c.Name, Symbol: c.Symbol, MinorUnits: c.MinorUnits, IsActive: c.IsActive, CreatedAt: now,
	})
	return n > 0, sqldb.Wrap(err, "insert currency")
}

func (s store) update(ctx context.Context, c catalog.Currency, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).UpdateCurrency(ctx, currencysql.UpdateCurrencyParams{
		Code: c.Code, Name: c.Name, Symbol: c.Symbol, MinorUnits: c.MinorUnits, IsActive: c.IsActive, UpdatedAt: now,
	}), "update currency")
}

func (s store) delete(ctx context.Context, code string) error {
	return sqldb.Wrap(s.q(ctx).DeleteCurrency(ctx, code), "delete currency")
}

// hasAmounts reports whether prices, meters, checkouts, subscriptions or invoices have amounts in
// the currency.
func (s store) hasAmounts(ctx context.Context, code string) (bool, error) {
	n, err := s.q(ctx).CountAmounts(ctx, code)
	return n > 0, sqldb.Wrap(err, "find amounts in a currency")
}

// isPreferred reports whether the currency is the preferred currency of a tenant.
func (s store) isPreferred(ctx context.Context, code string) (bool, error) {
	n, err := s.q(ctx).CountTenantsPreferring(ctx, code)
	return n > 0, sqldb.Wrap(err, "find tenants that prefer a currency")
}

// errUnknown means that the currency does not exist.
var errUnknown = errors.New("no such currency")

// Decimals returns a charge.Decimals that reads the number of decimals of a currency.
func Decimals(db *sqldb.DB) func(ctx context.Context, code string) (decimals int, known bool, err error) {
	s := store{conn: db.Conn}
	return func(ctx context.Context, code string) (int, bool, error) {
		units, err := s.q(ctx).MinorUnits(ctx, code)
		err = sqldb.WrapAbsent(err, "read the decimals of a currency", errUnknown)
		if errors.Is(err, errUnknown) {
			return 0, false, nil
		}
		return int(units), err == nil, err
	}
}
