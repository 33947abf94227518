package invoice

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/psp"
)

// Why a difference is left to the operator.
const (
	reasonIssued  = "an invoice that was issued is never changed"
	reasonFinal   = "the state here is final"
	reasonAccount = "the payment provider has no invoice of the tenant: its key may be of another account"
)

// kept is what is kept here of a provider's invoice: what it is called, and, with
// a Status, the invoice that was issued for it.
type kept = invoicesql.KeptInvoicesRow

// kept lists what is kept of a tenant's invoices by the provider's id: of all, or
// of the one that is named.
func (s store) kept(ctx context.Context, tenantID uuid.UUID, one string) (map[string]kept, error) {
	rows, err := s.q(ctx).KeptInvoices(ctx, invoicesql.KeptInvoicesParams{TenantID: tenantID, One: one})
	list := make(map[string]kept, len(rows))
	for _, row := range rows {
		list[row.PSPInvoiceID] = row
	}
	return list, err
}

func sorted(list map[string]kept) []kept {
	all := make([]kept, 0, len(list))
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

// compare finds how an invoice of the provider's list differs from what is kept of
// it, and repairs it if wanted. Both are older than what was stored meanwhile: a
// difference counts only if it is there after reading back.
func (c comparison) compare(ctx context.Context, k kept, listed psp.Invoice) ([]psp.Difference, error) {
	if len(c.differences(k, listed)) == 0 {
		return nil, nil
	}
	in, err := c.deps.Provider.GetInvoice(ctx, listed.ID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil, nil // a draft that was deleted just now
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", listed.ID, err)
	}
	return c.settle(ctx, in)
}

// unlisted compares what the provider's list does not have. elsewhere tells that
// it has another one of the tenant.
func (c comparison) unlisted(ctx context.Context, k kept, elsewhere bool) ([]psp.Difference, error) {
	in, err := c.deps.Provider.GetInvoice(ctx, k.PSPInvoiceID)
	if err == nil {
		return c.settle(ctx, in)
	}
	if !errors.Is(err, psp.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w", k.PSPInvoiceID, err)
	}
	d := psp.Difference{Of: psp.OfInvoice, Kind: psp.MissingThere, TenantID: c.tenantID, PSPID: k.PSPInvoiceID}
	switch {
	case !elsewhere:
		d.Reason = reasonAccount
	case c.deps.Issuing != nil && k.Status != nil:
		d.Reason = reasonIssued
	case c.repair:
		if err := c.forget(ctx, k.PSPInvoiceID); err != nil {
			return nil, fmt.Errorf("%s: %w", k.PSPInvoiceID, err)
		}
		d.Repaired = true
	}
	return []psp.Difference{d}, nil
}

// settle finds how the provider's present invoice differs, and repairs that. What
// is then still there was not repaired.
func (c comparison) settle(ctx context.Context, in psp.Invoice) ([]psp.Difference, error) {
	before, err := c.now(ctx, in)
	repairable := func(d psp.Difference) bool { return d.Reason == "" }
	if err != nil || !c.repair || !slices.ContainsFunc(before, repairable) {
		return before, err
	}
	followed, _, err := c.follow(ctx, in.ID)
	if err != nil {
		return before, fmt.Errorf("%s: %w", in.ID, err)
	}
	after, err := c.now(ctx, followed)
	for i, d := range before {
		before[i].Repaired = err == nil && !slices.ContainsFunc(after, func(a psp.Difference) bool { return a.Kind == d.Kind && a.Field == d.Field })
	}
	return before, err
}

// now is how an invoice differs from what is kept of it at this moment.
func (c comparison) now(ctx context.Context, in psp.Invoice) ([]psp.Difference, error) {
	here, err := c.store.kept(ctx, c.tenantID, in.ID)
	if err != nil {
		return nil, err
	}
	return c.differences(here[in.ID], in), nil
}

// differences lists how an invoice differs from what is kept of it; none where
// invoices are the provider's, and of drafts, which are not issued.
func (c comparison) differences(k kept, in psp.Invoice) []psp.Difference {
	if c.deps.Issuing == nil || Status(in.Status) == Draft {
		return nil
	}
	d := psp.Difference{Of: psp.OfInvoice, Kind: psp.MissingHere, TenantID: c.tenantID, PSPID: in.ID}
	if k.Status == nil {
		return []psp.Difference{d}
	}
	d.Kind = psp.Differs
	var found []psp.Difference
	for _, f := range []struct{ field, here, there, reason string }{
		{"status", *k.Status, in.Status, ""},
		{"total", strconv.FormatInt(*k.TotalCents, 10), strconv.FormatInt(in.Total, 10), reasonIssued},
		{"currency", *k.Currency, in.Currency, reasonIssued},
	} {
		if f.here == f.there {
			continue
		}
		d.Field, d.Here, d.There, d.Reason = f.field, f.here, f.there, f.reason
		if f.field == "status" && Status(*k.Status).Final() {
			d.Reason = reasonFinal
		}
		found = append(found, d)
	}
	return found
}
