package invoice

import (
	"context"
	"slices"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
)

// What endpoints outside were told of an invoice. What was stored before they could be told
// has another word, and is told of nothing.
const (
	toldNothing = ""
	toldIssued  = "issued"
	toldPaid    = "paid"
	toldVoided  = "void"
)

// news returns what there is to tell of an invoice in a state, and what is told then. States
// that arrive late, in another order, or twice, tell nothing again.
func news(told string, now Status) (events []hook.Type, then string) {
	if told != toldNothing && told != toldIssued || now == Draft {
		return nil, told
	}
	if then = toldIssued; told == toldNothing {
		events = append(events, hook.InvoiceIssued)
	}
	switch now {
	case Paid:
		return append(events, hook.InvoicePaid), toldPaid
	case Void:
		return append(events, hook.InvoiceVoided), toldVoided
	default:
		return events, then
	}
}

// tell hands what is new of an invoice to the outbox, under the tenant's lock, in the
// transaction that stores its state (rules: webhooks#types).
func (s *Service) tell(ctx context.Context, inv Invoice) error {
	told, err := s.store.told(ctx, inv)
	if err != nil {
		return err
	}
	events, then := news(told, inv.Status)
	if len(events) == 0 {
		return nil
	}
	if err := s.store.setTold(ctx, inv, then); err != nil {
		return err
	}
	for _, event := range events {
		err := hook.Tell(ctx, s.deps.Events, event, inv.TenantID, func(ctx context.Context) (any, error) {
			if s.deps.Issuing != nil {
				inv, err = s.store.invoice(ctx, inv.TenantID, inv.ID)
			}
			return view(inv), err
		})
		if err != nil {
			return err
		}
	}
	if slices.Contains(events, hook.InvoicePaid) {
		return s.mailReceipt(ctx, inv)
	}
	return nil
}

// mailReceipt thanks the tenant for a payment, once for each invoice, where the operator wants
// it (rules: mail#optional-mails). Where nothing was paid there is no receipt.
func (s *Service) mailReceipt(ctx context.Context, inv Invoice) error {
	if !s.deps.Letters.SendsReceipts() || inv.charged().AmountCents <= 0 {
		return nil
	}
	if s.deps.Issuing != nil { // with its own number
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
	r := letters.Receipt{Tenant: t.Name, Number: inv.Number, Amount: inv.charged(), MinorUnits: units, PaidAt: s.deps.Clock.Now()}
	if inv.PaidAt != nil {
		r.PaidAt = *inv.PaidAt
	}
	for _, line := range inv.Lines {
		if line.PlanID != nil {
			r.What = line.Description
			break
		}
	}
	return s.deps.Letters.Receipt(ctx, locale, *to, r)
}
