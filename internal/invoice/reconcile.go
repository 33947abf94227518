package invoice

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/psp"
)

const (
	// jobReconcile compares a part of all invoices with the provider's.
	jobReconcile = "invoice.reconcile"
	// tenantPage is how many tenants are read at once.
	tenantPage = 100
)

// walk is how far a comparison has come.
type walk struct {
	Done uuid.UUID `json:"done"` // the last tenant that is
}

// Comparison compares the invoices of all tenants with the provider's. Where
// invoices are issued here, what is missing is issued and a state that is behind
// follows, the way that a notification would do it; an issued invoice itself is
// never changed. Where they are the provider's, nothing is kept but what they are
// called here, and what the provider has no more is forgotten.
func (s *Service) Comparison() psp.Comparison[walk] {
	return psp.Comparison[walk]{
		Kind: jobReconcile, Jobs: s.deps.Jobs, Clock: s.deps.Clock, Log: s.deps.Log, Run: s.reconcile,
	}
}

// reconcile goes on until all is done, or the part is over.
func (s *Service) reconcile(ctx context.Context, p *psp.Part, w *walk) (done bool, err error) {
	for {
		tenants, err := s.store.q(ctx).InvoicedTenants(ctx, invoicesql.InvoicedTenantsParams{After: w.Done, Most: tenantPage})
		if err != nil {
			return false, err
		}
		for _, tenantID := range tenants {
			found, err := s.compareTenant(ctx, tenantID, p.Repair)
			if err != nil {
				err = fmt.Errorf("invoices of tenant %s: %w", tenantID, err)
			}
			if err := p.Note(found, err); err != nil {
				return false, err
			}
			if w.Done = tenantID; p.Due() {
				return false, nil
			}
		}
		if len(tenants) < tenantPage {
			return true, nil
		}
	}
}

// compareTenant compares the invoices of a tenant. What fails does not keep the
// others from being compared.
//
// Invariant: what an invoice is called here is forgotten because the provider does
// not have it only if the provider has another one of the tenant. Ids are never
// the same in two accounts, so that proves that it is asked in the right one.
func (s *Service) compareTenant(ctx context.Context, tenantID uuid.UUID, repair bool) (found []psp.Difference, err error) {
	here, err := s.store.kept(ctx, tenantID, "")
	if err != nil {
		return nil, err
	}
	refs, err := s.store.references(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	customers, err := s.store.q(ctx).CustomersOfTenant(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	c := comparison{Service: s, tenantID: tenantID, repair: repair}
	var failures []error
	note := func(differ []psp.Difference, err error) {
		found, failures = append(found, differ...), append(failures, err)
	}
	seen := map[string]bool{}
	for _, customer := range customers {
		for in, err := range listed(ctx, s.deps.Provider, customer, "") {
			if err != nil && !errors.Is(err, psp.ErrNotFound) {
				failures = append(failures, fmt.Errorf("those of %s after %d: %w", customer, len(seen), err))
			}
			if err != nil {
				break
			}
			seen[in.ID] = true
			// A subscription that is not known here is one that was refused, and so are
			// its invoices; see take.
			if _, known := refs.subscriptions[in.SubscriptionID]; known || in.SubscriptionID == "" || here[in.ID].Status != nil {
				note(c.compare(ctx, here[in.ID], in))
			}
		}
	}
	for _, k := range sorted(here) {
		if !seen[k.PSPInvoiceID] {
			note(c.unlisted(ctx, k, len(seen) > 0))
		}
	}
	return found, errors.Join(failures...)
}
