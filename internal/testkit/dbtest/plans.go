package dbtest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
)

// Plan is the query plan of a statement.
type Plan struct {
	Database  string // "sqlite", "sqlite with statistics" or "postgres"
	Statement string
	// Steps are the lines of the plan that read a table, such as
	// "SEARCH usage_counters USING INDEX … (tenant_id=? AND period_end>?)".
	Steps []string
	// Sorts reports whether the database sorts rows instead of reading them in the order of an index.
	Sorts bool
	// tables are the tables of the database.
	tables map[string]bool
}

// Plans returns the query plans, in both databases, of the statements that have run on a SQLite
// database and match (see PlansOf).
func Plans(t *testing.T, ran *sqldb.DB, match *regexp.Regexp) []Plan {
	t.Helper()
	var statements []string
	for _, text := range ran.Statements() {
		if match.MatchString(text) && plannable.MatchString(text) {
			statements = append(statements, text)
		}
	}
	return PlansOf(t, statements)
}

// PlansOf returns the query plans of statements: on SQLite without statistics and with the
// statistics of a large installation, and on PostgreSQL, if there is a server, with its planner set
// to prefer indexes.
func PlansOf(t *testing.T, statements []string) []Plan {
	t.Helper()
	plans := PlansOn(t, sqldb.SQLite, statements)
	if _, err := postgres(); err != nil {
		t.Log(testkit.Missing(t, "postgres", err))
		return plans
	}
	return append(plans, PlansOn(t, sqldb.Postgres, statements)...)
}

// PlansOn is PlansOf for one kind of database, for statements that only run on this kind. On a
// Citus cluster, it returns no plans of PostgreSQL, because they differ there.
func PlansOn(t *testing.T, dialect sqldb.Dialect, statements []string) []Plan {
	t.Helper()
	if dialect == sqldb.Postgres && isCitus() {
		return nil
	}
	if dialect == sqldb.Postgres {
		return explainPostgres(t, New(t, sqldb.Postgres), statements)
	}
	plain, large := New(t, sqldb.SQLite), New(t, sqldb.SQLite)
	assumeLargeTables(t, large)
	return append(explainSQLite(t, plain, "sqlite", statements), explainSQLite(t, large, "sqlite with statistics", statements)...)
}

// Plannable reports whether a text is a statement with a query plan.
func Plannable(text string) bool { return plannable.MatchString(text) }

var (
	// smallTables matches the tables that grow with the catalog or the settings, or by a few rows a day.
	// All others grow with tenants or usage.
	smallTables = regexp.MustCompile(`^(audit_days|credit_note_numbers|currencies|discounts|entitlements|exchange_rates|features|goose_db_version|imported|installation|invoice_numbers|meter_links|meter_prices|meter_sales|meters|pack_prices|packs|plan_prices|plans|platform_keys|products|psp_catalog_operations|psp_cursor|psp_price_states|signing_keys|subscription_days|usage_archives|usage_peaks|usage_recounts|webhook_platform)$`)
	// wholeStep matches a step that reads a whole table, or that skips through an index by all
	// values of its first column, such as every tenant.
	wholeStep = regexp.MustCompile(`^(?:(?:SCAN|Seq Scan on) (\S+)|SEARCH (\S+) USING .*\(ANY\()`)
	// named matches a table in a statement, with its alias.
	named = regexp.MustCompile(`(?i)\b(?:from|join|into|update)\s+([a-z_]+)(?:\s+(?:as\s+)?([a-z_]+))?`)
)

// WholeTables returns the steps that read a whole table that grows with tenants or usage.
func (p Plan) WholeTables() []string {
	of := map[string]string{} // table by alias
	for _, m := range named.FindAllStringSubmatch(p.Statement, -1) {
		of[m[1]] = m[1]
		if m[2] != "" {
			of[m[2]] = m[1]
		}
	}
	var whole []string
	for _, line := range p.Steps {
		m := wholeStep.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := cmp.Or(m[1], m[2])
		if table := cmp.Or(of[name], name); p.tables[table] && !smallTables.MatchString(table) {
			whole = append(whole, line)
		}
	}
	return whole
}

