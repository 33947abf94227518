package distribution

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
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

// Schema is the part of a schema that matters for distribution.
type Schema struct {
	Tables     []string
	Required   map[string]bool // "table.column" of columns that are not null
	Keys       []Key
	References []ForeignKey
	Triggers   []string // "table.trigger", of distributed tables
	// Placed holds the class of each table that Citus already distributes or replicates.
	Placed map[string]Class
	anchor string // a distributed table, with which others share their shards
}

// Read reads the schema from PostgreSQL.
func Read(ctx context.Context, db *sqldb.DB) (Schema, error) {
	s := Schema{Required: map[string]bool{}, Placed: map[string]Class{}}
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
			if isDistributed(r[0]) {
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
		list, err := rows(ctx, db, part.query)
		if err != nil {
			return Schema{}, err
		}
		for _, row := range list {
			part.add(row)
		}
	}
	if db.IsDistributed() {
		return s, s.readPlaced(ctx, db)
	}
	return s, nil
}

func (s *Schema) readPlaced(ctx context.Context, db *sqldb.DB) error {
	list, err := rows(ctx, db, `SELECT c.relname, CASE WHEN p.partmethod = 'h' THEN 'distributed' WHEN p.repmodel = 't' THEN 'reference' ELSE 'local' END
		FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1`)
	for _, row := range list {
		s.Placed[row[0]] = Class(row[1])
		if s.anchor == "" && Class(row[1]) == Distributed {
			s.anchor = row[0]
		}
	}
	return err
}

// rows returns all rows of a query as text.
func rows(ctx context.Context, db *sqldb.DB, query string) ([][]string, error) {
	found, err := db.Conn(ctx).QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, query)
	}
	defer found.Close()
	names, err := found.Columns()
	if err != nil {
		return nil, err
	}
	var list [][]string
	for found.Next() {
		row, into := make([]string, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, found.Err()
}

func isDistributed(table string) bool { return Tables[table] == Distributed }
