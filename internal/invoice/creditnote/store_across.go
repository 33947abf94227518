package creditnote

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/sheet"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// acrossEntry is a credit note in the list across tenants.
type acrossEntry struct {
	Note
	tenant sheet.NamedTenant
}

const isListed = "n.status <> 'pending'"

// sumAcross returns the sums of the list across tenants, by currency.
func (s store) sumAcross(ctx context.Context, q page.Query) ([]CreditNoteSums, error) {
	totals := []CreditNoteSums{}
	sum := q.Sum(page.Select{From: "credit_notes n", Where: isListed}, "n.currency, count(*), sum(n.total_cents)::bigint", "n.currency")
	err := s.rows(ctx, sum.Text, sum.Args, func(scan func(...any) error) error {
		var t CreditNoteSums
		err := scan(&t.Currency, &t.Count, &t.Total)
		totals = append(totals, t)
		return err
	})
	return totals, err
}

// pageAcross returns a page of the list across tenants. count is the number of entries on all pages,
// which it also returns.
func (s store) pageAcross(ctx context.Context, q page.Query, count int64) ([]acrossEntry, int64, error) {
	sel := page.Select{
		Columns: noteColumns + ", t.id, t.name", From: "credit_notes n", Join: "JOIN tenants t ON t.id = n.tenant_id", Where: isListed,
		Count: func(context.Context) (int64, error) { return count, nil },
	}
	entries, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (e acrossEntry, err error) {
		err = e.scan(row, &e.tenant.ID, &e.tenant.Name)
		e.TenantID = e.tenant.ID
		return e, err
	})
	if err != nil {
		return nil, 0, sqldb.Wrap(err, "list credit notes across tenants")
	}
	at := map[uuid.UUID][]int{}
	for i, e := range entries {
		at[e.TenantID] = append(at[e.TenantID], i)
	}
	for tenantID, places := range at { // read the lines per tenant, because the tenant is the shard key
		notes := make([]Note, len(places))
		for i, place := range places {
			notes[i] = entries[place].Note
		}
		if err := s.addDetails(ctx, tenantID, notes); err != nil {
			return nil, 0, err
		}
		for i, place := range places {
			entries[place].Note = notes[i]
		}
	}
	return entries, total, nil
}
