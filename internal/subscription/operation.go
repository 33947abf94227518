package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// What an operation does.
const (
	opCancel    = "cancel"     // with the period
	opCancelNow = "cancel_now" // at once
	opResume    = "resume"
	opChange    = "change"   // another plan
	opQuantity  = "quantity" // the seats follow the team
)

const (
	// operationLease is longer than a request to the provider and reading back
	// take. It counts only when a process dies in between.
	operationLease = 45 * time.Second
	// repeatable is how long a repeated action continues an attempt of unknown
	// outcome. After that its effect, if any, has long been read back, and what it
	// was counted on is out of date.
	repeatable = time.Hour
	// busyWait is how long one waits for another operation on the subscription, less
	// than a request may take: then it is subscription_busy.
	busyWait = 20 * time.Second
	// busyPause is the pause between looks at an operation that is in the way.
	busyPause = 50 * time.Millisecond
)

// request is what an operation asks the provider for, word for word: a repetition
// sends the same.
type request struct {
	Kind   string  `json:"kind"`
	Reason *string `json:"reason,omitempty"` // of a cancellation
	// Of a change of plan, and Quantity and ItemID of the number of units too.
	PlanID        uuid.UUID `json:"plan_id,omitzero"`
	Quantity      int64     `json:"quantity,omitzero"`
	ItemID        string    `json:"item_id,omitzero"`
	PriceID       string    `json:"price_id,omitzero"`
	ProrationDate time.Time `json:"proration_date,omitzero"`
	Unprorated    bool      `json:"unprorated,omitzero"`
}

// sameAs tells whether r is an attempt at what is wanted now; a wanted quantity
// of 0 leaves it open. Seats never are: the team may be another one by now.
func (r request) sameAs(wanted request) bool {
	return r.Kind == wanted.Kind && r.Kind != opQuantity && r.PlanID == wanted.PlanID &&
		(wanted.Quantity == 0 || r.Quantity == wanted.Quantity)
}

// operation is a request that was stored, with its idempotency key.
type operation struct {
	id     uuid.UUID
	before Subscription // as it was when it was asked for
	by     authz.Origin
	request
	leasedUntil, createdAt time.Time
}

// action is a change of a tenant's subscription that somebody wants.
type action struct {
	// find returns the subscription, or the refusal of who has none that can be
	// changed so.
	find func(ctx context.Context) (*Subscription, error)
	// wanted is what is known of the request before it is prepared.
	wanted request
	// prepare checks the rules and completes the request; it may ask the provider.
	// Nothing to do is errNothingToDo.
	prepare func(ctx context.Context, sub Subscription) (request, error)
	// confirm, if given, checks under the tenant's lock that what the request was
	// prepared on still holds; errOvertaken has it prepared anew.
	confirm func(ctx context.Context, sub Subscription, r request) error
	// gone is the refusal when the provider does not have the subscription any more.
	gone error
}

var errNothingToDo = errors.New("there is nothing to do")

// operate makes one change of a subscription: at the provider first, then here
// what the provider says that it is now. When the provider cannot be reached
// nothing changes here.
//
// Invariants: a subscription has one pending operation at most, which is
// committed, under the tenant's lock, before the provider is asked; others wait
// for it. It was prepared on the subscription as it is at that moment. An attempt
// of unknown outcome stays pending: the same action again is the same write with
// the same key, and any other action first reads back what came of it.
func (s *Service) operate(ctx context.Context, a action) (*Subscription, error) {
	began := s.deps.Clock.Now()
	for {
		sub, err := a.find(ctx)
		if err != nil {
			return nil, err
		}
		op, err := s.claim(ctx, *sub, a)
		switch {
		case errors.Is(err, errOvertaken):
			continue
		case errors.Is(err, errBusy):
			if s.deps.Clock.Now().Sub(began) >= busyWait || !pause(ctx, busyPause) {
				return nil, err
			}
			continue
		case errors.Is(err, errNothingToDo):
			return sub, nil
		case err != nil:
			return nil, err
		}
		return s.execute(ctx, op, a.gone)
	}
}

