package page

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// The numbers of entries that an export reads at a time. Without an index for the order, each part
// sorts the whole list, so the parts are larger.
const (
	indexedPart   = 200
	unindexedPart = 1000
)

// exportPart returns the number of entries that an export reads at a time.
func (q Query) exportPart() int {
	if q.isUnindexed() {
		return unindexedPart
	}
	return indexedPart
}

// export is the progress of an export: the values of the sort columns in the last entry that was
// read.
type export struct {
	last []any // nil before the first part
	more bool
}

// Export returns a query for all entries of the list, in the same order. Each Fetch with this query
// reads the next part, without counting. More reports whether there can be another part. An entry
// that changes its position during the export can be missing or appear twice.
func (q Query) Export() Query {
	q.page, q.export = 1, &export{more: true}
	return q
}

// IsExport reports whether the query is an export.
func (q Query) IsExport() bool { return q.export != nil }

// More reports whether an export can have another part.
func (q Query) More() bool { return q.export != nil && q.export.more }

// exportColumns returns the sort columns, which an export reads in addition.
func (q Query) exportColumns() string {
	if q.export == nil {
		return ""
	}
	var b strings.Builder
	for _, o := range q.orders {
		b.WriteString(", " + o.expr)
	}
	return b.String()
}

// afterLastRow returns the condition for the entries after the last entry read, or "".
func (q Query) afterLastRow(b *builder) string {
	if q.export == nil || q.export.last == nil {
		return ""
	}
	var either []string
	equal := ""
	for i, o := range q.orders {
		value := q.export.last[i]
		if value == nil { // nulls are last
			equal += o.expr + " IS NULL AND "
			continue
		}
		arg, operator := b.arg(value), " > "
		if o.desc {
			operator = " < "
		}
		later := o.expr + operator + arg
		if o.nullable {
			later = "(" + later + " OR " + o.expr + " IS NULL)"
		}
		either = append(either, equal+later)
		equal += o.expr + " = " + arg + " AND "
	}
	condition := "(" + strings.Join(either, " OR ") + ")"
	if first := q.orders[0]; !first.nullable { // a range that an index can find
		operator := " >= "
		if first.desc {
			operator = " <= "
		}
		condition += " AND " + first.expr + operator + b.arg(q.export.last[0])
	}
	return condition
}

// keyedRow is a row that also scans the sort columns, after the columns of the entry.
type keyedRow struct {
	row  Scanner
	keys []any
}

// Scan implements Scanner.
func (k *keyedRow) Scan(dest ...any) error {
	for i := range k.keys {
		dest = append(dest, &k.keys[i])
	}
	return k.row.Scan(dest...)
}

func fetchPart(ctx context.Context, conn sqldb.DBTX, q Query, sel Select, scan func(Scanner) error) error {
	list := q.List(sel)
	rows, err := conn.QueryContext(ctx, list.Text, list.Args...)
	if err != nil {
		return fmt.Errorf("page: export: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err below returns the error
	found := 0
	for rows.Next() {
		row := keyedRow{row: rows, keys: make([]any, len(q.orders))}
		if err := scan(&row); err != nil {
			return fmt.Errorf("page: scan: %w", err)
		}
		found++
		q.export.last = row.keys
	}
	q.export.more = found == q.exportPart()
	if err := rows.Err(); err != nil {
		return fmt.Errorf("page: export: %w", err)
	}
	return nil
}
