package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// A change whose payment its payer has to confirm is pending (rules:
// subscription#changes-that-wait). It was tried at once before, so that a card that is
// refused outright leaves nothing behind, and so that the plan's name is in the metadata
// of every other change: the provider takes no metadata with a pending change.
//
// No change becomes pending while the tenant owes for its period (past_due): the provider would
// take the invoice of a change that is dropped, which is the latest then, for settled, and the
// subscription for paid.

// sendPending leaves a change pending until its payment is confirmed. If the payment is
// refused now after all, nothing is pending and nothing is open.
func (s *Service) sendPending(ctx context.Context, op operation, change psp.Change) error {
	if err := s.noteItems(ctx, op); err != nil {
		return err
	}
	after, err := s.deps.Provider.AwaitChange(ctx, change, op.key()+"-waits")
	if err != nil || after.Pending == nil || after.Action.Type == money.ActionConfirm {
		return err
	}
	if err := s.voidInvoice(ctx, after.LatestInvoiceID); err != nil {
		return err
	}
	if _, err := s.settleItems(ctx, op.before); err != nil {
		return err
	}
	return psp.ErrDeclined
}

// dropPending ends the change that was pending before the operation, by voiding its invoice:
// nothing is owed for a change that was never made, and the items that waited before it wait
// again. ErrRefused is the cause when the invoice was paid meanwhile, and so the change made.
func (s *Service) dropPending(ctx context.Context, op operation) error {
	if op.before.Pending != nil {
		if err := s.voidInvoice(ctx, op.before.Pending.PSPInvoiceID); err != nil {
			return err
		}
	}
	_, err := s.settleItems(ctx, op.before)
	return err
}

// voidInvoice voids the invoice of a pending change. Its key is fixed: a repetition changes
// nothing.
func (s *Service) voidInvoice(ctx context.Context, invoiceID string) error {
	err := s.deps.Provider.VoidInvoice(ctx, invoiceID, "drop-"+invoiceID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	return err
}

// dropChange ends a pending change of the tenant's plan; without one there is nothing
// to do. It refuses (plan_change_error) a change whose invoice was paid meanwhile: it is made.
func (s *Service) dropChange(ctx context.Context, tenantID uuid.UUID) error {
	op, claimed, err := s.claim(ctx, request{
		load:    s.runningLoader(tenantID),
		repeats: isKind(opDrop),
		check: func(_ context.Context, sub Subscription) (instruction, verdict, error) {
			if sub.Pending == nil {
				return instruction{}, nothingToDo, nil
			}
			return instruction{Kind: opDrop}, mustSend, nil
		},
		missing: ErrNotFound,
	})
	if claimed {
		sent := s.dropPending(ctx, op)
		if isRefusal(sent) {
			sent = errChangeRefused.Wrap(sent)
		}
		_, err = s.settle(ctx, op, sent)
	}
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
