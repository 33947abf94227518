package invoice

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/sheet"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// acrossEntry is the copy of an invoice in the list across tenants.
type acrossEntry struct {
	Invoice
	due    int64
	tenant sheet.NamedTenant
}

// sumAcross returns the sums of the list across tenants, by currency.
func (s store) sumAcross(ctx context.Context, q page.Query) ([]invoiceSums, error) {
	totals := []invoiceSums{}
	if !q.HasFilter() {
		rows, err := s.q(ctx).AllSums(ctx)
		for _, row := range rows {
			totals = append(totals, invoiceSums{Currency: row.Currency, Count: row.Invoices, Total: row.TotalCents, AmountDue: row.DueCents})
		}
		return totals, sqldb.Wrap(err, "sum all invoices")
	}
	sum := q.Sum(page.Select{From: "invoice_copies c"}, "c.currency, count(*), sum(c.total_cents)::bigint, sum(c.due_cents)::bigint", "c.currency")
	err := s.queryRows(ctx, sum.Text, sum.Args, func(scan func(...any) error) error {
		var t invoiceSums
		err := scan(&t.Currency, &t.Count, &t.Total, &t.AmountDue)
		totals = append(totals, t)
		return err
	})
	return totals, sqldb.Wrap(err, "sum invoices")
}

// pageAcross returns a page of the list across tenants. count is the number of entries on all pages,
// which it also returns.
func (s store) pageAcross(ctx context.Context, q page.Query, count int64) ([]acrossEntry, int64, error) {
	sel := page.Select{
		Columns: "c.body, c.status, c.due_cents, t.id, t.name", From: "invoice_copies c", Join: "JOIN tenants t ON t.id = c.tenant_id",
		Count: func(context.Context) (int64, error) { return count, nil },
	}
	entries, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (e acrossEntry, err error) {
		var body sqldb.JSON
		var status Status
		if err := row.Scan(&body, &status, &e.due, &e.tenant.ID, &e.tenant.Name); err != nil {
			return e, err
		}
		err = json.Unmarshal(body, &e.Invoice)
		if e.Status = status; status.IsFinal() {
			e.Action.Type, e.Action.URL = "", ""
		}
		return e, err
	})
	if err != nil || len(entries) == 0 {
		return nil, total, sqldb.Wrap(err, "list invoices across tenants")
	}
	return entries, total, s.addCurrent(ctx, entries)
}

// addCurrent sets the fields that can change without a new copy: refunds, credit notes, the recorded payment
// and whether there is a document.
func (s store) addCurrent(ctx context.Context, entries []acrossEntry) error {
	tenants, ids, at := make([]uuid.UUID, len(entries)), make([]uuid.UUID, len(entries)), map[uuid.UUID]*Invoice{}
	for i := range entries {
		e := &entries[i]
		e.Refunded.AmountCents, e.Credited.AmountCents = 0, 0
		tenants[i], ids[i], at[e.ID] = e.TenantID, e.ID, &e.Invoice
	}
	ofTenants, args := sqldb.InCondition(s.db, 1, "uuid", tenants)
	among, more := sqldb.InCondition(s.db, 1+len(args), "uuid", ids)
	args = append(args, more...)
	of := func(invoice string) string { return ofTenants + " AND " + invoice + " " + among }
	err := s.queryRows(ctx, "SELECT p.id, p.marking, p.refunded_cents FROM psp_invoices p WHERE p.tenant_id "+of("p.id"), args, func(scan func(...any) error) error {
		var id uuid.UUID
		var marked sqldb.JSON
		var refunded int64
		if err := scan(&id, &marked, &refunded); err != nil {
			return err
		}
		at[id].Refunded.AmountCents = refunded
		return at[id].setMarking(marked)
	})
	if err != nil {
		return sqldb.Wrap(err, "read payments of invoices")
	}
	err = s.queryRows(ctx, "SELECT n.invoice_id, n.total_cents FROM credit_notes n WHERE n.status = 'issued' AND n.tenant_id "+of("n.invoice_id"), args, func(scan func(...any) error) error {
		var id uuid.UUID
		var credited int64
		err := scan(&id, &credited)
		if inv := at[id]; inv != nil {
			inv.Credited.AmountCents += credited
		}
		return err
	})
	if err != nil {
		return sqldb.Wrap(err, "read credit notes of invoices")
	}
	err = s.queryRows(ctx, "SELECT d.invoice_id FROM invoice_documents d WHERE d.tenant_id "+of("d.invoice_id"), args, func(scan func(...any) error) error {
		var id uuid.UUID
		err := scan(&id)
		if inv := at[id]; inv != nil {
			inv.HasPDF = true
		}
		return err
	})
	return sqldb.Wrap(err, "find documents of invoices")
}
