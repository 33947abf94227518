package subscription

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tenantry/tenantry/internal/psp"
)

// payOwed collects the owed invoices of an operation's subscription, oldest first, including drafts
// that are due for collection. It stops with ErrDeclined at the first invoice that is not paid.
func (s *Service) payOwed(ctx context.Context, op operation) error {
	if err := s.deps.Provider.CollectDue(ctx, op.before.PSPSubscriptionID, op.key()+"-due"); err != nil {
		return err
	}
	open, err := s.openInvoices(ctx, op.before.PSPSubscriptionID)
	if err != nil {
		return err
	}
	for _, in := range open {
		err := s.deps.Provider.PayInvoice(ctx, in.ID, op.key()+"-owed-"+in.ID)
		if errors.Is(err, psp.ErrRefused) { // it was paid elsewhere, or a debit is in progress
			if in, err = s.deps.Provider.GetInvoice(ctx, in.ID); err == nil && in.Status == "open" {
				err = fmt.Errorf("invoice %s: %w", in.ID, psp.ErrDeclined)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sumOwed returns the sum of a subscription's open invoices, without the invoice of a pending
// change.
func (s *Service) sumOwed(ctx context.Context, sub Subscription) (sum int64, _ error) {
	open, err := s.openInvoices(ctx, sub.PSPSubscriptionID)
	for _, in := range open {
		if sub.Pending == nil || sub.Pending.PSPInvoiceID != in.ID {
			sum += in.Open
		}
	}
	return sum, err
}

// openInvoices lists the open invoices of a subscription, oldest first.
func (s *Service) openInvoices(ctx context.Context, pspID string) (open []psp.Invoice, _ error) {
	remote, err := s.deps.Provider.GetSubscription(ctx, pspID)
	if err != nil {
		return nil, err
	}
	query := psp.InvoiceQuery{CustomerID: remote.CustomerID, Status: "open"}
	for more := true; more; {
		page, err := s.deps.Provider.ListInvoices(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, in := range page.Invoices { // newest first
			if query.After = in.ID; in.SubscriptionID == pspID {
				open = append(open, in)
			}
		}
		more = page.More
	}
	slices.Reverse(open)
	return open, nil
}
