package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// The kinds of operations, as they are stored.
const (
	opCancel    = "cancel"     // with the period
	opCancelNow = "cancel_now" // at once
	opResume    = "resume"
	opChange    = "change"   // of the plan
	opDrop      = "drop"     // of a pending change
	opQuantity  = "quantity" // of seats
	opMetered   = "metered"  // items
	opRecharge  = "recharge" // of a pending credit that was never paid
)

const (
	// operationLease is longer than it takes to ask the provider and to read the
	// state back. It matters only when a process dies in between, and is real time, like
	// busyWait.
	operationLease = 45 * time.Second
	// repeatWindow is how long a repetition continues an operation of unknown outcome.
	// After that its effect, if any, has long been read back, and its instruction is
	// out of date.
	repeatWindow = time.Hour
	// busyWait is how long a caller waits for another operation on the subscription
	// before it is refused (subscription_busy). It is less than a request may take.
	busyWait = 20 * time.Second
	// busyPause is the pause between two looks at the other operation.
	busyPause = 50 * time.Millisecond
	// releasePause is the pause between two attempts to release a lease.
	releasePause = 250 * time.Millisecond
)

// usageSettled is the value of instruction.Usage, which package billing looks for.
const usageSettled = "settled"

// instruction is an order to the provider. It is stored word for word, so that a
// repetition sends the same.
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
	// Departures counts the members who had left when it was checked: their seats
	// are no longer billed when it is done.
	Departures int64 `json:"departures,omitzero"`
	// Metered are the items that are to change, by a change of plan or for the period that
	// began at Period.
	Metered []psp.MeteredChange `json:"metered,omitempty"`
	Period  time.Time           `json:"period,omitzero"`
}

// isKind returns a function that reports whether an instruction is of a kind.
func isKind(kind string) func(instruction) bool {
	return func(in instruction) bool { return in.Kind == kind }
}

// operation is a write to the provider that is stored before it is made. Its id is
// the idempotency key.
type operation struct {
	id     uuid.UUID
	before Subscription // as it was when the operation was requested
	by     authz.Origin
	instruction
	leasedUntil, createdAt time.Time
}

// key is the idempotency key.
func (op operation) key() string { return op.id.String() }

// isRepeatable reports whether a repetition may still continue the operation.
func (op operation) isRepeatable(now time.Time) bool { return now.Sub(op.createdAt) < repeatWindow }

// An operation changes a subscription (rules: subscription#operations) in five steps:
//
//	load    the subscription
//	check   the rules, which gives the instruction to the provider
//	claim   store the operation, leased to the caller
//	send    the instruction
//	settle  read the provider's new state back, and store it with the outcome
//
// When the provider cannot be reached nothing changes here.
//
// Invariants: a subscription has at most one pending operation. It is committed
// under the tenant's lock before the provider is asked, and others wait for it. It
// was checked on the subscription as it is at that moment. An operation of unknown
// outcome stays pending: a repetition makes the same write with the same key, and
// any other operation first reads its outcome back.

// request has the first steps of an operation, for claim.
type request struct {
	load func(ctx context.Context) (Subscription, error)
	// repeats reports whether an earlier instruction is an attempt at the same operation.
	// nil: none is.
	repeats func(earlier instruction) bool
	check   func(ctx context.Context, sub Subscription) (instruction, verdict, error)
	// confirm reports, under the tenant's lock, whether a checked instruction still applies.
	// nil: it does as long as the subscription is the same.
	confirm func(ctx context.Context, sub Subscription, in instruction) (bool, error)
	// missing is the refusal if the provider does not have the subscription.
	missing *fault.Error
}

// runningLoader returns the first step of an operation on the tenant's running subscription.
func (s *Service) runningLoader(tenantID uuid.UUID) func(ctx context.Context) (Subscription, error) {
	return func(ctx context.Context) (Subscription, error) { return s.loadRunning(ctx, tenantID) }
}

