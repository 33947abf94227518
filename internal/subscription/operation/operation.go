package operation

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
)

// The kinds of operations, as they are stored.
const (
	opCancel    = "cancel"     // with the period
	opCancelNow = "cancel_now" // at once
	opResume    = "resume"
	opChange    = "change"   // of the plan
	opDrop      = "drop"     // of a change that waits
	opQuantity  = "quantity" // of seats
	opMetered   = "metered"  // items
	opRecharge  = "recharge" // of a pending credit that was never paid
)

const (
	// operationLease is longer than it takes to ask the provider and to read the
	// state back. It matters only when a process dies in between, and is real time, like
	// busyWait.
	operationLease = 45 * time.Second
	// repeatable is how long a repetition continues an operation of unknown outcome.
	// After that its effect, if any, has long been read back, and what it was
	// prepared on is out of date.
	repeatable = time.Hour
	// busyWait is how long a caller waits for another operation on the subscription
	// before it is refused (subscription_busy). It is less than a request may take.
	busyWait = 20 * time.Second
	// busyPause is the pause between two looks at the other operation.
	busyPause = 50 * time.Millisecond
	// releasePause is the pause between two attempts to let an operation go.
	releasePause = 250 * time.Millisecond
)

// usageSettled is the value of instruction.Usage, which package billing looks for.
const usageSettled = "settled"

// instruction is what the provider is told to do. It is stored word for word, so
// that a repetition tells it the same.
type instruction struct {
	Kind   string  `json:"kind"`
	Reason *string `json:"reason,omitempty"` // of a cancellation
	// PlanID to TrialEnd are of a change of plan; Quantity and ItemID are of a
	// change of quantity too.
	PlanID        uuid.UUID `json:"plan_id,omitzero"`
	Quantity      int64     `json:"quantity,omitzero"`
	ItemID        string    `json:"item_id,omitzero"`
	PriceID       string    `json:"price_id,omitzero"`
	ProrationDate time.Time `json:"proration_date,omitzero"`
	Unprorated    bool      `json:"unprorated,omitzero"`
	UnpaidCredit  int64     `json:"unpaid_credit,omitzero"`
	ProductID     string    `json:"product_id,omitzero"`
	PaysOwed      bool      `json:"pays_owed,omitzero"` // first, or nothing happens
	TrialEnd      time.Time `json:"trial_end,omitzero"`
	// Usage is usageSettled while the operation settles the tenant's usage, so that no usage
	// is recorded meanwhile.
	Usage string `json:"usage,omitempty"`
	// ShownUsage is the usage that a change of plan may charge, nil for any.
	ShownUsage *int64 `json:"shown_usage,omitempty"`
	// Departures counts the members who had left when it was prepared: their seats
	// are not billed any more when it is done.
	Departures int64 `json:"departures,omitzero"`
	// Metered are the items that are to change, by a change of plan or for the period that
	// began at Period.
	Metered []psp.MeteredChange `json:"metered,omitempty"`
	Period  time.Time           `json:"period,omitzero"`
}

// operation is a write to the provider that is stored before it is made. Its id is
// the idempotency key.
type operation struct {
	id     uuid.UUID
	before subscription.Subscription // as it was when the operation was asked for
	by     authz.Origin
	instruction
	leasedUntil, createdAt time.Time
}

// key is the idempotency key.
func (op operation) key() string { return op.id.String() }

// kind is what one kind of operation does. operate calls the methods in the order
// in which they stand here.
type kind interface {
	// load returns the subscription that is to be changed, or the refusal.
	load(ctx context.Context) (subscription.Subscription, error)
	// continues reports whether a pending operation is an earlier attempt at this one.
	continues(pending instruction) bool
	// prepare checks the rules and returns the instruction; it may ask the provider.
	// It returns errNothingToDo when the subscription is to stay as it is.
	prepare(ctx context.Context, sub subscription.Subscription) (instruction, error)
	// confirm checks under the tenant's lock that the instruction still holds;
	// subscription.ErrOvertaken has it prepared again.
	confirm(ctx context.Context, sub subscription.Subscription, in instruction) error
	// send tells the provider.
	send(ctx context.Context, op operation) error
	// refusal returns what the caller is told when the provider refuses.
	refusal(err error) error
	// gone returns what the caller is told when the provider does not have the
	// subscription any more.
	gone() error
}

// ofRunning has the steps that most kinds share: they change the tenant's running
// subscription, and have nothing to confirm.
type ofRunning struct {
	svc      *Service
	tenantID uuid.UUID
}

