package invoice

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
)

// Reasons why a difference is left to an operator.
const (
	reasonIssued  = "an invoice that was issued is never changed"
	reasonFinal   = "the state here is final"
	reasonAccount = "the payment provider does not have invoices of the tenant: the key can belong to a different account"
)

// storedInvoice holds the stored data of a provider invoice: its ID and, if an invoice was issued
// for it, that invoice's status and total.
type storedInvoice struct {
	pspID      string
	status     Status // empty if no invoice was issued
	totalCents int64
	currency   string // ISO 4217
}

func (k storedInvoice) isIssued() bool { return k.status != "" }

// sortByPSPID returns the values of list, ordered by key.
func sortByPSPID(list map[string]storedInvoice) []storedInvoice {
	all := make([]storedInvoice, 0, len(list))
	for _, id := range slices.Sorted(maps.Keys(list)) {
		all = append(all, list[id])
	}
	return all
}

// comparison compares the invoices of one tenant.
type comparison struct {
	*Service
	tenantID uuid.UUID
	repair   bool
}

// compare returns the differences between a listed provider invoice and the stored one, and repairs
// them if c.repair is set. Either side can be stale, because the invoice can change during the
// comparison. A difference therefore counts only if it remains after both sides are read again.
func (c comparison) compare(ctx context.Context, k storedInvoice, listed psp.Invoice) ([]compare.Difference, error) {
	if len(c.differences(k, listed)) == 0 {
		return nil, nil
	}
	in, err := c.deps.Provider.GetInvoice(ctx, listed.ID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil, nil // a draft that was just deleted
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", listed.ID, err)
	}
	return c.settle(ctx, in)
}

// catchUp stores the payment state of an invoice if it is missing or outdated. This is not reported
// as a difference, because no notification depends on it.
func (c comparison) catchUp(ctx context.Context, in psp.Invoice, refs references) error {
	if !c.repair {
		return nil
	}
	behind, err := c.deps.Payments.IsBehind(ctx, c.tenantID, in)
	if err != nil || !behind {
		return err
	}
	state, err := c.deps.Payments.LoadState(ctx, in)
	if err != nil {
		return err
	}
	locale, err := c.locale(ctx, c.tenantID)
	if err != nil {
		return err
	}
	inv := fromProvider(c.tenantID, in, refs, locale)
	return c.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := c.deps.Tenants.Lock(ctx, c.tenantID); err != nil {
			return err
		}
		if err := c.store.storeIDs(ctx, inv); err != nil {
			return err
		}
		isCurrent, err := c.deps.Payments.StoreState(ctx, c.tenantID, inv.ID, inv.IssueDate, state)
		if err != nil || !isCurrent {
			return err
		}
		return c.store.putCopy(ctx, inv, in, c.deps.Issuing != nil)
	})
}

// compareUnlisted compares a stored invoice that is missing from the provider's list. hasOthers
// reports whether the list contains another invoice of the tenant.
func (c comparison) compareUnlisted(ctx context.Context, k storedInvoice, hasOthers bool) ([]compare.Difference, error) {
	in, err := c.deps.Provider.GetInvoice(ctx, k.pspID)
	if err == nil {
		return c.settle(ctx, in)
	}
	if !errors.Is(err, psp.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w", k.pspID, err)
	}
	d := compare.Difference{Of: compare.InvoiceDifference, Kind: compare.KindMissingThere, TenantID: c.tenantID, PSPID: k.pspID}
	switch {
	case !hasOthers:
		d.Reason = reasonAccount
	case c.deps.Issuing != nil && k.isIssued():
		d.Reason = reasonIssued
	case c.repair:
		if err := c.deleteID(ctx, k.pspID); err != nil {
			return nil, fmt.Errorf("%s: %w", k.pspID, err)
		}
		d.Repaired = true
	}
	return []compare.Difference{d}, nil
}

// settle returns the differences to the provider's current invoice and repairs them if c.repair is
// set. A difference that remains after the repair is not marked as repaired.
func (c comparison) settle(ctx context.Context, in psp.Invoice) ([]compare.Difference, error) {
	before, err := c.findDifferences(ctx, in)
	repairable := func(d compare.Difference) bool { return d.Reason == "" }
	if err != nil || !c.repair || !slices.ContainsFunc(before, repairable) {
		return before, err
	}
	followed, _, err := c.follow(ctx, in.ID)
	if err != nil && !errors.Is(err, errUnknownCustomer) {
		return before, fmt.Errorf("%s: %w", in.ID, err)
	}
	after, err := c.findDifferences(ctx, followed)
	for i, d := range before {
		before[i].Repaired = err == nil && !slices.ContainsFunc(after, func(a compare.Difference) bool { return a.Kind == d.Kind && a.Field == d.Field })
	}
	return before, err
}

// findDifferences compares an invoice with its currently stored data.
func (c comparison) findDifferences(ctx context.Context, in psp.Invoice) ([]compare.Difference, error) {
	here, err := c.store.storedInvoices(ctx, c.tenantID, in.ID)
	if err != nil {
		return nil, err
	}
	return c.differences(here[in.ID], in), nil
}

// differences lists the differences between an invoice and its stored data. It returns nil if the
// provider issues the invoices, and for drafts, which are not issued.
func (c comparison) differences(k storedInvoice, in psp.Invoice) []compare.Difference {
	if c.deps.Issuing == nil || Status(in.Status) == StatusDraft {
		return nil
	}
	d := compare.Difference{Of: compare.InvoiceDifference, Kind: compare.KindMissingHere, TenantID: c.tenantID, PSPID: in.ID}
	if !k.isIssued() {
		return []compare.Difference{d}
	}
	d.Kind = compare.KindDiffers
	var found []compare.Difference
	for _, f := range []struct{ field, here, there, reason string }{
		{"status", string(k.status), in.Status, ""},
		{"total", strconv.FormatInt(k.totalCents, 10), strconv.FormatInt(in.Total, 10), reasonIssued},
		{"currency", k.currency, in.Currency, reasonIssued},
	} {
		if f.here == f.there {
			continue
		}
		d.Field, d.Here, d.There, d.Reason = f.field, f.here, f.there, f.reason
		if f.field == "status" && k.status.IsFinal() {
			d.Reason = reasonFinal
		}
		found = append(found, d)
	}
	return found
}