// verdict is the result of a check.
type verdict uint8

const (
	mustSend    verdict = iota // the instruction is to be sent
	nothingToDo                // the subscription stays as it is
	outOfDate                  // a newer state was stored, on which the rules are to be checked again
)

// claim loads the subscription, checks the rules, and stores the operation. The caller has to
// send and to settle it. If there is nothing to send, claimed is false, and op.before is the
// subscription. claim starts again whenever another operation has ended or another state
// was stored in between.
func (s *Service) claim(ctx context.Context, r request) (op operation, claimed bool, _ error) {
	for began := s.deps.Lease.Now(); ; {
		sub, err := r.load(ctx)
		if err != nil {
			return operation{}, false, err
		}
		pending, err := s.store.pendingOperation(ctx, sub)
		switch {
		case err == nil && pending.leasedUntil.After(s.deps.Lease.Now()):
			if s.deps.Lease.Now().Sub(began) >= busyWait || !pause(ctx, busyPause) {
				return operation{}, false, errBusy
			}
			continue
		case err == nil:
			op, claimed, err := s.takeOver(ctx, pending, r)
			if err != nil || claimed {
				return op, claimed, err
			}
			continue
		case !errors.Is(err, errNoOperation):
			return operation{}, false, err
		}
		acknowledged, err := s.acknowledge(ctx, sub, r)
		if err != nil || acknowledged {
			return operation{before: sub}, false, err
		}
		in, verdict, err := r.check(ctx, sub)
		if err != nil || verdict == nothingToDo {
			return operation{before: sub}, false, err
		}
		if verdict == outOfDate {
			continue
		}
		op, claimed, err := s.begin(ctx, sub, in, r)
		if err != nil || claimed {
			return op, claimed, err
		}
	}
}

// takeOver leases a pending operation on which no caller works. If the request repeats it, it
// is claimed, else it is abandoned.
//
// Invariant: only the holder of an operation's lease ends it. So no caller abandons an
// operation that another one is repeating, and its effect is recorded.
func (s *Service) takeOver(ctx context.Context, pending operation, r request) (_ operation, claimed bool, _ error) {
	now, leasedAt := s.deps.Clock.Now(), s.deps.Lease.Now()
	leased, err := s.store.lease(ctx, pending, leasedAt, now)
	if err != nil || !leased {
		return operation{}, false, err
	}
	pending.leasedUntil = leasedAt.Add(operationLease)
	if r.repeats != nil && r.repeats(pending.instruction) && pending.isRepeatable(now) {
		return pending, true, nil
	}
	return operation{}, false, notFoundAs(r.missing, s.abandon(ctx, pending))
}

// acknowledge reports whether the request repeats an operation that was abandoned although
// the provider had done it.
//
// Invariant: a caller who repeats an operation that failed with an unknown outcome is answered as
// if the first attempt had succeeded, whichever operation read the outcome back in between (the
// seats follow the team at any time). Only the first repetition is, and only while the effect
// is still visible.
func (s *Service) acknowledge(ctx context.Context, sub Subscription, r request) (first bool, _ error) {
	if r.repeats == nil {
		return false, nil
	}
	last, state, err := s.store.lastRequestedOperation(ctx, sub)
	if errors.Is(err, errNoOperation) {
		return false, nil
	}
	now := s.deps.Clock.Now()
	if err != nil || state != stateAbandoned || !r.repeats(last.instruction) || !last.isVisibleIn(sub) || !last.isRepeatable(now) {
		return false, err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		first, err = s.store.acknowledge(ctx, last, now)
		if err == nil && first && last.Kind == opChange {
			err = s.store.deletePreviews(ctx, sub.TenantID, last.PlanID)
		}
		return err
	})
	return err == nil && first, err
}

