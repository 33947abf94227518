package subscription

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
)

// The invoice of a pending change includes the items that were pending for the next invoice, such as
// changes of seats. If that invoice is voided, the provider leaves the items on it (adr 0016).
//
// Invariant: if a change is not made, the items that were pending before it become pending again,
// exactly once, no matter what ended the change. So the items are recorded before the change is
// sent, a record stays until the fate of its item is known, and as long as there are records, a job
// reads the items back.

// JobItems is the kind of the job that reads the recorded items back.
const JobItems = "subscription.items"

const (
	// itemsDelay is when the job runs if no notification reports the end of a change. The provider
	// keeps a change pending for less than a day.
	itemsDelay = 24 * time.Hour
	// itemsPause is the pause before the job runs again.
	itemsPause = time.Hour
	// invoiceOfChange is the provider's billing reason of the invoice of a change.
	invoiceOfChange = "subscription_update"
)

// recordItems records the items that are pending for the next invoice before an operation sends a
// change that may become pending.
func (s *Service) recordItems(ctx context.Context, op operation) error {
	remote, err := s.deps.Provider.GetSubscription(ctx, op.before.PSPSubscriptionID)
	if err != nil {
		return err
	}
	pending, err := s.deps.Items.ListPending(ctx, remote.CustomerID, remote.ID)
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

// settleItems recreates the items that must become pending again after a change was not made. While
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
	if in.BillingReason != invoiceOfChange || !open && !void { // the items are pending or billed
		return psp.PendingAmounts{}, s.store.deleteItems(ctx, sub, stored)
	}
	there, err := s.deps.Items.ListOfInvoice(ctx, in.ID)
	if err != nil {
		return psp.PendingAmounts{}, err
	}
	there = slices.DeleteFunc(there, func(i subscriptions.Item) bool { return !slices.Contains(stored, i.ID) })
	sum := subscriptions.SumItems(there)
	switch {
	case open:
		return sum, nil
	case sub.Status.IsOver():
		s.deps.Log.ErrorContext(ctx, "pending invoice items not billed: subscription ended during a pending change",
			"tenant", sub.TenantID, "psp_subscription_id", sub.PSPSubscriptionID, "invoice", in.ID,
			"charge", sum.Charge, "credit", sum.Credit, "currency", sum.Currency)
	default:
		if err := s.deps.Items.Recreate(ctx, there, in.CreatedAt); err != nil {
			return psp.PendingAmounts{}, err
		}
	}
	return psp.PendingAmounts{}, s.store.deleteItems(ctx, sub, stored)
}

// findInvoiceOfItems returns the invoice that included the items, or zero if there is none. The
// items were pending together, so it looks up the first item that still exists.
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

// enqueueReleasedItems enqueues JobItems when a change is no longer pending. Call it in the transaction
// that stores the new state.
func (s *Service) enqueueReleasedItems(ctx context.Context, before, after Subscription) error {
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

// HandleItems handles JobItems.
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
