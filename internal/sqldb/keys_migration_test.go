package sqldb_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// keysMigration is the migration that gives keys and references the tenant. It is no transaction.
const keysMigration = 106

// keyed describes all indexes and constraints of a database.
const keyed = `SELECT 'index', indexdef, '' FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'trigger', tgname, '' FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2, 3`

// The migration of keys starts again from the first step, wherever it was interrupted: with an
// index that is half built, or with everything done but its number noted.
func TestKeysMigrationStartsAgain(t *testing.T) {
	t.Parallel()
	address := dbtest.EmptyURL(t, sqldb.Postgres)
	db := dbtest.Open(t, address)
	plain, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	steps, err := goose.NewProvider(goose.DialectPostgres, plain, sqldb.Migrations(), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := steps.UpTo(t.Context(), keysMigration); err != nil {
		t.Fatal(err)
	}
	want := query(t, db, keyed)
	for name, interrupted := range map[string]string{
		"at the end":           "",
		"a half built index":   `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'usage_alerts_pkey_new'::regclass`,
		"references unchecked": `UPDATE pg_constraint SET convalidated = false WHERE conname = 'trials_subscription_id_fkey'`,
	} {
		exec(t, db, fmt.Sprintf(`DELETE FROM goose_db_version WHERE version_id = %d`, keysMigration))
		if name == "a half built index" {
			exec(t, db, `CREATE UNIQUE INDEX usage_alerts_pkey_new ON usage_alerts (id)`)
		}
		if interrupted != "" {
			exec(t, db, interrupted)
		}
		if _, err := steps.ApplyVersion(t.Context(), keysMigration, true); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := query(t, db, keyed)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the keys became\n%v\nwant\n%v", name, got, want)
		}
	}
}

// An instance of 0.1.0 names no tenant for the document of an invoice, and gets it by a trigger.
func TestDocumentsOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.Postgres)
	tenant, invoice := uuid.NewString(), uuid.NewString()
	exec(t, db, `ALTER TABLE invoices DROP CONSTRAINT invoices_tenant_id_fkey`)
	exec(t, db, fmt.Sprintf(`INSERT INTO invoices (id, tenant_id, psp_invoice_id, number, year, sequence, status, currency,
			subtotal_cents, tax_cents, total_cents, tax_rate, issue_date, billing_info, locale, created_at, updated_at)
		VALUES ('%s', '%s', 'in_1', '1', 2026, 1, 'paid', 'EUR', 1, 0, 1, 0, now(), '{}', 'en', now(), now())`, invoice, tenant))
	for range 2 {
		exec(t, db, fmt.Sprintf(`INSERT INTO invoice_documents (invoice_id, bytes, created_at) VALUES ('%s', '\x00', now())
			ON CONFLICT (invoice_id) DO NOTHING`, invoice))
	}
	if got := query(t, db, `SELECT tenant_id::text FROM invoice_documents`); len(got) != 1 || got[0][0] != tenant {
		t.Errorf("the documents are those of %v, want one of %s", got, tenant)
	}
}
