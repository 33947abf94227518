package creditnote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/psp/invoices"
)

const (
	// jobReconcile compares a portion of all credit notes with the provider's.
	jobReconcile = "credit_note.reconcile"
	// tenantPage is the number of tenants per query.
	tenantPage = 100
)

// Reasons why a difference is left to an operator.
const (
	reasonIssued = "a credit note that was issued is never changed"
	reasonVoid   = "a void credit note stays void"
)

// walk is the progress of a comparison.
type walk struct {
	Done uuid.UUID `json:"done"` // the last tenant that was compared
}

// Comparison compares the provider's credit notes of all tenants with the stored ones
// (rules: invoices#reconciliation). It records missing and voided credit notes, as an event would.
func (s *Service) Comparison() compare.Comparison[walk] {
	return compare.Comparison[walk]{
		Kind: jobReconcile, Jobs: s.deps.Jobs, Clock: s.deps.Clock, Log: s.deps.Log, Run: s.reconcile,
	}
}

// reconcile compares tenants until all are done or the part is used up. done reports whether all
// tenants were compared.
func (s *Service) reconcile(ctx context.Context, p *compare.Part, w *walk) (done bool, err error) {
	for {
		tenants, err := s.deps.Invoices.InvoicedTenants(ctx, w.Done, tenantPage)
		if err != nil {
			return false, err
		}
		for _, tenantID := range tenants {
			found, err := s.compareTenant(ctx, tenantID, p.Repair)
			if err != nil {
				err = fmt.Errorf("credit notes of tenant %s: %w", tenantID, err)
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

// compareTenant compares the credit notes of a tenant. If one comparison fails, the others still run.
// It skips invoices that this service does not know, because the comparison of invoices reports them.
func (s *Service) compareTenant(ctx context.Context, tenantID uuid.UUID, repair bool) (found []compare.Difference, err error) {
	customers, err := s.deps.Invoices.CustomersOf(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, customer := range customers {
		remote, err := s.deps.Notes.ListOfCustomer(ctx, customer)
		if err != nil && !errors.Is(err, psp.ErrNotFound) {
			failures = append(failures, fmt.Errorf("credit notes of %s: %w", customer, err))
		}
		ofInvoice := map[string][]invoices.CreditNote{}
		for _, made := range remote {
			ofInvoice[made.InvoiceID] = append(ofInvoice[made.InvoiceID], made)
		}
		for _, pspID := range slices.Sorted(maps.Keys(ofInvoice)) {
			owner, id, err := s.deps.Invoices.Find(ctx, pspID)
			if err == nil && owner == tenantID {
				var differ []compare.Difference
				differ, err = s.compareInvoice(ctx, tenantID, id, ofInvoice[pspID], repair)
				found = append(found, differ...)
			}
			failures = append(failures, err)
		}
	}
	return found, compare.JoinErrors(failures)
}

// compareInvoice returns the differences between the listed credit notes of an invoice and the stored
// ones, and repairs them if repair is set. Either side can be stale, so a difference counts only if
// it remains after both sides are read again.
func (s *Service) compareInvoice(
	ctx context.Context, tenantID, id uuid.UUID, listed []invoices.CreditNote, repair bool,
) ([]compare.Difference, error) {
	before, err := s.findDifferences(ctx, tenantID, id, listed)
	if err != nil || len(before) == 0 {
		return nil, err
	}
	current, err := s.deps.Notes.List(ctx, listed[0].InvoiceID)
	if err != nil {
		return nil, err
	}
	if before, err = s.findDifferences(ctx, tenantID, id, current); err != nil {
		return nil, err
	}
	repairable := func(d compare.Difference) bool { return d.Reason == "" }
	if !repair || !slices.ContainsFunc(before, repairable) {
		return before, nil
	}
	if _, err := s.load(ctx, tenantID, id); err != nil {
		return before, err
	}
	after, err := s.findDifferences(ctx, tenantID, id, current)
	for i, d := range before {
		before[i].Repaired = err == nil && !slices.ContainsFunc(after, func(a compare.Difference) bool {
			return a.PSPID == d.PSPID && a.Kind == d.Kind && a.Field == d.Field
		})
	}
	return before, err
}

// findDifferences compares credit notes of the provider with the stored ones of their invoice.
func (s *Service) findDifferences(ctx context.Context, tenantID, id uuid.UUID, remote []invoices.CreditNote) ([]compare.Difference, error) {
	known, err := s.store.ofInvoice(ctx, tenantID, id)
	if err != nil {
		return nil, err
	}
	var found []compare.Difference
	for _, made := range remote {
		i := slices.IndexFunc(known, func(n Note) bool {
			return n.pspID == made.ID || n.Status == statusPending && n.ID.String() == made.OwnID
		})
		switch {
		case i >= 0:
			found = append(found, known[i].differences(made)...)
		case made.Status != invoices.StatusVoid || !s.deps.Invoices.IsIssuing(): // see adoptOne
			found = append(found, compare.Difference{Of: compare.CreditNoteDifference, Kind: compare.KindMissingHere, TenantID: tenantID, PSPID: made.ID})
		}
	}
	return found, nil
}

// differences lists the differences to the provider's credit note. It returns nil for a pending
// request, whose outcome JobSettle looks up.
func (n Note) differences(made invoices.CreditNote) (found []compare.Difference) {
	if n.Status == statusPending {
		return nil
	}
	for _, f := range []struct{ field, here, there, reason string }{
		{"status", n.Status, made.Status, ""},
		{"total", strconv.FormatInt(n.Total.AmountCents, 10), strconv.FormatInt(made.Total, 10), reasonIssued},
		{"currency", n.Total.Currency, made.Currency, reasonIssued},
	} {
		if f.here == f.there {
			continue
		}
		if f.field == "status" && n.Status == statusVoid {
			f.reason = reasonVoid
		}
		found = append(found, compare.Difference{
			Of: compare.CreditNoteDifference, Kind: compare.KindDiffers, TenantID: n.TenantID, PSPID: made.ID,
			Field: f.field, Here: f.here, There: f.there, Reason: f.reason,
		})
	}
	return found
}
