package distribution

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Check returns the problems of a distributed database: tables whose storage differs from their
// class in Tables, a missing setting, and sequences that would return used numbers.
func Check(ctx context.Context, db *sqldb.DB) (problems []string, err error) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	list, err := Rows(ctx, db, `SELECT logicalrelid::text, CASE WHEN partmethod = 'h' THEN 'distributed' WHEN repmodel = 't' THEN 'reference' ELSE 'local' END
		FROM pg_dist_partition`)
	if err != nil {
		return nil, err
	}
	placed := map[string]Class{}
	for _, row := range list {
		placed[row[0]] = Class(row[1])
	}
	for _, table := range slices.Sorted(maps.Keys(Tables)) {
		if placed[table] != Tables[table] {
			add("table %s is not %s: run tenantry distribute", table, Tables[table])
		}
	}
	if mode, err := Rows(ctx, db, "SHOW citus.multi_shard_modify_mode"); err != nil {
		return nil, err
	} else if mode[0][0] != "sequential" {
		add("set citus.multi_shard_modify_mode to sequential with ALTER DATABASE")
	}
	numbered, err := Rows(ctx, db, `SELECT c.relname, a.attname, pg_get_serial_sequence(c.relname, a.attname)
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attidentity <> '' ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	for _, of := range numbered {
		behind, err := Rows(ctx, db, fmt.Sprintf("SELECT (SELECT coalesce(max(%s), 0) FROM %s) > (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM %s)", of[1], of[0], of[2]))
		if err != nil {
			return nil, err
		}
		if behind[0][0] == "true" {
			add("the sequence of %[1]s.%[2]s is behind its rows: run SELECT setval('%[3]s', max(%[2]s)) FROM %[1]s", of[0], of[1], of[2])
		}
	}
	return problems, nil
}

// Rows returns all rows of a query as text.
func Rows(ctx context.Context, db *sqldb.DB, query string) (list [][]string, err error) {
	found, err := db.Conn(ctx).QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, query)
	}
	defer found.Close()
	names, err := found.Columns()
	for err == nil && found.Next() {
		row, into := make([]string, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		err = found.Scan(into...)
		list = append(list, row)
	}
	return list, errors.Join(err, found.Err())
}
