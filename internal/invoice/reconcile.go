package invoice

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/compare"
)

const (
	// jobReconcile compares a portion of all invoices with the provider's.
	jobReconcile = "invoice.reconcile"
	// tenantPage is the number of tenants per query.
	tenantPage = 100
)

// walk is the progress of a comparison.
type walk struct {
	Done uuid.UUID `json:"done"` // the last tenant that was compared
}

// Comparison compares the invoices of all tenants with the provider's
// (rules: invoices#reconciliation). If this service issues invoices, it issues missing ones and
// updates outdated statuses, as an event would. It never changes anything else of an issued
// invoice. If the provider issues the invoices, only IDs are stored, and the comparison deletes the
// IDs of invoices that no longer exist at the provider.
func (s *Service) Comparison() compare.Comparison[walk] {
	return compare.Comparison[walk]{
		Kind: jobReconcile, Jobs: s.deps.Jobs, Clock: s.deps.Clock, Log: s.deps.Log, Run: s.reconcile,
	}
}

// InvoicedTenants lists up to n tenants, after the given ID, that have a customer or an invoice at the
// provider.
func (s *Service) InvoicedTenants(ctx context.Context, after uuid.UUID, n int32) ([]uuid.UUID, error) {
	return s.store.invoicedTenants(ctx, after, n)
}

// CustomersOf lists a tenant's customers at the provider, including former ones.
func (s *Service) CustomersOf(ctx context.Context, tenantID uuid.UUID) ([]string, error) {
	return s.store.customersOf(ctx, tenantID)
}

// reconcile compares tenants until all are done or the part is used up. done reports whether all
// tenants were compared.
func (s *Service) reconcile(ctx context.Context, p *compare.Part, w *walk) (done bool, err error) {
	for {
		tenants, err := s.store.invoicedTenants(ctx, w.Done, tenantPage)
		if err != nil {
			return false, err
		}
		for _, tenantID := range tenants {
			found, err := s.compareTenant(ctx, tenantID, p.Repair)
			if err != nil {
				err = fmt.Errorf("invoices of tenant %s: %w", tenantID, err)
			}
			if err := p.Report(found, err); err != nil {
				return false, err
			}
			if w.Done = tenantID; p.IsOver() {
				return false, nil
			}
		}
		if len(tenants) < tenantPage {
			return true, nil
		}
	}
}

// compareTenant compares the invoices of a tenant. If one comparison fails, the others still run.
//
// Invariant: if the provider does not have an invoice, its ID is deleted only if the provider has
// another invoice of the tenant. IDs are unique across accounts, so the other invoice proves that
// the configured key belongs to the right account.
func (s *Service) compareTenant(ctx context.Context, tenantID uuid.UUID, repair bool) (found []compare.Difference, err error) {
	here, err := s.store.storedInvoices(ctx, tenantID, "")
	if err != nil {
		return nil, err
	}
	refs, err := s.store.references(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	customers, err := s.store.customersOf(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	c := comparison{Service: s, tenantID: tenantID, repair: repair}
	var failures []error
	note := func(differ []compare.Difference, err error) {
		found, failures = append(found, differ...), append(failures, err)
	}
	seen := map[string]bool{}
	for _, customer := range customers {
		for in, err := range listInvoices(ctx, s.deps.Provider, customer, "") {
			if err != nil && !errors.Is(err, psp.ErrNotFound) {
				failures = append(failures, fmt.Errorf("invoices of %s after %d: %w", customer, len(seen), err))
			}
			if err != nil {
				break
			}
			seen[in.ID] = true
			// Skip the invoices of an unknown subscription, which was refused (see
			// storeFromProvider), unless they were issued.
			if _, known := refs.subscriptions[in.SubscriptionID]; known || in.SubscriptionID == "" || here[in.ID].isIssued() {
				note(c.compare(ctx, here[in.ID], in))
				note(nil, c.catchUp(ctx, in, refs))
			}
		}
	}
	for _, k := range sortByPSPID(here) {
		if !seen[k.pspID] {
			note(c.compareUnlisted(ctx, k, len(seen) > 0))
		}
	}
	return found, compare.JoinErrors(failures)
}