var (
	plannable = regexp.MustCompile(`(?i)^(\s|--[^\n]*\n)*(select|insert|update|delete|with)\b`)
	// reads matches the start of a step that reads a table.
	reads = regexp.MustCompile(`^(SCAN|SEARCH|Seq Scan|Index (Only )?Scan|Index Cond:)`)
	sorts = regexp.MustCompile(`^(USE TEMP B-TREE FOR .*ORDER BY|(Incremental )?Sort\b)`)
	// A row of constants is not a table.
	constants = regexp.MustCompile(`SCAN (CONSTANT ROW|\d+-ROW VALUES CLAUSE|\d+ CONSTANT ROWS)`)
)

// assumeLargeTables gives every index of a SQLite database the statistics of a table with a million
// rows. Each column of an index leaves fewer rows, and a unique index leaves one.
func assumeLargeTables(t *testing.T, db *sqldb.DB) {
	t.Helper()
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	run(`ANALYZE`) // creates the statistics table
	run(`DELETE FROM sqlite_stat1`)
	run(`INSERT INTO sqlite_stat1 (tbl, idx, stat)
SELECT m.name, i.name, '1000000' || (
    SELECT group_concat(CASE WHEN i."unique" AND c.seqno + 1 = n.columns THEN ' 1' ELSE ' ' || CAST(1000 / (c.seqno + 1) AS integer) END, '')
    FROM (SELECT seqno FROM pragma_index_info(i.name) ORDER BY seqno) c, (SELECT count(*) AS columns FROM pragma_index_info(i.name)) n
)
FROM sqlite_master m, pragma_index_list(m.name) i
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'`)
	run(`ANALYZE sqlite_schema`) // loads the statistics
}

func explainSQLite(t *testing.T, db *sqldb.DB, name string, statements []string) []Plan {
	t.Helper()
	plans := make([]Plan, len(statements))
	tables := namesOf(t, db, "SELECT name FROM sqlite_master WHERE type = 'table'")
	for i, text := range statements {
		plan := Plan{Database: name, Statement: text, tables: tables}
		if err := plan.read(t.Context(), db, "EXPLAIN QUERY PLAN "+text, make([]any, parameters(text))...); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		plans[i] = plan
	}
	return plans
}

// explainPostgres returns the generic plan of each statement, which PostgreSQL uses for a prepared
// statement after some executions.
func explainPostgres(t *testing.T, db *sqldb.DB, statements []string) []Plan {
	t.Helper()
	var plans []Plan
	tables := namesOf(t, db, "SELECT tablename FROM pg_tables")
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		for _, set := range []string{`SET LOCAL plan_cache_mode = force_generic_plan`, `SET LOCAL enable_seqscan = off`, `SET LOCAL enable_bitmapscan = off`} {
			if _, err := db.Conn(ctx).ExecContext(ctx, set); err != nil {
				return err
			}
		}
		for i, text := range statements {
			name := fmt.Sprintf("plan%d", i)
			if _, err := db.Conn(ctx).ExecContext(ctx, "PREPARE "+name+" AS "+text); err != nil {
				return fmt.Errorf("%w in %s", err, text)
			}
			nulls := strings.TrimSuffix(strings.Repeat("NULL,", parameters(text)), ",")
			if nulls != "" {
				nulls = "(" + nulls + ")"
			}
			plan := Plan{Database: "postgres", Statement: text, tables: tables}
			if err := plan.read(ctx, db, "EXPLAIN EXECUTE "+name+nulls); err != nil {
				return fmt.Errorf("%w in %s", err, text)
			}
			plans = append(plans, plan)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

func namesOf(t *testing.T, db *sqldb.DB, text string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	query(t, db, text, nil, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names[name] = true
		return err
	})
	return names
}

var placeholder = regexp.MustCompile(`\$(\d+)`)

// parameters returns the number of parameters in a text.
func parameters(text string) int {
	most := map[string]bool{}
	for _, found := range placeholder.FindAllString(text, -1) {
		most[found] = true
	}
	return len(most)
}

// read runs an EXPLAIN and parses its lines, which are in the last column.
func (p *Plan) read(ctx context.Context, db *sqldb.DB, query string, args ...any) error {
	rows, err := db.Conn(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(any)
		}
		if err := rows.Scan(row...); err != nil {
			return err
		}
		line := strings.TrimLeft(fmt.Sprint(*row[len(row)-1].(*any)), " ->")
		if reads.MatchString(line) && !constants.MatchString(line) {
			p.Steps = append(p.Steps, line)
		}
		p.Sorts = p.Sorts || sorts.MatchString(line)
	}
	return rows.Err()
}
