package distribution

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// ForeignKey is a reference of a table to another one.
type ForeignKey struct {
	Table, Name, Target string
	// Action is an action such as " ON DELETE CASCADE", or empty.
	Action           string
	Columns, Targets []string
}

// Schema is the part of a schema that decides how tables are placed.
type Schema struct {
	References []ForeignKey
	// Placed holds the class of each table that Citus already distributes or replicates.
	Placed map[string]Class
	anchor string // a distributed table, with which others share their shards
}

// Read reads the schema from PostgreSQL.
func Read(ctx context.Context, db *sqldb.DB) (Schema, error) {
	s := Schema{Placed: map[string]Class{}}
	list, err := Rows(ctx, db, `SELECT t.relname, c.conname, f.relname,
		CASE c.confdeltype WHEN 'c' THEN ' ON DELETE CASCADE' WHEN 'n' THEN ' ON DELETE SET NULL'
			WHEN 'd' THEN ' ON DELETE SET DEFAULT' WHEN 'r' THEN ' ON DELETE RESTRICT' ELSE '' END,
		(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY k(att, n)
			JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.att),
		(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(c.confkey) WITH ORDINALITY k(att, n)
			JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum = k.att)
		FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid
		WHERE c.contype = 'f' AND t.relnamespace = 'public'::regnamespace AND c.conparentid = 0
		ORDER BY 1, 2`)
	for _, r := range list {
		s.References = append(s.References, ForeignKey{
			Table: r[0], Name: r[1], Target: r[2], Action: r[3], Columns: strings.Split(r[4], ","), Targets: strings.Split(r[5], ","),
		})
	}
	if err != nil || !db.IsDistributed() {
		return s, err
	}
	err = s.readPlaced(ctx, db)
	return s, err
}

func (s *Schema) readPlaced(ctx context.Context, db *sqldb.DB) error {
	list, err := Rows(ctx, db, `SELECT c.relname, CASE WHEN p.partmethod = 'h' THEN 'distributed' WHEN p.repmodel = 't' THEN 'reference' ELSE 'local' END
		FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1`)
	for _, row := range list {
		s.Placed[row[0]] = Class(row[1])
		if s.anchor == "" && Class(row[1]) == Distributed {
			s.anchor = row[0]
		}
	}
	return err
}

// Rows returns all rows of a query as text.
func Rows(ctx context.Context, db *sqldb.DB, query string) ([][]string, error) {
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
