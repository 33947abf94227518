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
	open, err := s.listInvoices(ctx, op.before.PSPSubscriptionID, "open")
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

// sumOwed sets the amounts that payOwed collects: the open invoices, without the invoice of a pending
// change, and the drafts that are due for collection.
func (s *Service) sumOwed(ctx context.Context, sub Subscription, p *preview) error {
	open, err := s.listInvoices(ctx, sub.PSPSubscriptionID, "open")
	if err != nil {
		return err
	}
	for _, in := range open {
		if sub.Pending == nil || sub.Pending.PSPInvoiceID != in.ID {
			p.owed += in.Open
		}
	}
	drafts, err := s.listInvoices(ctx, sub.PSPSubscriptionID, "draft")
	for _, in := range drafts {
		if in.AutoAdvance {
			p.drafts += max(in.Total, 0)
			p.freed += max(-in.Total, 0)
		}
	}
	p.owed += p.drafts
	return err
}

// listInvoices lists the invoices of a subscription that have the status, oldest first.
func (s *Service) listInvoices(ctx context.Context, pspID, status string) (found []psp.Invoice, _ error) {
	remote, err := s.deps.Provider.GetSubscription(ctx, pspID)
	if err != nil {
		return nil, err
	}
	query := psp.InvoiceQuery{CustomerID: remote.CustomerID, Status: status}
	for more := true; more; {
		page, err := s.deps.Provider.ListInvoices(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, in := range page.Invoices { // newest first
			if query.After = in.ID; in.SubscriptionID == pspID {
				found = append(found, in)
			}
		}
		more = page.More
	}
	slices.Reverse(found)
	return found, nil
}
