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
	// jobReconcile compares a part of all invoices with the provider's.
	jobReconcile = "invoice.reconcile"
	// tenantPage is how many tenants are read at once.
	tenantPage = 100
)

// walk is how far a comparison has come.
type walk struct {
	Done uuid.UUID `json:"done"` // the last tenant that was compared
}

// Comparison compares the invoices of all tenants with the provider's (rules:
// invoices#reconciliation). Where invoices are issued here, it issues what is missing
// and updates a state that is behind, as a notification would; nothing else of an issued
// invoice is ever changed. Where they are the provider's, only their ids are stored, and
// it deletes the ids of invoices that the provider does not have any more.
func (s *Service) Comparison() compare.Comparison[walk] {
	return compare.Comparison[walk]{
		Kind: jobReconcile, Jobs: s.deps.Jobs, Clock: s.deps.Clock, Log: s.deps.Log, Run: s.reconcile,
	}
}

// reconcile goes on until all tenants are compared or the part is over; done reports
// which.
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

// compareTenant compares the invoices of a tenant. Where one fails, the others are still
// compared.
//
// Invariant: an id is deleted because the provider lacks the invoice only where the
// provider has another invoice of the tenant. Two accounts never have the same ids, so
// that other invoice proves that the right account was asked.
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
				failures = append(failures, fmt.Errorf("those of %s after %d: %w", customer, len(seen), err))
			}
			if err != nil {
				break
			}
			seen[in.ID] = true
			// A subscription that is not known here was refused, and so are its
			// invoices; see take.
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
