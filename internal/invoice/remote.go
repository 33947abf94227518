package invoice

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp"
)

// chunks is the maximum number of pages that are read of one customer's list, at 100 invoices per
// page. Older invoices can still be read by ID.
const chunks = 50

// remoteSource is the source for the provider's own invoices. Only their IDs are stored.
type remoteSource struct {
	store     store
	tenants   Tenants
	provider  Provider
	documents Documents
	payments  *payments.Book
	clock     clock.Clock
}

// list reads all invoices of a tenant, because the provider can neither count them nor jump to a
// page. It fails if any part fails: an outage must not look like an empty or shorter list.
func (r remoteSource) list(ctx context.Context, tenantID uuid.UUID, status Status, q page.Query) ([]Invoice, int64, error) {
	customers, err := r.store.customersOf(ctx, tenantID)
	if err != nil {
		return nil, 0, err
	}
	var raw []psp.Invoice
	for _, customer := range customers {
		n := 0
		for in, err := range listInvoices(ctx, r.provider, customer, status) {
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
	// Invoices of the same second keep the provider's order, newest first.
	slices.SortStableFunc(all, func(a, b Invoice) int { return b.IssueDate.Compare(a.IssueDate) })
	from, to := q.Window(len(all))
	return all[from:to], int64(len(all)), nil
}

// listInvoices iterates over a customer's invoices at the provider, newest first, and reads them in
// chunks. An empty status matches all invoices. The iteration stops after an error.
func listInvoices(ctx context.Context, p Provider, customer string, status Status) iter.Seq2[psp.Invoice, error] {
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

// translate converts provider invoices and stores the IDs of new ones.
func (r remoteSource) translate(ctx context.Context, tenantID uuid.UUID, raw []psp.Invoice) ([]Invoice, error) {
	refs, err := r.store.references(ctx, tenantID, raw...)
	if err != nil {
		return nil, err
	}
	known, err := r.store.storedIDs(ctx, tenantID, raw)
	if err != nil {
		return nil, err
	}
	t, err := r.tenants.Get(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	locale, err := r.tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return nil, err
	}
	invoices := make([]Invoice, len(raw))
	var unknown []psp.Invoice
	for i, in := range raw {
		invoices[i] = fromProvider(tenantID, in, refs, locale)
		if !known[in.ID] {
			unknown = append(unknown, in)
		}
	}
	if err := r.store.addStored(ctx, tenantID, invoices, raw); err != nil {
		return nil, err
	}
	return invoices, r.storeIDs(ctx, tenantID, unknown, refs, locale)
}

// storeIDs stores the IDs, line sources and payment states of invoices. It locks the tenant first,
// like the event handlers that store the same IDs. Otherwise they could deadlock.
func (r remoteSource) storeIDs(ctx context.Context, tenantID uuid.UUID, unknown []psp.Invoice, refs references, locale string) error {
	if len(unknown) == 0 {
		return nil
	}
	states := make([]payments.State, len(unknown))
	for i, in := range unknown {
		var err error
		if states[i], err = r.payments.LoadState(ctx, in); err != nil {
			return err
		}
	}
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		if _, err := r.tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		for i, in := range unknown {
			inv := fromProvider(tenantID, in, refs, locale)
			if err := r.store.storeIDs(ctx, inv); err != nil {
				return err
			}
			if err := r.store.storeLineSources(ctx, tenantID, in, refs, r.clock.Now()); err != nil {
				return err
			}
			if inv.isRefused(in) {
				continue
			}
			isCurrent, err := r.payments.StoreState(ctx, tenantID, inv.ID, inv.IssueDate, states[i])
			if err != nil {
				return err
			}
			if !isCurrent {
				continue
			}
			if err := r.store.putCopy(ctx, inv, in, false); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r remoteSource) get(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	in, err := r.read(ctx, tenantID, id)
	if err != nil {
		return Invoice{}, err
	}
	refs, err := r.store.references(ctx, tenantID, in)
	if err != nil {
		return Invoice{}, err
	}
	t, err := r.tenants.Get(ctx, tenantID)
	if err != nil {
		return Invoice{}, err
	}
	locale, err := r.tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return Invoice{}, err
	}
	one := []Invoice{fromProvider(tenantID, in, refs, locale)}
	err = r.store.addStored(ctx, tenantID, one, []psp.Invoice{in})
	return one[0], err
}

// read reads an invoice of the tenant from the provider.
func (r remoteSource) read(ctx context.Context, tenantID, id uuid.UUID) (psp.Invoice, error) {
	pspID, err := r.store.pspInvoice(ctx, tenantID, id)
	if err != nil {
		return psp.Invoice{}, err
	}
	in, err := r.provider.GetInvoice(ctx, pspID)
	if errors.Is(err, psp.ErrNotFound) {
		return psp.Invoice{}, errNotFound // a draft that has been deleted
	}
	return in, err
}

func (r remoteSource) document(ctx context.Context, tenantID, id uuid.UUID) (Document, error) {
	in, err := r.read(ctx, tenantID, id)
	if err != nil {
		return Document{}, err
	}
	if in.PDFURL == "" {
		return Document{}, errNotFound
	}
	file, err := r.documents.Fetch(ctx, in.PDFURL)
	return Document{Number: in.Number, Body: file.Body, Length: file.Length}, err
}

// Document is the PDF of an invoice. The caller must close Body.
type Document struct {
	Number string // the invoice number
	Body   io.ReadCloser
	Length int64 // in bytes; -1 if unknown
}
