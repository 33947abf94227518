package invoice

import (
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// The number of IDs can exceed the parameter limit of a statement.
func TestManyIDs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenantID := uuid.New()
		seed := `INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'A', 'a', 'EUR', '2026-01-01', '2026-01-01')`
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), seed, tenantID); err != nil {
			t.Fatal(err)
		}
		invoices := make([]psp.Invoice, 70_000)
		for i := range invoices {
			invoices[i].ID = "in_" + strconv.Itoa(i)
		}
		s := store{db: db}
		last := invoices[len(invoices)-1]
		if err := s.storeIDs(t.Context(), Invoice{ID: uuid.New(), TenantID: tenantID, PSPInvoiceID: last.ID}); err != nil {
			t.Fatal(err)
		}
		known, err := s.storedIDs(t.Context(), tenantID, invoices)
		if err != nil || len(known) != 1 || !known[last.ID] {
			t.Errorf("known invoices = %v, %v", known, err)
		}
	})
}