// claim stores the operation that a wants, or continues the pending one if it is
// an attempt at the same. errOvertaken says to look again, errBusy to wait.
func (s *Service) claim(ctx context.Context, sub Subscription, a action) (operation, error) {
	pending, err := s.store.pending(ctx, sub)
	if err != nil {
		return operation{}, err
	}
	now := s.deps.Clock.Now()
	switch {
	case pending == nil:
	case pending.leasedUntil.After(now):
		return operation{}, errBusy
	case pending.sameAs(a.wanted) && now.Sub(pending.createdAt) < repeatable:
		leased, err := s.store.lease(ctx, *pending, now)
		if err == nil && !leased {
			err = errOvertaken
		}
		return *pending, err
	default:
		if err := s.abandon(ctx, *pending, a.gone); err != nil {
			return operation{}, err
		}
		return operation{}, errOvertaken
	}
	r, err := a.prepare(ctx, sub)
	if err != nil {
		return operation{}, err
	}
	op := operation{id: sqldb.NewID(), before: sub, by: authz.OriginOf(ctx), request: r}
	return op, s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		current, err := s.store.byPSPID(ctx, sub.PSPSubscriptionID)
		if err != nil {
			return err
		}
		other, err := s.store.pending(ctx, sub)
		if err != nil {
			return err
		}
		if other != nil || current == nil || current.syncVersion != sub.syncVersion {
			return errOvertaken
		}
		if a.confirm != nil {
			if err := a.confirm(ctx, sub, r); err != nil {
				return err
			}
		}
		return s.store.insertOperation(ctx, op, s.deps.Clock.Now())
	})
}

// abandon gives up an attempt that nobody repeats. What came of it is read back.
func (s *Service) abandon(ctx context.Context, op operation, gone error) error {
	if err := s.sync(ctx, op.before.PSPSubscriptionID, nil); err != nil {
		return goneOr(err, gone)
	}
	_, err := s.store.closeOperation(ctx, op, stateAbandoned, s.deps.Clock.Now())
	return err
}

// execute asks the provider and takes over what the subscription is then.
func (s *Service) execute(ctx context.Context, op operation, gone error) (*Subscription, error) {
	err := s.send(ctx, op)
	refused := errors.Is(err, psp.ErrDeclined) || errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound)
	if err == nil {
		err = s.sync(ctx, op.before.PSPSubscriptionID, func(ctx context.Context, after Subscription) error {
			return s.complete(ctx, op, after)
		})
	}
	if err == nil {
		return s.store.byPSPID(ctx, op.before.PSPSubscriptionID)
	}
	// Also when the caller has gone: the operation is no longer worked on.
	ctx = context.WithoutCancel(ctx)
	if refused {
		_, closeErr := s.store.closeOperation(ctx, op, stateFailed, s.deps.Clock.Now())
		return nil, errors.Join(refusal(op, err, gone), closeErr)
	}
	return nil, errors.Join(err, s.store.release(ctx, op, s.deps.Clock.Now()))
}

// send makes the request.
func (s *Service) send(ctx context.Context, op operation) error {
	id, key := op.before.PSPSubscriptionID, op.id.String()
	var err error
	switch op.Kind {
	case opCancel:
		_, err = s.deps.Provider.SetCancelAtPeriodEnd(ctx, id, true, key)
	case opResume:
		_, err = s.deps.Provider.SetCancelAtPeriodEnd(ctx, id, false, key)
	case opCancelNow:
		_, err = s.deps.Provider.CancelSubscription(ctx, id, key)
	case opQuantity:
		_, err = s.deps.Provider.SetQuantity(ctx, id, op.ItemID, op.Quantity, key)
	case opChange:
		_, err = s.deps.Provider.ChangeSubscription(ctx, psp.Change{
			SubscriptionID: id, ItemID: op.ItemID, PriceID: op.PriceID, Quantity: op.Quantity,
			ProrationDate: op.ProrationDate, Unprorated: op.Unprorated,
		}, map[string]string{metaPlan: op.PlanID.String()}, key)
	default:
		err = errors.New("subscription: unknown operation " + op.Kind)
	}
	return err
}

// refusal is what a caller is told of a request that the provider refused.
func refusal(op operation, err, gone error) error {
	switch {
	case op.Kind != opChange:
		return goneOr(err, gone)
	case errors.Is(err, psp.ErrDeclined):
		return errDeclined.Wrap(err)
	default:
		return errChangeRefused.Wrap(err)
	}
}

func goneOr(err, gone error) error {
	if errors.Is(err, psp.ErrNotFound) {
		return gone
	}
	return err
}

// complete ends, in the transaction that stores the new state, an operation that
// was answered.
func (s *Service) complete(ctx context.Context, op operation, after Subscription) error {
	first, err := s.store.closeOperation(ctx, op, stateDone, s.deps.Clock.Now())
	if err != nil || !first {
		return err
	}
	return s.record(ctx, op, after)
}

// pause waits, and tells false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
