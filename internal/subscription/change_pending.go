package subscription

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// If the payer has to confirm the payment of a change, the change is pending (rules:
// subscription#pending-changes). The change is always tried as an immediate change first. If the
// card is declined outright, no pending change and no open invoice remain. An immediate change also
// records the plan in the metadata, which the provider does not accept with a pending change.
//
// While the subscription is past_due, no change becomes pending. If a pending change were dropped,
// its invoice would be the latest one and would count as settled, so that the provider would
// consider the subscription paid.

// sendPending leaves a change pending until its payment is confirmed. If the payment is declined
// after all, no change stays pending and no invoice stays open.
func (s *Service) sendPending(ctx context.Context, op operation, change psp.Change) error {
	if err := s.recordItems(ctx, op); err != nil {
		return err
	}
	after, err := s.deps.Provider.AwaitChange(ctx, change, op.key()+"-waits")
	if err != nil || after.Pending == nil || after.Action.Type == money.ActionConfirm {
		return err
	}
	err = s.voidInvoice(ctx, after.LatestInvoiceID)
	if errors.Is(err, psp.ErrRefused) { // the payer has paid it, so the change was made
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := s.settleItems(ctx, op.before); err != nil {
		return err
	}
	return psp.ErrDeclined
}

// dropPending ends the change that was pending before the operation by voiding its invoice. The
// items that were pending before that change become pending again. It returns psp.ErrRefused if the
// invoice was paid in the meantime, which means that the change was made.
func (s *Service) dropPending(ctx context.Context, op operation) error {
	if op.before.Pending != nil {
		if err := s.voidInvoice(ctx, op.before.Pending.PSPInvoiceID); err != nil {
			return err
		}
	}
	_, err := s.settleItems(ctx, op.before)
	return err
}

// voidInvoice voids the invoice of a pending change. It is idempotent because its key is fixed.
func (s *Service) voidInvoice(ctx context.Context, invoiceID string) error {
	err := s.deps.Provider.VoidInvoice(ctx, invoiceID, "drop-"+invoiceID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	return err
}

// dropChange drops the pending or scheduled change of a running subscription, if there is one. It fails
// with plan_change_error if the invoice was paid in the meantime, because the change was then made.
func (s *Service) dropChange(ctx context.Context, load loader) error {
	sub, err := s.operate(ctx, steps{
		load: load,
		check: func(_ context.Context, sub Subscription) (instruction, verdict, error) {
			switch {
			case sub.Pending != nil:
				return instruction{Kind: opDrop}, mustSend, nil
			case sub.Scheduled != nil:
				return instruction{Kind: opUnschedule}, mustSend, nil
			}
			return instruction{}, nothingToDo, nil
		},
		repeats: func(in instruction) bool { return in.Kind == opDrop || in.Kind == opUnschedule },
		send: func(ctx context.Context, op operation) error {
			if op.Kind == opUnschedule {
				return s.sendSchedule(ctx, op)
			}
			return s.dropPending(ctx, op)
		},
		explain: func(refusal error) error { return errChangeRefused.Wrap(refusal) },
	})
	if err == nil {
		err = s.dropReplacement(ctx, sub)
	}
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// dropReplacement drops the subscription that the platform has made to replace sub, if that subscription
// waits for its first payment. The provider then expires the link to pay.
func (s *Service) dropReplacement(ctx context.Context, sub Subscription) error {
	for began := s.deps.Lease.Now(); ; {
		var c checkout
		var isFree bool
		err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			_, err := s.deps.Tenants.Lock(ctx, sub.TenantID)
			if err == nil {
				c, isFree, err = s.leaseOpenContract(ctx, sub.TenantID, s.deps.Lease.Now())
			}
			return err
		})
		switch {
		case errors.Is(err, errNoCheckout):
			return nil
		case err != nil:
			return err
		case isFree:
			return s.settleDropped(ctx, sub, c)
		case s.deps.Lease.Now().Sub(began) >= busyWait || !clock.Pause(ctx, busyPause):
			return errBusy
		}
	}
}

// settleDropped settles a request of the platform that is leased to the caller, and refuses its
// subscription if that would replace sub. It fails with plan_change_error if sub is already replaced.
func (s *Service) settleDropped(ctx context.Context, sub Subscription, c checkout) error {
	customerID, err := s.deps.Customers.Customer(ctx, sub.TenantID)
	if err == nil {
		err = s.lookUpContract(ctx, c, customerID)
	}
	if err != nil {
		return err
	}
	after, err := s.store.byPSPID(ctx, sub.PSPSubscriptionID)
	switch {
	case err != nil || c.replaces != sub.ID:
		return err
	case after.Status.IsOver():
		return errChangeRefused
	}
	return s.deps.Audit.Record(ctx, sub.changeEntry("subscription.plan_change_dropped", after))
}
