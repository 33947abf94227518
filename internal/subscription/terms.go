package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
	"github.com/tenantry/tenantry/internal/tenant"
)

// The ways in which a customer pays: with a card or another saved payment method that is charged
// automatically, or by invoice.
const (
	collectCard    = "card"
	collectInvoice = "invoice"
)

// defaultDaysUntilDue is the time to pay an invoice, in days, unless the platform sets another one.
const defaultDaysUntilDue = 30

// Terms are the terms of payment that the platform can set for one subscription.
type Terms struct {
	Collection    string `json:"collection,omitempty"`
	DaysUntilDue  int64  `json:"days_until_due,omitzero"` // 0 unless Collection is collectInvoice
	PurchaseOrder string `json:"purchase_order,omitempty"`
}

// IsSent reports whether invoices are sent to the customer instead of being charged.
func (t Terms) IsSent() bool { return t.Collection == collectInvoice }

// days returns the days to pay an invoice, or nil if invoices are charged.
func (t Terms) days() *int64 {
	if !t.IsSent() {
		return nil
	}
	return &t.DaysUntilDue
}

// newTerms returns the terms of the provider's subscription.
func newTerms(remote psp.Subscription) Terms {
	t := Terms{Collection: collectCard, PurchaseOrder: remote.Metadata[subscriptions.MetaPurchaseOrder]}
	if remote.IsSent {
		t.Collection, t.DaysUntilDue = collectInvoice, remote.DaysUntilDue
	}
	return t
}

// termsChange is a change of terms. Nil fields stay as they are.
type termsChange struct {
	collection    *string
	daysUntilDue  *int64
	purchaseOrder *string // empty removes it
}

func (c termsChange) isEmpty() bool { return c == termsChange{} }

// applyTo returns the terms after the change.
func (c termsChange) applyTo(t Terms) Terms {
	if c.purchaseOrder != nil {
		t.PurchaseOrder = *c.purchaseOrder
	}
	if c.collection != nil && *c.collection != t.Collection {
		t.Collection, t.DaysUntilDue = *c.collection, defaultDaysUntilDue
	}
	if c.daysUntilDue != nil {
		t.DaysUntilDue = *c.daysUntilDue
	}
	if !t.IsSent() {
		t.DaysUntilDue = 0
	}
	return t
}

// updateTerms changes the terms of a subscription, which affect later invoices only. It rejects
// payments with a card if no payment method is saved (422 on collection).
func (s *Service) updateTerms(ctx context.Context, tenantID, id uuid.UUID, c termsChange) (Subscription, error) {
	return s.operate(ctx, steps{
		load: func(ctx context.Context) (Subscription, error) { return s.loadPatchable(ctx, tenantID, id) },
		check: func(ctx context.Context, sub Subscription) (instruction, verdict, error) {
			return s.checkTerms(ctx, sub, c)
		},
		repeats: func(earlier instruction) bool {
			return earlier.Kind == opTerms && earlier.Terms != nil && c.applyTo(*earlier.Terms) == *earlier.Terms
		},
		send: s.sendTerms,
	})
}

func (s *Service) checkTerms(ctx context.Context, sub Subscription, c termsChange) (instruction, verdict, error) {
	terms := c.applyTo(sub.Terms)
	in := instruction{Kind: opTerms, Terms: &terms}
	if c.collection != nil && *c.collection == collectCard {
		customerID, err := s.deps.Customers.ByTenant(ctx, sub.TenantID)
		if err == nil {
			in.PaymentMethodID, err = s.deps.Contracts.SavedPaymentMethod(ctx, customerID)
		}
		if err == nil && in.PaymentMethodID == "" {
			err = errNoSavedMethod
		}
		if err != nil {
			return instruction{}, nothingToDo, err
		}
	}
	if terms == sub.Terms {
		return instruction{}, nothingToDo, nil
	}
	if terms.IsSent() && !sub.Terms.IsSent() {
		if err := s.prepareSending(ctx, sub.TenantID); err != nil {
			return instruction{}, nothingToDo, err
		}
	}
	return in, mustSend, nil
}

func (s *Service) sendTerms(ctx context.Context, op operation) error {
	err := s.deps.Contracts.SetTerms(ctx, op.before.PSPSubscriptionID, subscriptions.Terms{
		IsSent: op.Terms.IsSent(), DaysUntilDue: op.Terms.DaysUntilDue, PurchaseOrder: op.Terms.PurchaseOrder, PaymentMethodID: op.PaymentMethodID,
	}, op.key())
	return err
}

// prepareSending makes sure that the provider's customer has an email, which the provider requires
// for invoices that it does not charge. It fails with billing_not_ready if the tenant has neither a
// billing address nor an owner.
func (s *Service) prepareSending(ctx context.Context, tenantID uuid.UUID) error {
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return err
	}
	if err := s.requireBillingEmail(ctx, t); err != nil {
		return err
	}
	return s.deps.Customers.Send(ctx, t)
}

// requireBillingEmail fails with billing_not_ready if the tenant has neither a billing address nor an
// owner.
func (s *Service) requireBillingEmail(ctx context.Context, t tenant.Tenant) error {
	to, err := s.deps.Tenants.BillingEmail(ctx, t)
	if err == nil && to == nil {
		err = errBillingNotReady.With("missing_fields", []string{"billing_email"})
	}
	return err
}

// loadPatchable returns a subscription of a tenant that is neither over nor waiting for its first
// payment.
func (s *Service) loadPatchable(ctx context.Context, tenantID, id uuid.UUID) (Subscription, error) {
	sub, err := s.store.byID(ctx, tenantID, id)
	if err == nil && (sub.Status.IsOver() || sub.Status == Incomplete) {
		err = errNotUpgradable
	}
	return sub, err
}

// sendInvoices finalizes the drafts that a change of a subscription paid by invoice has created. A
// failure is only logged: the notification of the draft does the same, and the provider finalizes
// it within the hour.
func (s *Service) sendInvoices(ctx context.Context, op operation, ended bool) {
	if !op.before.Terms.IsSent() {
		return
	}
	if err := s.deps.Provider.SendInvoices(ctx, op.before.PSPSubscriptionID, ended); err != nil && !errors.Is(err, psp.ErrNotFound) {
		s.deps.Log.WarnContext(ctx, "failed to finalize invoice", "tenant_id", op.before.TenantID, "psp_subscription_id", op.before.PSPSubscriptionID, "error", err)
	}
}

// termsEntry returns the audit entry of opTerms.
func (op operation) termsEntry(after Subscription) audit.Entry {
	return audit.Entry{
		Action: "subscription.updated", TenantID: &after.TenantID, Resource: "subscription", ResourceID: after.ID.String(),
		Before: op.before.Terms.auditState(), After: after.Terms.auditState(),
	}
}

func (t Terms) auditState() map[string]any {
	return map[string]any{"collection": t.Collection, "days_until_due": t.days(), "purchase_order": orNil(t.PurchaseOrder)}
}
