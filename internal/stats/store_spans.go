package stats

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// tenantsBetween returns the change in the number of tenants over each span.
func (s store) tenantsBetween(ctx context.Context, spans []span) ([]int64, error) {
	return s.countIn(ctx, spans, "count tenants of periods", `
(SELECT count(*) FROM tenants a WHERE a.created_at >= s.since AND a.created_at < s.until)
- (SELECT count(*) FROM tenants d WHERE d.deleted_at IS NOT NULL AND d.deleted_at >= s.since AND d.deleted_at < s.until)`)
}

// failures returns the number of failed payments in each span. The DISTINCT removes the rows that
// Values may repeat.
func (s store) failures(ctx context.Context, spans []span) ([]int64, error) {
	numbered, args := s.numberSpans(spans)
	return s.countSpans(ctx, len(spans), "count failed payments of periods", `SELECT s.column1, count(*) FROM (SELECT DISTINCT * FROM (`+numbered+`) AS given) s
CROSS JOIN payment_entries p
WHERE p.type = 'payment.failed' AND p.happened_at >= s.column2 AND p.happened_at < s.column3 GROUP BY s.column1`, args)
}

// numberSpans returns a query that produces the number, the start and the end of each span.
func (s store) numberSpans(spans []span) (query string, args []any) {
	list := make([]any, 0, 3*len(spans))
	for n, of := range spans {
		list = append(list, n, of.start, of.end)
	}
	return sqldb.Values(s.db, 1, list, "bigint", "timestamptz", "timestamptz")
}

// countIn evaluates a count expression for each span, whose bounds are s.since and s.until. Each
// count reads an index range.
func (s store) countIn(ctx context.Context, spans []span, doing, count string) ([]int64, error) {
	numbered, args := s.numberSpans(spans)
	return s.countSpans(ctx, len(spans), doing, `WITH s (n, since, until) AS (`+numbered+`)
SELECT s.n, `+count+` FROM s`, args)
}

// countSpans runs a query that returns numbers of spans with their counts.
func (s store) countSpans(ctx context.Context, spans int, doing, query string, args []any) ([]int64, error) {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return nil, sqldb.Wrap(err, doing)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	counts := make([]int64, spans)
	for rows.Next() {
		var n, value int64
		if err := rows.Scan(&n, &value); err != nil {
			return nil, sqldb.Wrap(err, doing)
		}
		counts[n] = value
	}
	return counts, sqldb.Wrap(rows.Err(), doing)
}

// openFailures returns the totals of open invoices with a failed last payment.
func (s store) openFailures(ctx context.Context) (FailedPaymentFigures, error) {
	f := FailedPaymentFigures{Amounts: []CurrencyAmount{}}
	const doing = "read failed payments that are open"
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT currency, count(*), sum(open_cents)::bigint AS amount
FROM psp_invoices WHERE status = 'open' AND failed_at IS NOT NULL GROUP BY currency ORDER BY amount DESC, currency`)
	if err != nil {
		return f, sqldb.Wrap(err, doing)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		var n int64
		var a CurrencyAmount
		if err := rows.Scan(&a.Currency, &n, &a.Amount); err != nil {
			return f, sqldb.Wrap(err, doing)
		}
		f.Open += n
		f.Amounts = append(f.Amounts, a)
	}
	return f, sqldb.Wrap(rows.Err(), doing)
}
