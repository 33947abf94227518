package operation

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

// A change whose payment its payer has to confirm waits (rules:
// subscription#changes-that-wait). It was tried at once before, so that a card that is
// refused outright leaves nothing behind, and so that the plan's name is in the metadata
// of every change but these: the provider takes none with a change that waits.
//
// Nothing waits while the tenant owes for its period (past_due): the provider would take
// the invoice of a change that is dropped, which is the latest then, for settled, and the
// subscription for paid.

// await leaves a change waiting for the confirmation of its payment. If the payment is
// refused now after all, nothing waits and nothing is open.
func (s *Service) await(ctx context.Context, op operation, change psp.Change) error {
	if err := s.keepItems(ctx, op); err != nil {
		return err
	}
	after, err := s.deps.Provider.AwaitChange(ctx, change, op.key()+"-waits")
	if err != nil || after.Pending == nil || after.Action.Type == psp.ActionConfirm {
		return err
	}
	if err := s.void(ctx, after.LatestInvoiceID); err != nil {
		return err
	}
	if _, err := s.settleItems(ctx, op.before); err != nil {
		return err
	}
	return psp.ErrDeclined
}

// dropWaiting ends a change that the operation found waiting, by voiding its invoice:
// nothing is owed for a change that never was, and what waited before it waits again.
// ErrRefused is the cause when the invoice was paid meanwhile, and so the change made.
func (s *Service) dropWaiting(ctx context.Context, op operation) error {
	if op.before.Pending != nil {
		if err := s.void(ctx, op.before.Pending.PSPInvoiceID); err != nil {
			return err
		}
	}
	_, err := s.settleItems(ctx, op.before)
	return err
}

// void voids the invoice of a change that waits. Its key is fixed: a repetition changes
// nothing.
func (s *Service) void(ctx context.Context, invoiceID string) error {
	err := s.deps.Provider.VoidInvoice(ctx, invoiceID, "drop-"+invoiceID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	return err
}

// DropChange ends a change of the tenant's plan that waits; without one there is nothing
// to do.
func (s *Service) DropChange(ctx context.Context, tenantID uuid.UUID) error {
	_, err := s.operate(ctx, dropChange{ofRunning{s, tenantID}})
	if errors.Is(err, subscription.ErrNotFound) {
		return nil
	}
	return err
}

// dropChange ends a change that waits.
type dropChange struct{ ofRunning }

func (dropChange) continues(pending instruction) bool { return pending.Kind == opDrop }

func (dropChange) prepare(_ context.Context, sub subscription.Subscription) (instruction, error) {
	if sub.Pending == nil {
		return instruction{}, errNothingToDo
	}
	return instruction{Kind: opDrop}, nil
}

func (d dropChange) send(ctx context.Context, op operation) error { return d.svc.dropWaiting(ctx, op) }

// refusal is for a change whose invoice was paid meanwhile: it is made.
func (dropChange) refusal(err error) error { return errChangeRefused.Wrap(err) }
