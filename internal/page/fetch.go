package page

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Scanner scans the columns of a row.
type Scanner interface {
	Scan(dest ...any) error
}

// Fetch returns the page of a list for q, and the number of entries in the list. It runs two
// statements, so an entry that is added or removed between them can affect only one of the results.
// scan scans the columns of sel. If the texts of the page exceed MaxBytes, Fetch returns the error
// of Budget.
func Fetch[T any](
	ctx context.Context, conn sqldb.DBTX, q Query, sel Select, scan func(Scanner) (T, error),
) (items []T, total int64, err error) {
	total, err = fetch(ctx, conn, q, sel, func(row Scanner) error {
		item, err := scan(row)
		items = append(items, item)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return items, total, nil
}

// fetch is Fetch with a function that keeps the entries itself.
func fetch(ctx context.Context, conn sqldb.DBTX, q Query, sel Select, scan func(Scanner) error) (total int64, err error) {
	if q.export != nil {
		return 0, fetchPart(ctx, conn, q, sel, scan)
	}
	if sel.Count != nil {
		total, err = sel.Count(ctx)
	} else {
		count := q.Count(sel)
		err = conn.QueryRowContext(ctx, count.Text, count.Args...).Scan(&total)
	}
	if err != nil {
		return 0, fmt.Errorf("page: count: %w", err)
	}
	if total <= q.offset() {
		return total, nil
	}
	list := q.List(sel)
	rows, err := conn.QueryContext(ctx, list.Text, list.Args...)
	if err != nil {
		return 0, fmt.Errorf("page: list: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err below returns the error
	var budget Budget
	for rows.Next() {
		row := weigher{row: rows}
		if err := scan(&row); err != nil {
			return 0, fmt.Errorf("page: scan: %w", err)
		}
		if err := budget.Add(row.bytes); err != nil {
			return 0, err
		}
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("page: list: %w", err)
	}
	return total, nil
}

// FetchByIDs runs a query for a list of IDs and scans its rows. query ends before the list
// ("… WHERE id IN"), and ids must not be empty. The size is limited if ctx comes from WithByteLimit.
func FetchByIDs(ctx context.Context, conn sqldb.DBTX, query string, ids []uuid.UUID, scan func(Scanner) error) error {
	places, args := make([]string, len(ids)), make([]any, len(ids))
	for i, id := range ids {
		places[i], args[i] = "$"+strconv.Itoa(i+1)+"::uuid", id
	}
	rows, err := conn.QueryContext(ctx, query+" ("+strings.Join(places, ", ")+")", args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err below returns the error
	budget, _ := ctx.Value(byteLimitKey{}).(*byteLimit)
	for rows.Next() {
		row := weigher{row: rows}
		if err := scan(&row); err != nil {
			return err
		}
		if err := budget.add(row.bytes); err != nil {
			return err
		}
	}
	return rows.Err()
}
