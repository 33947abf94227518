package sqldb_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

type table struct {
	Columns     []column
	PrimaryKey  []string
	Indexes     []index
	ForeignKeys []foreignKey
}

type column struct {
	Name, Class, Default string
	Nullable             bool
}

type index struct {
	Name    string
	Unique  bool
	Columns []string
	Where   string
}

type foreignKey struct {
	Columns, References []string
	Table, OnDelete     string
}

// According to their catalogs, both databases have the same schema, except for the tenant in keys
// and references of distributed tables.
func TestSchemasAreEqual(t *testing.T) {
	t.Parallel()
	lite := sqliteSchema(t, dbtest.New(t, sqldb.SQLite))
	post := withoutTenants(postgresSchema(t, dbtest.New(t, sqldb.Postgres)))
	if len(post["subscriptions"].Indexes) < 3 || len(post["roles"].ForeignKeys) != 1 {
		t.Fatalf("the catalogs were not read: %+v", post)
	}
	if diff := cmp.Diff(post, lite); diff != "" {
		t.Errorf("-PostgreSQL +SQLite\n%s", diff)
	}
}

// withoutTenants removes from PostgreSQL's schema the additions for distribution by tenant
// (docs/adr/0030), which SQLite lacks.
func withoutTenants(schema map[string]table) map[string]table {
	for name, tab := range schema {
		if distribution.Tables[name] != distribution.Distributed {
			continue
		}
		for n, i := range tab.Indexes {
			if distribution.TenantKeys[i.Name] != "" {
				tab.Indexes[n].Columns = withoutTenant(i.Columns)
			}
		}
		if distribution.TenantKeys[name+"_pkey"] != "" {
			tab.PrimaryKey = withoutTenant(tab.PrimaryKey)
		}
		for n, f := range tab.ForeignKeys {
			if distribution.Tables[f.Table] == distribution.Distributed {
				tab.ForeignKeys[n].Columns, tab.ForeignKeys[n].References = withoutTenant(f.Columns), withoutTenant(f.References)
			}
		}
		schema[name] = tab
	}
	return sorted(schema)
}

// withoutTenant removes the tenant if it is the last column.
func withoutTenant(columns []string) []string {
	if last := len(columns) - 1; last > 0 && columns[last] == distribution.Column {
		return columns[:last]
	}
	return columns
}

func postgresSchema(t *testing.T, db *sqldb.DB) map[string]table {
	t.Helper()
	schema := map[string]table{}
	for _, r := range query(t, db, `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
			CASE WHEN a.attnotnull THEN '' ELSE 'null' END, coalesce(pg_get_expr(d.adbin, d.adrelid), '')
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname NOT LIKE 'goose%'
		ORDER BY c.relname, a.attnum`) {
		tab := schema[r[0]]
		tab.Columns = append(tab.Columns, column{Name: r[1], Class: class(r[2]), Nullable: r[3] != "", Default: expression(r[4])})
		schema[r[0]] = tab
	}
	for _, r := range query(t, db, `SELECT t.relname, i.relname, CASE WHEN x.indisprimary THEN 'primary' WHEN x.indisunique THEN 'unique' ELSE '' END,
			coalesce(pg_get_expr(x.indpred, x.indrelid), ''),
			(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(x.indkey::int2[]) WITH ORDINALITY k(att, n)
				JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.att)
		FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
		WHERE t.relnamespace = 'public'::regnamespace AND t.relname NOT LIKE 'goose%' ORDER BY i.relname COLLATE "C"`) {
		tab, columns := schema[r[0]], strings.Split(r[4], ",")
		if r[2] == "primary" {
			tab.PrimaryKey = columns
		} else {
			tab.Indexes = append(tab.Indexes, index{Name: r[1], Unique: r[2] == "unique", Columns: columns, Where: expression(r[3])})
		}
		schema[r[0]] = tab
	}
	for _, r := range query(t, db, `SELECT t.relname, f.relname,
			(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY k(att, n) JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.att),
			(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(c.confkey) WITH ORDINALITY k(att, n) JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum = k.att),
			CASE c.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'r' THEN 'RESTRICT' WHEN 'd' THEN 'SET DEFAULT' ELSE 'NO ACTION' END
		FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid WHERE c.contype = 'f'`) {
		tab := schema[r[0]]
		tab.ForeignKeys = append(tab.ForeignKeys, foreignKey{
			Table: r[1], Columns: strings.Split(r[2], ","), References: strings.Split(r[3], ","), OnDelete: r[4],
		})
		schema[r[0]] = tab
	}
	return sorted(schema)
}

