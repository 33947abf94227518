package invoice

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// chunks bounds how much of one customer's list is read from the provider: 50
// times 100 invoices. What is older is reached by its id.
const chunks = 50

// remote has the invoices as the provider has them. Nothing of them is kept but
// what they are called here.
type remote struct {
	store    store
	tenants  Tenants
	provider Provider
}

// list reads the whole list of a tenant, since the provider neither counts it nor
// jumps to a page of it. A failure anywhere is the failure of all: an outage is
// never shown as an empty or a shorter list.
func (r remote) list(ctx context.Context, tenantID uuid.UUID, status Status, q page.Query) ([]Invoice, int64, error) {
	customers, err := r.store.q(ctx).CustomersOfTenant(ctx, tenantID)
	if err != nil {
		return nil, 0, err
	}
	var raw []psp.Invoice
	for _, customer := range customers {
		n := 0
		for in, err := range listed(ctx, r.provider, customer, status) {
			if err != nil {
				return nil, 0, err
			}
			raw = append(raw, in)
			if n++; n == chunks*psp.MaxInvoices {
				break
			}
		}
	}
	all, err := r.translate(ctx, tenantID, raw)
	if err != nil {
		return nil, 0, err
	}
	slices.SortStableFunc(all, newestFirst)
	from, to := q.Window(len(all))
	return all[from:to], int64(len(all)), nil
}

// listed goes through a customer's invoices at the provider, the newest first, by
// chunks. status is "" for any. After an error it ends.
func listed(ctx context.Context, p Provider, customer string, status Status) iter.Seq2[psp.Invoice, error] {
	return func(yield func(psp.Invoice, error) bool) {
		for after := ""; ; {
			chunk, err := p.ListInvoices(ctx, psp.InvoiceQuery{
				CustomerID: customer, Status: string(status), After: after, Limit: psp.MaxInvoices,
			})
			if err != nil {
				yield(psp.Invoice{}, err)
				return
			}
			for _, in := range chunk.Invoices {
				if !yield(in, nil) {
					return
				}
				after = in.ID
			}
			if !chunk.More || len(chunk.Invoices) == 0 {
				return
			}
		}
	}
}

func newestFirst(a, b Invoice) int {
	return cmp.Or(b.IssueDate.Compare(a.IssueDate), bytes.Compare(b.ID[:], a.ID[:]))
}

// translate makes invoices of the provider's, and remembers what they are called.
func (r remote) translate(ctx context.Context, tenantID uuid.UUID, raw []psp.Invoice) ([]Invoice, error) {
	refs, err := r.store.references(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	known, err := r.store.known(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	invoices := make([]Invoice, len(raw))
	var unknown []Invoice
	for i, in := range raw {
		invoices[i] = fromProvider(tenantID, in, refs)
		if !known[in.ID] {
			unknown = append(unknown, invoices[i])
		}
	}
	return invoices, r.remember(ctx, tenantID, unknown)
}

// remember notes what invoices are called. The tenant is locked first, as by the
// notification that may note the same one now: else each could wait for the other.
func (r remote) remember(ctx context.Context, tenantID uuid.UUID, unknown []Invoice) error {
	if len(unknown) == 0 {
		return nil
	}
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		if _, err := r.tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		for _, inv := range unknown {
			if err := r.store.remember(ctx, inv); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r remote) get(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	in, err := r.read(ctx, tenantID, id)
	if err != nil {
		return Invoice{}, err
	}
	refs, err := r.store.references(ctx, tenantID)
	return fromProvider(tenantID, in, refs), err
}

// read reads an invoice of the tenant from the provider.
func (r remote) read(ctx context.Context, tenantID, id uuid.UUID) (psp.Invoice, error) {
	pspID, err := r.store.q(ctx).PSPInvoice(ctx, invoicesql.PSPInvoiceParams{TenantID: tenantID, ID: id})
	if errors.Is(err, sqldb.ErrNoRows) {
		return psp.Invoice{}, errNotFound
	}
	if err != nil {
		return psp.Invoice{}, err
	}
	in, err := r.provider.GetInvoice(ctx, pspID)
	if errors.Is(err, psp.ErrNotFound) {
		return psp.Invoice{}, errNotFound // a draft that was deleted since
	}
	return in, err
}

func (r remote) document(ctx context.Context, tenantID, id uuid.UUID) (Document, error) {
	in, err := r.read(ctx, tenantID, id)
	if err != nil {
		return Document{}, err
	}
	if in.PDFURL == "" {
		return Document{}, errNotFound
	}
	file, err := r.provider.InvoicePDF(ctx, in.PDFURL)
	return Document{Number: in.Number, Body: file.Body, Length: file.Length}, err
}

// Document is the PDF of an invoice. Whoever gets one closes Body.
type Document struct {
	Number string // of the invoice
	Body   io.ReadCloser
	Length int64 // in bytes; -1 when it is not known
}
