// Package spreadtest distributes test databases as "tenantry distribute" does, with a stand-in for
// Citus: PostgreSQL with the keys and references that Citus requires.
package spreadtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// isColocated reports whether both sides contain the tenant.
func isColocated(r distribution.ForeignKey) bool {
	i := slices.Index(r.Columns, distribution.Column)
	return i >= 0 && r.Targets[i] == distribution.Column
}

// Faults returns what Citus would reject in the schema when its tables are distributed by class.
func Faults(s distribution.Schema) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, k := range s.Keys {
		if distribution.Tables[k.Table] == distribution.Distributed && !slices.Contains(k.Columns, distribution.Column) {
			add("the key %s of %s has no %s", k.Name, k.Table, distribution.Column)
		}
	}
	for _, name := range s.Triggers {
		add("%s is a trigger", name)
	}
	for _, table := range s.Tables {
		if distribution.Tables[table] == distribution.Distributed && !s.Required[table+"."+distribution.Column] {
			add("%s of %s may be null", distribution.Column, table)
		}
	}
	for _, r := range s.References {
		from, to := distribution.Tables[r.Table], distribution.Tables[r.Target]
		switch {
		case from != distribution.Distributed && to == distribution.Distributed:
			add("%s of %s refers to a distributed table", r.Name, r.Table)
		case from == distribution.Distributed && to == distribution.Local:
			add("%s of %s refers to a local table", r.Name, r.Table)
		case from == distribution.Reference && to == distribution.Local && r.Action != "":
			add("%s of %s, a reference table, changes with a local table", r.Name, r.Table)
		case from == distribution.Distributed && to == distribution.Distributed && !isColocated(r):
			add("%s of %s does not say that both rows have one tenant", r.Name, r.Table)
		case from == distribution.Distributed && strings.HasPrefix(r.Action, " ON DELETE SET") && slices.Contains(r.Columns, distribution.Column):
			add("%s of %s would change %s", r.Name, r.Table, distribution.Column)
		}
	}
	return found
}

// standIn replaces Citus. Its functions record their calls and reject a table as Citus would.
const standIn = `
CREATE TABLE goose_calls (call text NOT NULL);
CREATE FUNCTION create_reference_table(name text) RETURNS void LANGUAGE sql AS
	$$ INSERT INTO goose_calls (call) VALUES ('reference ' || name) $$;
CREATE FUNCTION create_distributed_table(name text, col text, colocate_with text, shard_count int DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM pg_index x WHERE x.indrelid = name::regclass AND x.indisunique AND NOT EXISTS (
			SELECT 1 FROM pg_attribute a WHERE a.attrelid = x.indrelid AND a.attname = col AND a.attnum = ANY (x.indkey::int2[]))) THEN
		RAISE EXCEPTION '% has a unique key without %', name, col;
	END IF;
	IF EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND (conrelid = name::regclass OR confrelid = name::regclass)) THEN
		RAISE EXCEPTION '% still has references', name;
	END IF;
	INSERT INTO goose_calls (call) VALUES ('distributed ' || name);
END $$;
CREATE FUNCTION truncate_local_data_after_distributing_table(name text) RETURNS void LANGUAGE sql AS '';`

const standInGone = `
DROP TABLE goose_calls;
DROP FUNCTION create_reference_table;
DROP FUNCTION create_distributed_table;
DROP FUNCTION truncate_local_data_after_distributing_table;`

// Spread runs the script on a database and returns the calls to Citus, such as "distributed
// invoices".
func Spread(ctx context.Context, db *sqldb.DB) (told []string, err error) {
	s, err := distribution.Read(ctx, db)
	if err != nil {
		return nil, err
	}
	err = db.Tx(ctx, func(ctx context.Context) error {
		for _, text := range slices.Concat([]string{standIn}, s.Statements(distribution.DefaultShards)) {
			if _, err := db.Conn(ctx).ExecContext(ctx, text); err != nil {
				return fmt.Errorf("%w in %s", err, text)
			}
		}
		err := db.QueryAll(ctx, sqldb.Query{
			Doing: "read calls", Text: `SELECT call FROM goose_calls`,
			Row: func(scan func(...any) error) error {
				told = append(told, "")
				return scan(&told[len(told)-1])
			},
		})
		if err != nil {
			return err
		}
		_, err = db.Conn(ctx).ExecContext(ctx, standInGone)
		return err
	})
	return told, err
}
