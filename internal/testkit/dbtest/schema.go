package dbtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// Key is a unique key.
type Key struct {
	Table, Name string
	// Kind is PRIMARY KEY, UNIQUE for a constraint, or empty for an index.
	Kind string
	// Where is the condition of a partial index, or empty.
	Where   string
	Columns []string
}

// ForeignKey is a reference of a table to another one.
type ForeignKey struct {
	Table, Name, Target string
	// Action is an action such as " ON DELETE CASCADE", or empty.
	Action           string
	Columns, Targets []string
}

// Schema is the part of a schema that Citus restricts.
type Schema struct {
	References []ForeignKey
	Tables     []string
	Required   map[string]bool // "table.column" of columns that are not null
	Keys       []Key
	Triggers   []string // "table.trigger", of distributed tables
}

// ReadSchema reads the schema from PostgreSQL.
func ReadSchema(ctx context.Context, db *sqldb.DB) (Schema, error) {
	s := Schema{Required: map[string]bool{}}
	for _, part := range []struct {
		query string
		add   func(row []string)
	}{
		{`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
			AND relname NOT LIKE 'goose%' ORDER BY 1`, func(r []string) { s.Tables = append(s.Tables, r[0]) }},
		{`SELECT t.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid
			WHERE t.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND a.attnotnull`, func(r []string) { s.Required[r[0]] = true }},
		{`SELECT t.relname, t.relname || '.' || g.tgname FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
			WHERE t.relnamespace = 'public'::regnamespace AND NOT g.tgisinternal ORDER BY 2`, func(r []string) {
			if distribution.Tables[r[0]] == distribution.Distributed {
				s.Triggers = append(s.Triggers, r[1])
			}
		}},
		{`SELECT t.relname, i.relname,
				CASE WHEN x.indisprimary THEN 'PRIMARY KEY'
					WHEN EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.oid AND c.contype = 'u') THEN 'UNIQUE' ELSE '' END,
				coalesce(pg_get_expr(x.indpred, x.indrelid), ''),
				(SELECT string_agg(quote_ident(a.attname), ',' ORDER BY k.n) FROM unnest(x.indkey::int2[]) WITH ORDINALITY k(att, n)
					JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.att)
			FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
			WHERE x.indisunique AND t.relnamespace = 'public'::regnamespace AND t.relname NOT LIKE 'goose%'
			ORDER BY 1, 2`, func(r []string) {
			s.Keys = append(s.Keys, Key{Table: r[0], Name: r[1], Kind: r[2], Where: r[3], Columns: strings.Split(r[4], ",")})
		}},
		{`SELECT t.relname, c.conname, f.relname,
			CASE c.confdeltype WHEN 'c' THEN ' ON DELETE CASCADE' WHEN 'n' THEN ' ON DELETE SET NULL'
				WHEN 'd' THEN ' ON DELETE SET DEFAULT' WHEN 'r' THEN ' ON DELETE RESTRICT' ELSE '' END,
			(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY k(att, n)
				JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.att),
			(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(c.confkey) WITH ORDINALITY k(att, n)
				JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum = k.att)
			FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid
			WHERE c.contype = 'f' AND t.relnamespace = 'public'::regnamespace AND c.conparentid = 0
			ORDER BY 1, 2`, func(r []string) {
			s.References = append(s.References, ForeignKey{
				Table: r[0], Name: r[1], Target: r[2], Action: r[3], Columns: strings.Split(r[4], ","), Targets: strings.Split(r[5], ","),
			})
		}},
	} {
		list, err := distribution.Rows(ctx, db, part.query)
		if err != nil {
			return Schema{}, err
		}
		for _, row := range list {
			part.add(row)
		}
	}
	return s, nil
}

// isColocated reports whether both sides contain the tenant.
func isColocated(r ForeignKey) bool {
	i := slices.Index(r.Columns, distribution.Column)
	return i >= 0 && r.Targets[i] == distribution.Column
}

// Faults returns the reasons why Citus would reject the schema if its tables were distributed by
// class.
func (s Schema) Faults() []string {
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