func (k ofRunning) load(ctx context.Context) (subscription.Subscription, error) {
	return k.svc.deps.Subscriptions.Running(ctx, k.tenantID)
}

func (ofRunning) confirm(context.Context, subscription.Subscription, instruction) error { return nil }

func (k ofRunning) refusal(err error) error { return goneOr(err, k.gone()) }

func (ofRunning) gone() error { return subscription.ErrNotFound }

var errNothingToDo = errors.New("there is nothing to do")

// operate changes a subscription (rules: subscription#operations). It loads it, prepares and confirms an operation,
// makes the write at the provider, and settles by storing the state that is read
// back. When the provider cannot be reached nothing changes here.
//
// Invariants: a subscription has at most one pending operation. It is committed
// under the tenant's lock before the provider is asked, and others wait for it. It
// was prepared on the subscription as it is at that moment. An operation of unknown
// outcome stays pending: a repetition makes the same write with the same key, and
// any other operation first reads back what came of it.
func (s *Service) operate(ctx context.Context, k kind) (subscription.Subscription, error) {
	began := s.deps.Lease.Now()
	for {
		sub, err := k.load(ctx)
		if err != nil {
			return subscription.Subscription{}, err
		}
		op, err := s.claim(ctx, sub, k)
		switch {
		case err == nil:
			return s.settle(ctx, op, k)
		case errors.Is(err, errNothingToDo):
			return sub, nil
		case errors.Is(err, subscription.ErrOvertaken):
		case errors.Is(err, errBusy):
			if s.deps.Lease.Now().Sub(began) >= busyWait || !pause(ctx, busyPause) {
				return subscription.Subscription{}, err
			}
		default:
			return subscription.Subscription{}, err
		}
	}
}

// claim returns the operation to carry out: the pending one if k repeats it, else a
// new one. ErrOvertaken asks to load the subscription again, errBusy to wait first.
func (s *Service) claim(ctx context.Context, sub subscription.Subscription, k kind) (operation, error) {
	pending, err := s.store.pending(ctx, sub)
	if err == nil {
		return s.claimPending(ctx, pending, k)
	}
	if !errors.Is(err, errNoOperation) {
		return operation{}, err
	}
	if err := s.acknowledge(ctx, sub, k); err != nil {
		return operation{}, err
	}
	in, err := k.prepare(ctx, sub)
	if err != nil {
		return operation{}, err
	}
	op := operation{
		id: sqldb.NewID(), before: sub, by: authz.OriginOf(ctx), instruction: in, leasedUntil: s.deps.Lease.Now().Add(operationLease),
	}
	return op, s.begin(ctx, op, k)
}

// claimPending takes over a pending operation that nobody works on: k repeats it, or
// it is abandoned.
//
// Invariant: only who holds an operation's lease ends it. So nobody abandons what
// another caller is repeating, and its effect is recorded.
func (s *Service) claimPending(ctx context.Context, pending operation, k kind) (operation, error) {
	now, leasedAt := s.deps.Clock.Now(), s.deps.Lease.Now()
	if pending.leasedUntil.After(leasedAt) {
		return operation{}, errBusy
	}
	leased, err := s.store.lease(ctx, pending, leasedAt, now)
	pending.leasedUntil = leasedAt.Add(operationLease)
	switch {
	case err != nil:
		return operation{}, err
	case !leased:
		return operation{}, subscription.ErrOvertaken
	case k.continues(pending.instruction) && now.Sub(pending.createdAt) < repeatable:
		return pending, nil
	}
	if err := s.abandon(ctx, pending); err != nil {
		return operation{}, goneOr(err, k.gone())
	}
	return operation{}, subscription.ErrOvertaken
}

// acknowledge returns errNothingToDo if k repeats an operation that was abandoned although
// the provider had done it.
//
// Invariant: a caller who repeats what failed with an unknown outcome is answered as if the
// first attempt had been, whoever read the outcome back in between (the seats follow the team
// at any time). Only the first repetition is, and only while its effect still shows.
func (s *Service) acknowledge(ctx context.Context, sub subscription.Subscription, k kind) error {
	last, state, err := s.store.lastAsked(ctx, sub)
	if errors.Is(err, errNoOperation) {
		return nil
	}
	now := s.deps.Clock.Now()
	if err != nil || state != stateAbandoned || !k.continues(last.instruction) || !last.shows(sub) || now.Sub(last.createdAt) >= repeatable {
		return err
	}
	first := false
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		first, err = s.store.acknowledge(ctx, last, now)
		if err == nil && first && last.Kind == opChange {
			err = s.store.forgetPreviews(ctx, sub.TenantID, last.PlanID)
		}
		return err
	})
	if err == nil && first {
		err = errNothingToDo
	}
	return err
}

