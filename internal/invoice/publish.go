package invoice

import (
	"context"
	"slices"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
)

// Values of an invoice's last published event. Invoices that are older than the events have another
// value and publish nothing.
const (
	publishedNothing = ""
	publishedIssued  = "issued"
	publishedPaid    = "paid"
	publishedVoided  = "void"
)

// pendingEvents returns the events to publish for an invoice with the given status, and the last
// published event to store. It returns no events for statuses that arrive late, out of order or
// repeatedly.
func pendingEvents(lastEvent string, status Status) (events []hook.Type, next string) {
	if lastEvent != publishedNothing && lastEvent != publishedIssued || status == StatusDraft {
		return nil, lastEvent
	}
	if next = publishedIssued; lastEvent == publishedNothing {
		events = append(events, hook.InvoiceIssued)
	}
	switch status {
	case StatusPaid:
		return append(events, hook.InvoicePaid), publishedPaid
	case StatusVoid:
		return append(events, hook.InvoiceVoided), publishedVoided
	default:
		return events, next
	}
}

// publish adds the new events of an invoice to the outbox, under the tenant's lock and in the
// transaction that stores the invoice's status (rules: webhooks#types). It reports whether one of
// them is invoice.paid.
func (s *Service) publish(ctx context.Context, inv Invoice) (isPaid bool, _ error) {
	lastEvent, err := s.store.lastEvent(ctx, inv)
	if err != nil {
		return false, err
	}
	events, next := pendingEvents(lastEvent, inv.Status)
	if len(events) == 0 {
		return false, nil
	}
	if err := s.store.setLastEvent(ctx, inv, next); err != nil {
		return false, err
	}
	for _, event := range events {
		err := hook.Publish(ctx, s.deps.Events, event, inv.TenantID, func(ctx context.Context) (any, error) {
			if s.deps.Issuing != nil {
				inv, err = s.store.invoice(ctx, inv.TenantID, inv.ID)
			}
			return view(inv), err
		})
		if err != nil {
			return false, err
		}
	}
	return slices.Contains(events, hook.InvoicePaid), nil
}

// mailReceipt mails a receipt over an amount in minor units to the tenant, once per invoice, if
// receipts are enabled (rules: mail#optional-mails). It sends no receipt if nothing was paid.
func (s *Service) mailReceipt(ctx context.Context, inv Invoice, paidCents int64) error {
	if !s.deps.Letters.SendsReceipts() || paidCents <= 0 {
		return nil
	}
	if s.deps.Issuing != nil { // use the invoice number of this service
		var err error
		if inv, err = s.store.invoice(ctx, inv.TenantID, inv.ID); err != nil {
			return err
		}
	}
	t, err := s.deps.Tenants.Get(ctx, inv.TenantID)
	if err != nil {
		return err
	}
	to, err := s.deps.Tenants.BillingEmail(ctx, t)
	if err != nil || to == nil {
		return err
	}
	units, err := s.store.minorUnits(ctx, inv.Total.Currency)
	if err != nil {
		return err
	}
	locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return err
	}
	r := letters.Receipt{
		Tenant: t.Name, Number: inv.Number, MinorUnits: units, PaidAt: s.deps.Clock.Now(),
		Amount: money.Money{AmountCents: paidCents, Currency: inv.Total.Currency},
	}
	if inv.PaidAt != nil {
		r.PaidAt = *inv.PaidAt
	}
	for _, line := range inv.Lines {
		if line.PlanID != nil && line.Amount.AmountCents > 0 { // not the credit for a previous plan
			r.What = line.Description
			break
		}
	}
	return s.deps.Letters.Receipt(ctx, locale, *to, r)
}
