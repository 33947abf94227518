package spreadtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

const head = `-- Spreads a database of Tenantry over the machines of a Citus cluster (docs/scaling.md). Written by
-- make generate from internal/sqldb/distribution: change that. It was never run on Citus.
--
-- Run it once with psql on the coordinator, after "tenantry migrate" and with all instances
-- stopped. It needs Citus 12, and the coordinator known to the cluster (citus_set_coordinator_host).
-- It is one transaction, which changes all or nothing and locks every table that it names. Tables
-- that it does not name stay on the coordinator.
\set ON_ERROR_STOP on
BEGIN;
SET LOCAL citus.multi_shard_modify_mode TO 'sequential';
`

// Script returns the text of deploy/citus/distribute.sql.
func (s Schema) Script() string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	out.WriteString(head)
	line("\n-- References are taken off while tables move, and added again below.")
	for _, r := range s.References {
		if distributed(r.Table) {
			line("ALTER TABLE %s DROP CONSTRAINT %s;", r.Table, r.Name)
		}
	}
	line("\n-- Keys without the tenant, which only a single server can enforce.")
	for _, k := range s.KeysWithoutTenant() {
		line("DROP INDEX %s;", k.Name)
	}
	line("\n-- Reference tables are whole on every machine.")
	for _, table := range s.sortTables(distribution.Reference) {
		line("SELECT create_reference_table('%s');", table)
	}
	line("\n-- Distributed tables are cut by tenant, all at the same places.")
	for _, table := range s.sortTables(distribution.Distributed) {
		line("SELECT create_distributed_table('%s', '%s');", table, distribution.Column)
	}
	line("\n-- The references as they were.")
	for _, r := range s.References {
		if !distributed(r.Table) {
			continue
		}
		line("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)%s;",
			r.Table, r.Name, strings.Join(r.Columns, ", "), r.Target, strings.Join(r.Targets, ", "), r.Action)
	}
	line("COMMIT;")
	return out.String()
}

// sortTables returns the tables of a class, each after the tables that it references.
func (s Schema) sortTables(class distribution.Class) []string {
	waits := map[string]map[string]bool{}
	for table, of := range distribution.Tables {
		if of == class {
			waits[table] = map[string]bool{}
		}
	}
	for _, r := range s.References {
		if waits[r.Table] != nil && waits[r.Target] != nil && r.Table != r.Target {
			waits[r.Table][r.Target] = true
		}
	}
	var list []string
	for len(waits) > 0 {
		next := slices.MinFunc(slices.Collect(maps.Keys(waits)), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(waits[a]), len(waits[b])), cmp.Compare(a, b))
		})
		list = append(list, next)
		delete(waits, next)
		for _, rest := range waits {
			delete(rest, next)
		}
	}
	return list
}

// standIn replaces Citus. Its functions record their calls and reject a table as Citus would.
const standIn = `
CREATE TABLE goose_calls (call text NOT NULL);
CREATE FUNCTION create_reference_table(name text) RETURNS void LANGUAGE sql AS
	$$ INSERT INTO goose_calls (call) VALUES ('reference ' || name) $$;
CREATE FUNCTION create_distributed_table(name text, col text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM pg_index x WHERE x.indrelid = name::regclass AND x.indisunique AND NOT EXISTS (
			SELECT 1 FROM pg_attribute a WHERE a.attrelid = x.indrelid AND a.attname = col AND a.attnum = ANY (x.indkey::int2[]))) THEN
		RAISE EXCEPTION '% has a unique key without %', name, col;
	END IF;
	IF EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND (conrelid = name::regclass OR confrelid = name::regclass)) THEN
		RAISE EXCEPTION '% still has references', name;
	END IF;
	INSERT INTO goose_calls (call) VALUES ('distributed ' || name);
END $$;`

const standInGone = `
DROP TABLE goose_calls;
DROP FUNCTION create_reference_table;
DROP FUNCTION create_distributed_table;`

// commands matches psql's commands, and the statements of the transaction, which Spread starts
// itself.
var commands = regexp.MustCompile(`(?m)^(\\.*|BEGIN;|COMMIT;)$`)

// Spread runs the script on a database and returns the calls to Citus, such as "distributed
// invoices".
func Spread(ctx context.Context, db *sqldb.DB) (told []string, err error) {
	s, err := Read(ctx, db)
	if err != nil {
		return nil, err
	}
	err = db.Tx(ctx, func(ctx context.Context) error {
		for _, text := range []string{standIn, commands.ReplaceAllString(s.Script(), "")} {
			if _, err := db.Conn(ctx).ExecContext(ctx, text); err != nil {
				return err
			}
		}
		calls, err := rows(ctx, db, `SELECT call FROM goose_calls`)
		if err != nil {
			return err
		}
		for _, call := range calls {
			told = append(told, call[0])
		}
		_, err = db.Conn(ctx).ExecContext(ctx, standInGone)
		return err
	})
	return told, err
}