// begin stores a new operation. claimed is false if the subscription has changed since it was
// loaded, or if the instruction no longer applies.
func (s *Service) begin(ctx context.Context, sub Subscription, in instruction, r request) (op operation, claimed bool, _ error) {
	op = operation{
		id: sqldb.NewID(), before: sub, by: authz.OriginOf(ctx), instruction: in, leasedUntil: s.deps.Lease.Now().Add(operationLease),
	}
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		claimed = false
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		current, err := s.store.byPSPID(ctx, sub.PSPSubscriptionID)
		if errors.Is(err, ErrNotFound) || err == nil && current.SyncVersion != sub.SyncVersion {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err = s.store.pendingOperation(ctx, sub); !errors.Is(err, errNoOperation) {
			return err
		}
		if r.confirm != nil {
			if applies, err := r.confirm(ctx, sub, in); err != nil || !applies {
				return err
			}
		}
		claimed = true
		return s.store.insertOperation(ctx, op, s.deps.Lease.Now(), s.deps.Clock.Now())
	})
	return op, claimed && err == nil, err
}

// settle stores the outcome of an operation that was sent, and returns the subscription after
// it. sent is the error of the write: after a refusal nothing has happened and the operation
// is over, after any other error it stays pending. settle returns it.
func (s *Service) settle(ctx context.Context, op operation, sent error) (Subscription, error) {
	err := sent
	if err == nil {
		err = s.ReadBack(ctx, op.before.PSPSubscriptionID, func(ctx context.Context, after Subscription) error {
			return s.complete(ctx, op, after)
		})
	}
	if err == nil {
		return s.store.byPSPID(ctx, op.before.PSPSubscriptionID)
	}
	ctx = context.WithoutCancel(ctx) // the caller may have gone; the lease must be released all the same
	if isRefusal(sent) {
		_, err = s.store.closeOperation(ctx, op, stateFailed, s.deps.Clock.Now())
		return Subscription{}, errors.Join(sent, err)
	}
	return Subscription{}, errors.Join(err, s.releaseLease(ctx, op))
}

// isRefusal reports whether an operation failed without an effect.
func isRefusal(err error) bool {
	return errors.Is(err, psp.ErrDeclined) || errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) || errors.Is(err, errOtherUsage)
}

// complete ends, in the transaction that stores the new state, an operation that the
// provider has answered.
func (s *Service) complete(ctx context.Context, op operation, after Subscription) error {
	first, err := s.store.closeOperation(ctx, op, stateDone, s.deps.Clock.Now())
	if err != nil || !first {
		return err
	}
	switch {
	case op.Kind == opRecharge:
		return nil // the subscription is as it was
	case op.Kind == opChange: // the previews have come true
		err = s.store.deletePreviews(ctx, op.before.TenantID, op.PlanID)
	case op.Kind == opMetered && after.CurrentPeriodStart.Equal(op.Period):
		err = s.decideMetered(ctx, after, s.billsFrom(), false)
	}
	if err != nil {
		return err
	}
	return s.recordOperation(ctx, op, after)
}

// abandon gives up an operation that is leased to the caller and that no caller repeats,
// after its outcome was read back.
func (s *Service) abandon(ctx context.Context, op operation) error {
	if err := s.ReadBack(ctx, op.before.PSPSubscriptionID, nil); err != nil {
		return errors.Join(err, s.releaseLease(context.WithoutCancel(ctx), op))
	}
	_, err := s.store.closeOperation(ctx, op, stateAbandoned, s.deps.Clock.Now())
	return err
}

// releaseLease leaves an operation pending, free for the next caller. While the database is
// unavailable it tries again in the background until the lease ends by itself, so that a
// repetition need not wait for that.
func (s *Service) releaseLease(ctx context.Context, op operation) error {
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

// notFoundAs returns a refusal in place of an error of the provider that says that it does
// not have the object, and any other error as it is.
func notFoundAs(refusal *fault.Error, err error) error {
	if errors.Is(err, psp.ErrNotFound) {
		return refusal.Wrap(err)
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
