package subscription

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/items"
)

// The invoice of a pending change takes along the items that waited for the next invoice, such as
// changes of seats, and the provider leaves them there when that invoice is voided (adr 0016).
//
// Invariant: the items that waited before a change that is not made wait again after it, once,
// whatever ended the change. So the items are noted before the change is sent, a note stays
// until the fate of its item is known, and as long as there are notes there is a job that
// reads the items back.

// JobItems is the kind of those jobs.
const JobItems = "subscription.items"

const (
	// itemsDelay is when the job runs if there is no notification of the end of a change: at the
	// provider a change is pending for less than a day.
	itemsDelay = 24 * time.Hour
	// itemsPause is the pause until the job runs again.
	itemsPause = time.Hour
	// invoiceOfChange is the provider's reason for the invoice of a change.
	invoiceOfChange = "subscription_update"
)

// noteItems notes the items that wait for the next invoice, before an operation sends a change
// that may become pending.
func (s *Service) noteItems(ctx context.Context, op operation) error {
	remote, err := s.deps.Provider.GetSubscription(ctx, op.before.PSPSubscriptionID)
	if err != nil {
		return err
	}
	pending, err := s.deps.Items.Pending(ctx, remote.CustomerID, remote.ID)
	if err != nil || len(pending) == 0 {
		return err
	}
	waiting := make([]string, len(pending))
	for i, item := range pending {
		waiting[i] = item.ID
	}
	now := s.deps.Clock.Now()
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.storeItems(ctx, op, waiting, now); err != nil {
			return err
		}
		return s.enqueueItems(ctx, op.before, now.Add(itemsDelay))
	})
}

// settleItems makes the items again that have to wait again after a change that was not made. While
// the change is pending, it returns their sum.
func (s *Service) settleItems(ctx context.Context, sub Subscription) (psp.PendingAmounts, error) {
	stored, err := s.store.storedItems(ctx, sub)
	if err != nil || len(stored) == 0 {
		return psp.PendingAmounts{}, err
	}
	in, err := s.findInvoiceOfItems(ctx, stored)
	if err != nil {
		return psp.PendingAmounts{}, err
	}
	open, void := in.Status == "open" || in.Status == "draft", in.Status == "void"
	if in.BillingReason != invoiceOfChange || !open && !void { // they wait, or are billed
		return psp.PendingAmounts{}, s.store.deleteItems(ctx, sub, stored)
	}
	there, err := s.deps.Items.ListOfInvoice(ctx, in.ID)
	if err != nil {
		return psp.PendingAmounts{}, err
	}
	there = slices.DeleteFunc(there, func(i items.Item) bool { return !slices.Contains(stored, i.ID) })
	sum := items.Sum(there)
	switch {
	case open:
		return sum, nil
	case sub.Status.IsOver():
		s.deps.Log.ErrorContext(ctx, "what waited for the next invoice is not billed: the subscription ended while a change waited",
			"tenant", sub.TenantID, "psp_subscription_id", sub.PSPSubscriptionID, "invoice", in.ID,
			"charge", sum.Charge, "credit", sum.Credit, "currency", sum.Currency)
	default:
		if err := s.deps.Items.Recreate(ctx, there, in.CreatedAt); err != nil {
			return psp.PendingAmounts{}, err
		}
	}
	return psp.PendingAmounts{}, s.store.deleteItems(ctx, sub, stored)
}

// findInvoiceOfItems returns the invoice that took items along, zero where none did. They
// waited together, so the invoice of the first that still exists is the invoice of all.
func (s *Service) findInvoiceOfItems(ctx context.Context, stored []string) (psp.Invoice, error) {
	for _, id := range stored {
		invoiceID, err := s.deps.Items.InvoiceOf(ctx, id)
		if errors.Is(err, psp.ErrNotFound) {
			continue
		}
		if err != nil || invoiceID == "" {
			return psp.Invoice{}, err
		}
		return s.deps.Provider.GetInvoice(ctx, invoiceID)
	}
	return psp.Invoice{}, nil
}

// releaseItems has the job look when a change does not wait any more; it is called in the
// transaction that stores that.
func (s *Service) releaseItems(ctx context.Context, before, after Subscription) error {
	if before.Pending == nil || after.Pending != nil && after.Pending.PSPInvoiceID == before.Pending.PSPInvoiceID {
		return nil
	}
	stored, err := s.store.storedItems(ctx, after)
	if err != nil || len(stored) == 0 {
		return err
	}
	return s.enqueueItems(ctx, after, s.deps.Clock.Now())
}

func (s *Service) enqueueItems(ctx context.Context, sub Subscription, at time.Time) error {
	return s.deps.Jobs.Enqueue(ctx, JobItems, sub.PSPSubscriptionID, jobs.Key(sub.PSPSubscriptionID), jobs.At(at))
}

// HandleItems is the handler of JobItems.
func (s *Service) HandleItems(ctx context.Context, job jobs.Job) error {
	var pspID string
	if err := job.Decode(&pspID); err != nil {
		return err
	}
	sub, err := s.ByPSPID(ctx, pspID)
	if err != nil {
		return err
	}
	if _, err := s.settleItems(ctx, sub); err != nil {
		return psp.MarkPermanent(err)
	}
	stored, err := s.store.storedItems(ctx, sub)
	if err != nil || len(stored) == 0 {
		return err
	}
	return s.enqueueItems(ctx, sub, s.deps.Clock.Now().Add(itemsPause))
}
