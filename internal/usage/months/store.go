package months

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// tables lists the months that have a table whose name begins so, the earliest first.
func (m *Months) tables(ctx context.Context, prefix string) ([]Month, error) {
	var months []Month
	err := m.db.Each(ctx, sqldb.Query{
		Doing: "list partitions",
		Text: `SELECT c.relname FROM pg_class c
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'usage_records'::regclass) AND c.relkind = 'r'
    AND c.relname LIKE $1::text ORDER BY c.relname`,
		Args: []any{strings.ReplaceAll(prefix, "_", `\_`) + "____\\___"},
		Row: func(scan func(...any) error) error {
			var name string
			if err := scan(&name); err != nil {
				return err
			}
			if month, err := Parse(strings.TrimPrefix(name, prefix)); err == nil {
				months = append(months, month)
			}
			return nil
		},
	})
	return months, err
}

// attach makes the partition of a month, unless it is there, or usage_records_other has events
// of the month. PostgreSQL looks through that table once more for it, so it is best kept small.
func (m *Months) attach(ctx context.Context, month Month) (made bool, err error) {
	have, err := m.tables(ctx, attached)
	if err != nil || slices.Contains(have, month) {
		return false, err
	}
	// Only usage_records_other is locked against everybody; the new table is not known to anyone.
	if err := m.exec(ctx, `LOCK TABLE usage_records_other IN ACCESS EXCLUSIVE MODE`); err != nil {
		return false, err
	}
	var taken bool
	err = m.db.Conn(ctx).QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM usage_records_other WHERE recorded_at >= $1 AND recorded_at < $2)`,
		month.Start, month.End).Scan(&taken)
	if err != nil || taken {
		return false, sqldb.Wrap(err, "look for events without a partition")
	}
	for _, statement := range []string{
		`CREATE TABLE ` + month.partition() + ` (LIKE usage_records INCLUDING ALL)`,
		`ALTER TABLE usage_records ATTACH PARTITION ` + month.partition() +
			` FOR VALUES FROM ('` + month.Start.Format(time.RFC3339) + `') TO ('` + month.End.Format(time.RFC3339) + `')`,
	} {
		if err := m.exec(ctx, statement); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (m *Months) exec(ctx context.Context, statement string) error {
	_, err := m.db.Conn(ctx).ExecContext(ctx, statement)
	return sqldb.Wrap(err, "change partitions")
}
