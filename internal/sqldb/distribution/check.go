package distribution

import (
	"context"
	"fmt"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Check returns the problems of a distributed database: tables that are not where Tables has them, a
// missing setting, and sequences that would return used numbers.
func Check(ctx context.Context, db *sqldb.DB) (problems []string, err error) {
	s, err := Read(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, class := range []Class{Reference, Distributed} {
		for _, table := range s.Missing(class) {
			problems = append(problems, fmt.Sprintf("table %s is not %s: run tenantry distribute", table, class))
		}
	}
	mode, err := Rows(ctx, db, "SHOW citus.multi_shard_modify_mode")
	if err != nil {
		return nil, err
	}
	if mode[0][0] != "sequential" {
		problems = append(problems, "set citus.multi_shard_modify_mode to sequential with ALTER DATABASE")
	}
	numbered, err := Rows(ctx, db, `SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attidentity <> '' ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	for _, of := range numbered {
		behind, err := Rows(ctx, db, fmt.Sprintf(`SELECT (SELECT coalesce(max(%[2]s), 0) FROM %[1]s)
			> (SELECT coalesce(max(last_value), 0) FROM pg_sequences WHERE quote_ident(schemaname) || '.' || quote_ident(sequencename) = pg_get_serial_sequence('%[1]s', '%[2]s'))`, of[0], of[1]))
		if err != nil {
			return nil, err
		}
		if behind[0][0] == "true" {
			problems = append(problems, fmt.Sprintf("the sequence of %[1]s.%[2]s is behind its rows: run SELECT setval(pg_get_serial_sequence('%[1]s', '%[2]s'), max(%[2]s)) FROM %[1]s", of[0], of[1]))
		}
	}
	return problems, nil
}
