package invoice

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// findMarking returns the stored marking of an invoice, or nil, and the end of its lease.
func (s store) findMarking(ctx context.Context, inv Invoice) (*marking, time.Time, error) {
	row, err := s.q(ctx).Marking(ctx, invoicesql.MarkingParams{TenantID: inv.TenantID, PSPInvoiceID: inv.PSPInvoiceID})
	if err != nil || row.Marking == nil {
		return nil, time.Time{}, sqldb.WrapAbsent(err, "read marking of invoice", errNotFound)
	}
	m := &marking{}
	if err := json.Unmarshal(row.Marking, m); err != nil {
		return nil, time.Time{}, sqldb.Wrap(err, "read marking of invoice")
	}
	if row.MarkingLeasedUntil == nil {
		return m, time.Time{}, nil
	}
	return m, *row.MarkingLeasedUntil, nil
}

// setMarking stores a marking, or deletes it if m is nil.
func (s store) setMarking(ctx context.Context, inv Invoice, m *marking, leasedUntil time.Time) error {
	p := invoicesql.SetMarkingParams{TenantID: inv.TenantID, PSPInvoiceID: inv.PSPInvoiceID, MarkingLeasedUntil: &leasedUntil}
	if m != nil {
		text, err := json.Marshal(m)
		if err != nil {
			return sqldb.Wrap(err, "encode marking of invoice")
		}
		p.Marking = text
	}
	return sqldb.Wrap(s.q(ctx).SetMarking(ctx, p), "store marking of invoice")
}

// addStored adds the fields that only this service stores to invoices of the provider: the sum of
// their refunds, and the day and the reference of a payment that the platform recorded.
func (s store) addStored(ctx context.Context, tenantID uuid.UUID, invoices []Invoice, raw []psp.Invoice) error {
	var ids []string
	at := map[string]int{}
	for i, in := range raw {
		at[in.ID], ids = i, append(ids, in.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	const query = "SELECT psp_invoice_id, marking, refunded_cents FROM psp_invoices WHERE tenant_id = $1::uuid AND psp_invoice_id"
	err := s.queryByIDs(ctx, query, tenantID, ids, func(scan func(...any) error) error {
		var id string
		var stored sqldb.JSON
		var refunded int64
		if err := scan(&id, &stored, &refunded); err != nil {
			return err
		}
		inv := &invoices[at[id]]
		inv.Refunded.AmountCents = refunded
		return inv.setMarking(stored)
	})
	if err != nil {
		return err
	}
	return s.addCredited(ctx, tenantID, invoices)
}
