package invoice

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// tenantOf returns the tenant of a provider customer, or errUnknownCustomer.
func (s store) tenantOf(ctx context.Context, customer string) (uuid.UUID, error) {
	id, err := s.q(ctx).TenantOfCustomer(ctx, customer)
	return id, sqldb.WrapAbsent(err, "find tenant of a customer", errUnknownCustomer)
}

// customersOf lists the tenant's customers at the provider, including former ones.
func (s store) customersOf(ctx context.Context, tenantID uuid.UUID) ([]string, error) {
	customers, err := s.q(ctx).CustomersOfTenant(ctx, tenantID)
	return customers, sqldb.Wrap(err, "list customers of a tenant")
}

// invoicedTenants lists up to n tenants, after the given ID, that have a customer or an invoice at
// the provider.
func (s store) invoicedTenants(ctx context.Context, after uuid.UUID, n int32) ([]uuid.UUID, error) {
	tenants, err := s.q(ctx).InvoicedTenants(ctx, invoicesql.InvoicedTenantsParams{After: after, Most: n})
	return tenants, sqldb.Wrap(err, "list invoiced tenants")
}

// storedIDs returns the provider invoices whose IDs are stored.
func (s store) storedIDs(ctx context.Context, tenantID uuid.UUID, invoices []psp.Invoice) (map[string]bool, error) {
	ids := make([]string, len(invoices))
	for i, in := range invoices {
		ids[i] = in.ID
	}
	known := map[string]bool{}
	err := s.queryByIDs(ctx, `SELECT psp_invoice_id FROM psp_invoices WHERE tenant_id = $1::uuid AND psp_invoice_id`, tenantID, ids,
		func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			known[id] = true
			return err
		})
	return known, sqldb.Wrap(err, "list known invoices")
}

// mostIDs is the number of IDs per statement, because databases limit the number of parameters.
const mostIDs = 1000

// queryByIDs runs query for chunks of ids and calls row for each row. The query must select by
// tenant ($1) and end with the column to match the IDs against.
func (s store) queryByIDs(ctx context.Context, query string, tenantID uuid.UUID, ids []string, row func(scan func(...any) error) error) error {
	for some := range slices.Chunk(ids, mostIDs) {
		wanted := make([]any, len(some))
		for i, id := range some {
			wanted[i] = id
		}
		values, args := sqldb.Values(s.db, 2, wanted, "text")
		if err := s.queryRows(ctx, query+` IN (`+values+`)`, append([]any{tenantID}, args...), row); err != nil {
			return err
		}
	}
	return nil
}

// queryRows runs a query and calls row for each row of the result.
func (s store) queryRows(ctx context.Context, query string, args []any, row func(scan func(...any) error) error) error {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// storeIDs stores the IDs of a provider invoice unless they are stored.
func (s store) storeIDs(ctx context.Context, inv Invoice) error {
	err := s.q(ctx).RememberPSPInvoice(ctx, invoicesql.RememberPSPInvoiceParams{
		PSPInvoiceID: inv.PSPInvoiceID, TenantID: inv.TenantID, ID: inv.ID, CreatedAt: inv.CreatedAt,
	})
	if err == nil {
		err = distribution.RememberTenant(ctx, s.db, inv.PSPInvoiceID, inv.TenantID)
	}
	return sqldb.Wrap(err, "store invoice reference")
}

// deleteID deletes the ID of a provider invoice unless an invoice was issued for it.
func (s store) deleteID(ctx context.Context, tenantID uuid.UUID, pspID string) error {
	err := s.q(ctx).ForgetPSPInvoice(ctx, invoicesql.ForgetPSPInvoiceParams{TenantID: tenantID, PSPInvoiceID: pspID})
	return sqldb.Wrap(err, "delete invoice reference")
}

// pspInvoice returns the provider's ID of an invoice, or errNotFound.
func (s store) pspInvoice(ctx context.Context, tenantID, id uuid.UUID) (string, error) {
	pspID, err := s.q(ctx).PSPInvoice(ctx, invoicesql.PSPInvoiceParams{TenantID: tenantID, ID: id})
	return pspID, sqldb.WrapAbsent(err, "find invoice of the provider", errNotFound)
}

// find returns the tenant and the ID of a provider invoice, or errNotStored.
func (s store) find(ctx context.Context, pspID string) (tenantID, id uuid.UUID, err error) {
	if tenantID, err = distribution.TenantOf(ctx, s.db, pspID); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, err = s.q(ctx).FindPSPInvoice(ctx, invoicesql.FindPSPInvoiceParams{TenantID: tenantID, PSPInvoiceID: pspID})
	return tenantID, id, sqldb.WrapAbsent(err, "find an invoice", errNotStored)
}

// isIssued reports whether an invoice was issued for the provider invoice.
func (s store) isIssued(ctx context.Context, tenantID uuid.UUID, pspID string) (bool, error) {
	_, err := s.q(ctx).InvoiceByPSPID(ctx, invoicesql.InvoiceByPSPIDParams{TenantID: tenantID, PSPInvoiceID: pspID})
	err = sqldb.WrapAbsent(err, "find issued invoice", errNotFound)
	if errors.Is(err, errNotFound) {
		return false, nil
	}
	return err == nil, err
}

// storedInvoices returns a tenant's stored provider invoices by provider ID. If one is not empty,
// it returns only that invoice.
func (s store) storedInvoices(ctx context.Context, tenantID uuid.UUID, one string) (map[string]storedInvoice, error) {
	rows, err := s.q(ctx).StoredInvoices(ctx, invoicesql.StoredInvoicesParams{TenantID: tenantID, One: one})
	list := make(map[string]storedInvoice, len(rows))
	for _, row := range rows {
		k := storedInvoice{pspID: row.PSPInvoiceID}
		if row.Status != nil {
			k.status, k.totalCents, k.currency = Status(*row.Status), *row.TotalCents, *row.Currency
		}
		list[row.PSPInvoiceID] = k
	}
	return list, sqldb.Wrap(err, "list stored invoices")
}

// lastEvent returns the last published event of an invoice.
func (s store) lastEvent(ctx context.Context, inv Invoice) (string, error) {
	event, err := s.q(ctx).Told(ctx, invoicesql.ToldParams{TenantID: inv.TenantID, PSPInvoiceID: inv.PSPInvoiceID})
	return event, sqldb.WrapAbsent(err, "read last event of an invoice", errNotFound)
}

func (s store) setLastEvent(ctx context.Context, inv Invoice, event string) error {
	err := s.q(ctx).SetTold(ctx, invoicesql.SetToldParams{TenantID: inv.TenantID, PSPInvoiceID: inv.PSPInvoiceID, Told: event})
	return sqldb.Wrap(err, "store last event of an invoice")
}