func sqliteSchema(t *testing.T, db *sqldb.DB) map[string]table {
	t.Helper()
	schema := map[string]table{}
	const tables = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose%'`
	for _, r := range query(t, db, `SELECT m.name, c.name, c.type, CASE WHEN c."notnull" THEN '' ELSE 'null' END, coalesce(c.dflt_value, '')
		FROM (`+tables+`) m JOIN pragma_table_info(m.name) c ORDER BY m.name, c.cid`) {
		tab := schema[r[0]]
		tab.Columns = append(tab.Columns, column{Name: r[1], Class: class(r[2]), Nullable: r[3] != "", Default: expression(r[4])})
		schema[r[0]] = tab
	}
	for _, r := range query(t, db, `SELECT m.name, c.name FROM (`+tables+`) m JOIN pragma_table_info(m.name) c WHERE c.pk > 0 ORDER BY m.name, c.pk`) {
		tab := schema[r[0]]
		tab.PrimaryKey = append(tab.PrimaryKey, r[1])
		schema[r[0]] = tab
	}
	for _, r := range query(t, db, `SELECT m.name, l.name, CASE WHEN l."unique" THEN 'unique' ELSE '' END, coalesce(x.sql, ''),
			(SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(l.name) ORDER BY seqno))
		FROM (`+tables+`) m JOIN pragma_index_list(m.name) l LEFT JOIN sqlite_master x ON x.type = 'index' AND x.name = l.name
		WHERE l.origin <> 'pk' ORDER BY l.name`) {
		where := ""
		if at := predicate.FindStringIndex(r[3]); at != nil {
			where = r[3][at[1]:]
		}
		tab := schema[r[0]]
		tab.Indexes = append(tab.Indexes, index{Name: r[1], Unique: r[2] != "", Columns: strings.Split(r[4], ","), Where: expression(where)})
		schema[r[0]] = tab
	}
	for _, r := range query(t, db, `SELECT m.name, f."table", group_concat(f."from"), group_concat(coalesce(f."to", '')), f.on_delete
		FROM (`+tables+`) m JOIN pragma_foreign_key_list(m.name) f GROUP BY m.name, f.id, f."table", f.on_delete`) {
		tab := schema[r[0]]
		tab.ForeignKeys = append(tab.ForeignKeys, foreignKey{
			Table: r[1], Columns: strings.Split(r[2], ","), References: strings.Split(r[3], ","), OnDelete: r[4],
		})
		schema[r[0]] = tab
	}
	return sorted(schema)
}

// query returns all rows of a query as text.
func query(t *testing.T, db *sqldb.DB, text string) [][5]string {
	t.Helper()
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var list [][5]string
	for rows.Next() {
		var r [5]string
		dest := []any{&r[0], &r[1], &r[2], &r[3], &r[4]}
		if err := rows.Scan(dest[:len(names)]...); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// class returns the common class of a type of either database.
func class(typ string) string {
	switch strings.ToLower(typ) {
	case "bigint", "integer", "smallint":
		return "integer"
	case "text", "uuid", "jsonb":
		return "text"
	case "timestamp with time zone", "timestamp":
		return "time"
	case "bytea", "blob":
		return "bytes"
	default:
		return strings.ToLower(typ)
	}
}

var (
	notIn     = regexp.MustCompile(`<> all \(array\[(.*?)\]\)`)
	in        = regexp.MustCompile(`= any \(array\[(.*?)\]\)`)
	predicate = regexp.MustCompile(`(?i)\swhere\s`)
	casts     = regexp.MustCompile(`::[a-z ]+`)
	spaces    = regexp.MustCompile(`[\s()]+`)
)

// expression normalizes an expression to make it independent of the catalog's formatting. It
// removes parentheses, because our expressions do not need them.
func expression(text string) string {
	text = strings.ToLower(text)
	text = notIn.ReplaceAllString(text, "not in ($1)")
	text = in.ReplaceAllString(text, "in ($1)")
	text = casts.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, `'\x'`, "''") // how PostgreSQL prints empty bytes
	return strings.TrimSpace(spaces.ReplaceAllString(text, " "))
}

func sorted(schema map[string]table) map[string]table {
	for _, tab := range schema {
		slices.SortFunc(tab.ForeignKeys, func(a, b foreignKey) int { return slices.Compare(a.Columns, b.Columns) })
	}
	return schema
}