// begin stores a new operation, unless the subscription has changed since it was
// loaded.
func (s *Service) begin(ctx context.Context, op operation, k kind) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, op.before.TenantID); err != nil {
			return err
		}
		current, err := s.deps.Subscriptions.ByPSPID(ctx, op.before.PSPSubscriptionID)
		if errors.Is(err, subscription.ErrNotFound) || err == nil && current.SyncVersion != op.before.SyncVersion {
			return subscription.ErrOvertaken
		}
		if err != nil {
			return err
		}
		_, err = s.store.pending(ctx, op.before)
		if err == nil {
			return subscription.ErrOvertaken
		}
		if !errors.Is(err, errNoOperation) {
			return err
		}
		if err := k.confirm(ctx, op.before, op.instruction); err != nil {
			return err
		}
		return s.store.insertOperation(ctx, op, s.deps.Lease.Now(), s.deps.Clock.Now())
	})
}

// settle makes the write and stores the state that the subscription has after it.
func (s *Service) settle(ctx context.Context, op operation, k kind) (subscription.Subscription, error) {
	err := k.send(ctx, op)
	refused := errors.Is(err, psp.ErrDeclined) || errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) || errors.Is(err, errOtherUsage)
	if err == nil {
		err = s.deps.Subscriptions.ReadBack(ctx, op.before.PSPSubscriptionID, func(ctx context.Context, after subscription.Subscription) error {
			return s.complete(ctx, op, after)
		})
	}
	if err == nil {
		return s.deps.Subscriptions.ByPSPID(ctx, op.before.PSPSubscriptionID)
	}
	// The caller may have gone; the operation must be let go all the same.
	ctx = context.WithoutCancel(ctx)
	if refused {
		_, closeErr := s.store.closeOperation(ctx, op, stateFailed, s.deps.Clock.Now())
		return subscription.Subscription{}, errors.Join(k.refusal(err), closeErr)
	}
	return subscription.Subscription{}, errors.Join(err, s.letGo(ctx, op))
}

// letGo leaves an operation pending, with nobody working on it. Where the database is away it
// is tried in the background until the lease ends by itself: whoever repeats the operation
// need not wait for that.
func (s *Service) letGo(ctx context.Context, op operation) error {
	release := func() error { return s.store.release(ctx, op, s.deps.Lease.Now(), s.deps.Clock.Now()) }
	err := release()
	if sqldb.IsUnavailable(err) {
		go func() {
			for pause(ctx, releasePause) && s.deps.Lease.Now().Before(op.leasedUntil) && sqldb.IsUnavailable(release()) {
			}
		}()
	}
	return err
}

// complete ends, in the transaction that stores the new state, an operation that the
// provider has answered.
func (s *Service) complete(ctx context.Context, op operation, after subscription.Subscription) error {
	first, err := s.store.closeOperation(ctx, op, stateDone, s.deps.Clock.Now())
	if err != nil || !first {
		return err
	}
	switch {
	case op.Kind == opRecharge:
		return nil // the subscription is as it was
	case op.Kind == opChange: // what was shown has happened
		err = s.store.forgetPreviews(ctx, op.before.TenantID, op.PlanID)
	case op.Kind == opMetered && after.CurrentPeriodStart.Equal(op.Period):
		err = s.deps.Subscriptions.DecideMetered(ctx, after, s.billsFrom(), false)
	}
	if err != nil {
		return err
	}
	return s.record(ctx, op, after)
}

// abandon gives up an operation that nobody repeats and that is leased to the caller,
// after its outcome was read back.
func (s *Service) abandon(ctx context.Context, op operation) error {
	if err := s.deps.Subscriptions.ReadBack(ctx, op.before.PSPSubscriptionID, nil); err != nil {
		return errors.Join(err, s.letGo(context.WithoutCancel(ctx), op))
	}
	_, err := s.store.closeOperation(ctx, op, stateAbandoned, s.deps.Clock.Now())
	return err
}

// goneOr returns gone in place of an error that says that the provider does not have
// the object.
func goneOr(err, gone error) error {
	if errors.Is(err, psp.ErrNotFound) {
		return gone
	}
	return err
}

// pause waits and reports whether ctx lasted that long.
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
