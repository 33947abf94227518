package plans_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// large is a tenant with 3,000 invoices. The 500 other tenants have one invoice each.
const large = "'01a22862-1f97-790e-ad07-5f5d757b890c'"

// payments fills a PostgreSQL database with invoices and their payments.
var payments = []string{
	`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at)
		SELECT gen_random_uuid(), 'Tenant', 'tenant-' || n, 'EUR', now(), now() FROM generate_series(1, 500) n
		UNION ALL SELECT ` + large + `, 'Large', 'large', 'EUR', now(), now()`,
	`INSERT INTO psp_invoices (psp_invoice_id, tenant_id, id, created_at)
		SELECT gen_random_uuid(), id, gen_random_uuid(), now() FROM tenants
		UNION ALL SELECT gen_random_uuid(), ` + large + `, gen_random_uuid(), now() FROM generate_series(2, 3000)`,
	`INSERT INTO payment_entries (tenant_id, invoice_id, key, type, currency, amount_cents, happened_at)
		SELECT tenant_id, id, 'paid', 'payment.succeeded', 'EUR', 100, now() FROM psp_invoices`,
	`ANALYZE`,
}

// The payments timeline of a tenant only reads the invoices of its page, although PostgreSQL plans
// a prepared statement for an average tenant.
func TestPaymentsFindTheirInvoices(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.Postgres)
	for _, text := range payments {
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	const page = 25
	for _, q := range queries(t) {
		if q.name != "timelinesql.PaymentsOfTenantBefore" {
			continue
		}
		args := fmt.Sprintf("(%s, 'infinity', %d, %d)", large, math.MaxInt64, page)
		if read, plan := rowsRead(t, db, q.text, args); read < page || read > 10*page {
			t.Errorf("it reads %d rows for a page of %d:\n%s", read, page, plan)
		}
		return
	}
	t.Error("the query was not found")
}

var (
	nodeRows    = regexp.MustCompile(`\(actual rows=(\d+) loops=(\d+)\)`)
	removedRows = regexp.MustCompile(`Rows Removed by (?:Filter|Join Filter|Index Recheck): (\d+)`)
)

// rowsRead executes the generic plan of a statement with the given arguments, and returns the number
// of rows that its steps returned or dropped.
func rowsRead(t *testing.T, db *sqldb.DB, text, args string) (read int, plan string) {
	t.Helper()
	var lines []string
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		for _, set := range []string{`SET LOCAL plan_cache_mode = force_generic_plan`, "PREPARE planned AS " + text} {
			if _, err := db.Conn(ctx).ExecContext(ctx, set); err != nil {
				return err
			}
		}
		loops := 0
		err := db.QueryAll(ctx, sqldb.Query{
			Doing: "explain", Text: "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE planned" + args,
			Row: func(scan func(...any) error) error {
				var line string
				err := scan(&line)
				lines = append(lines, line)
				if m := nodeRows.FindStringSubmatch(line); m != nil {
					rows, _ := strconv.Atoi(m[1])
					loops, _ = strconv.Atoi(m[2])
					read += rows * loops
				} else if m := removedRows.FindStringSubmatch(line); m != nil {
					rows, _ := strconv.Atoi(m[1])
					read += rows * loops
				}
				return err
			},
		})
		if err != nil {
			return err
		}
		_, err = db.Conn(ctx).ExecContext(ctx, "DEALLOCATE planned")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return read, strings.Join(lines, "\n")
}
