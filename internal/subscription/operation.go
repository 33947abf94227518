package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// An operation changes a subscription (rules: subscription#operations) in five steps:
//
//	load    read the subscription
//	check   apply the rules and build the instruction for the provider
//	claim   store the operation, leased to the caller
//	send    call the provider with the instruction
//	settle  read the provider's new state back, and store it with the outcome
//
// Each operation defines its steps in a file of its own; change.go is an example. This file has the
// parts that all operations share, in the same order.
//
// If the provider cannot be reached, the stored subscription does not change.
//
// Invariants: a subscription has at most one pending operation. The operation is checked against
// the current state of the subscription and committed under the tenant's lock before the provider
// is called. Other callers wait for it. An operation whose outcome is unknown stays pending: a
// retry sends the same write with the same key, and any other operation first reads its outcome
// back.

const (
	// sendTime limits the calls to the provider, as the request timeout does.
	sendTime = 30 * time.Second
	// operationLease is longer than it takes to call the provider and to read the state back. It
	// only matters if a process dies in between. Like busyWait, it is real time.
	operationLease = sendTime + 15*time.Second
	// repeatWindow is how long a retry can continue an operation whose outcome is unknown. After
	// that, any effect has long been read back and the instruction is out of date.
	repeatWindow = time.Hour
	// busyWait is how long a caller waits for another operation on the same subscription before it
	// fails with subscription_busy. It is shorter than the request timeout.
	busyWait = 20 * time.Second
	// busyPause is the polling interval while waiting for another operation.
	busyPause = 50 * time.Millisecond
	// releasePause is the pause between attempts to release a lease.
	releasePause = 250 * time.Millisecond
)

// operation is a write to the provider that is stored before it is sent. Its ID is the idempotency
// key.
type operation struct {
	id     uuid.UUID
	before Subscription // when the operation was requested
	by     authz.Origin
	instruction
	leasedUntil, createdAt time.Time
}

// key returns the idempotency key.
func (op operation) key() string { return op.id.String() }

// isRepeatable reports whether a retry can still continue the operation.
func (op operation) isRepeatable(now time.Time) bool { return now.Sub(op.createdAt) < repeatWindow }

// steps are the steps of an operation. Only load, check and send are required.
type steps struct {
	load  loader
	check func(ctx context.Context, sub Subscription) (instruction, verdict, error)

	// repeats reports whether an earlier instruction was an attempt at the same operation. If it is
	// nil, a retry does not continue the earlier attempt.
	repeats func(earlier instruction) bool
	// confirm reports, under the tenant's lock, whether a checked instruction still applies. If it
	// is nil, an unchanged subscription is enough.
	confirm func(ctx context.Context, sub Subscription, in instruction) (bool, error)
	// discountUse returns the use of the discount that an instruction redeems. It is required if an
	// instruction has a DiscountID.
	discountUse func(ctx context.Context, sub Subscription, in instruction) (discount.Use, error)

	// send calls the provider. A retry calls it again with the same operation.
	send func(ctx context.Context, op operation) error

	// missing is the error to return if the provider does not have the subscription. The default is
	// ErrNotFound.
	missing *fault.Error
	// explain converts a refusal of the provider to the error of the request. By default, only a
	// missing subscription is converted.
	explain func(refusal error) error
}

// operate runs the steps of an operation and returns the resulting subscription. If the check
// requires no change, it returns the loaded subscription.
func (s *Service) operate(ctx context.Context, o steps) (Subscription, error) {
	if o.missing == nil {
		o.missing = ErrNotFound
	}
	op, claimed, err := s.claim(ctx, o)
	if err != nil || !claimed {
		return op.before, err
	}
	sending, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	sent := o.send(sending, op)
	switch {
	case o.explain == nil:
		sent = notFoundAs(o.missing, sent)
	case isRefusal(sent):
		sent = o.explain(sent)
	}
	return s.settle(ctx, op, sent)
}

// loader is the first step of an operation: it loads the subscription of a request.
type loader func(ctx context.Context) (Subscription, error)

// currentLoader returns a load step that loads the tenant's subscription that is not over.
func (s *Service) currentLoader(tenantID uuid.UUID) loader {
	return func(ctx context.Context) (Subscription, error) { return s.LoadCurrent(ctx, tenantID) }
}

// runningLoader returns a load step that loads the tenant's running subscription.
func (s *Service) runningLoader(tenantID uuid.UUID) loader {
	return requireRunning(s.currentLoader(tenantID))
}

// requireRunning returns a load step that finds only active, trialing and past_due subscriptions,
// which can be canceled, resumed and changed.
func requireRunning(load loader) loader {
	return func(ctx context.Context) (Subscription, error) {
		sub, err := load(ctx)
		if err == nil && !sub.Status.IsRunning() {
			err = ErrNotFound
		}
		return sub, err
	}
}

// verdict is the outcome of a check.
type verdict uint8

const (
	mustSend    verdict = iota // the instruction must be sent
	nothingToDo                // there is nothing to change
	outOfDate                  // a newer state was stored; load and check again
)

// claim loads the subscription, checks the rules and stores the operation. The caller must send and
// settle it. If there is nothing to send, claimed is false and op.before is the subscription. claim
// starts over whenever another operation ends or another state is stored in between.
func (s *Service) claim(ctx context.Context, o steps) (op operation, claimed bool, _ error) {
	for start := s.deps.Lease.Now(); ; {
		sub, err := o.load(ctx)
		if err != nil {
			return operation{}, false, err
		}
		pending, isPending, err := s.store.pendingOperation(ctx, sub)
		if err != nil {
			return operation{}, false, err
		}
		if isPending {
			op, claimed, err := s.resolvePending(ctx, pending, o, start)
			if err != nil || claimed {
				return op, claimed, err
			}
			continue
		}
		acknowledged, err := s.acknowledge(ctx, sub, o)
		if err != nil || acknowledged {
			return operation{before: sub}, false, err
		}
		in, verdict, err := o.check(ctx, sub)
		if errors.Is(err, errNoProration) {
			verdict, err = s.outdate(ctx, sub, err)
		}
		if err != nil || verdict == nothingToDo {
			return operation{before: sub}, false, err
		}
		if verdict == outOfDate {
			continue
		}
		op, claimed, err := s.begin(ctx, sub, in, o)
		if err != nil || claimed {
			return op, claimed, err
		}
	}
}

// outdate returns outOfDate if a check failed although another operation had changed the subscription,
// or is changing it, and the error of the check otherwise.
func (s *Service) outdate(ctx context.Context, sub Subscription, failed error) (verdict, error) {
	current, err := s.store.byPSPID(ctx, sub.PSPSubscriptionID)
	if err != nil {
		return nothingToDo, err
	}
	_, isPending, err := s.store.pendingOperation(ctx, sub)
	if err == nil && !isPending && current.SyncVersion == sub.SyncVersion {
		err = failed
	}
	return outOfDate, err
}

// resolvePending handles the pending operation of another caller: it waits a moment while the
// operation is leased, and takes it over afterwards. start is when the wait began.
func (s *Service) resolvePending(ctx context.Context, pending operation, o steps, start time.Time) (_ operation, claimed bool, _ error) {
	now := s.deps.Lease.Now()
	if !pending.leasedUntil.After(now) {
		return s.takeOver(ctx, pending, o)
	}
	if now.Sub(start) >= busyWait || !clock.Pause(ctx, busyPause) {
		return operation{}, false, errBusy
	}
	return operation{}, false, nil
}

// takeOver leases a pending operation that no caller is working on. If the request repeats it, the
// caller claims it. Otherwise takeOver abandons it.
//
// Invariant: only the holder of the lease ends an operation. So no caller abandons an operation
// that another caller is retrying, and its effect is always recorded.
func (s *Service) takeOver(ctx context.Context, pending operation, o steps) (_ operation, claimed bool, _ error) {
	now, leasedAt := s.deps.Clock.Now(), s.deps.Lease.Now()
	leased, err := s.store.lease(ctx, pending, leasedAt, now)
	if err != nil || !leased {
		return operation{}, false, err
	}
	pending.leasedUntil = leasedAt.Add(operationLease)
	if o.repeats != nil && o.repeats(pending.instruction) && pending.isRepeatable(now) {
		return pending, true, nil
	}
	return operation{}, false, notFoundAs(o.missing, s.abandon(ctx, pending))
}

// acknowledge reports whether the request repeats an abandoned operation that the provider had
// carried out.
//
// Invariant: if an operation failed with an unknown outcome and the caller retries it, the retry
// succeeds as if it were the first attempt, no matter which operation has read the outcome back
// since (seats can change at any time). This applies to the first retry only, and only while the
// effect is still visible.
func (s *Service) acknowledge(ctx context.Context, sub Subscription, o steps) (first bool, _ error) {
	if o.repeats == nil {
		return false, nil
	}
	last, state, err := s.store.lastRequestedOperation(ctx, sub)
	if errors.Is(err, errNoOperation) {
		return false, nil
	}
	now := s.deps.Clock.Now()
	if err != nil || state != stateAbandoned || !o.repeats(last.instruction) || !last.isVisibleIn(sub) || !last.isRepeatable(now) {
		return false, err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		first, err = s.store.acknowledge(ctx, last, now)
		if err == nil && first && (last.Kind == opChange || last.Kind == opSchedule) {
			err = s.store.deletePreviews(ctx, last)
		}
		return err
	})
	return err == nil && first, err
}

// begin stores a new operation. claimed is false if the subscription has changed since it was
// loaded, or if the instruction no longer applies.
func (s *Service) begin(ctx context.Context, sub Subscription, in instruction, o steps) (op operation, claimed bool, _ error) {
	op = operation{
		id: sqldb.NewID(), before: sub, by: authz.OriginOf(ctx), instruction: in, leasedUntil: s.deps.Lease.Now().Add(operationLease),
	}
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		claimed = false
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		if err := authz.Recheck(ctx); err != nil {
			return err
		}
		current, err := s.store.byPSPID(ctx, sub.PSPSubscriptionID)
		if errors.Is(err, ErrNotFound) || err == nil && current.SyncVersion != sub.SyncVersion {
			return nil
		}
		if err != nil {
			return err
		}
		if _, isPending, err := s.store.pendingOperation(ctx, sub); err != nil || isPending {
			return err
		}
		if o.confirm != nil {
			if applies, err := o.confirm(ctx, sub, in); err != nil || !applies {
				return err
			}
		}
		if err := s.holdDiscount(ctx, op, o); err != nil {
			return err
		}
		claimed = true
		now := s.deps.Clock.Now()
		if err := s.enqueueRestore(ctx, op, now.Add(restorePause)); err != nil {
			return err
		}
		return s.store.insertOperation(ctx, op, s.deps.Lease.Now(), now)
	})
	return op, claimed && err == nil, err
}

// settle stores the outcome of an operation and returns the resulting subscription. sent is the
// error of the write. If it is a refusal, the write had no effect and the operation is over. After
// any other error the operation stays pending. In both cases settle returns the error.
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
	ctx = context.WithoutCancel(ctx) // the caller may be gone, but the lease must be released
	if isRefusal(sent) {
		err = s.closeOperation(ctx, op, stateFailed)
		return Subscription{}, errors.Join(sent, err)
	}
	return Subscription{}, errors.Join(err, s.releaseLease(ctx, op))
}

// isRefusal reports whether the error means that the operation had no effect.
func isRefusal(err error) bool {
	return errors.Is(err, psp.ErrDeclined) || errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) || errors.Is(err, errUsageChanged)
}

// complete closes an operation that the provider has confirmed. It runs in the transaction that
// stores the new state.
func (s *Service) complete(ctx context.Context, op operation, after Subscription) error {
	first, err := s.store.closeOperation(ctx, op, stateDone, s.deps.Clock.Now())
	if err != nil || !first {
		return err
	}
	switch {
	case op.Kind == opRecharge || op.Kind == opReapply || op.Kind == opReschedule || op.Kind == opRelease:
		return nil // the subscription is unchanged
	case op.Kind == opChange || op.Kind == opSchedule: // the previewed change was made
		err = s.store.deletePreviews(ctx, op)
	case op.Kind == opMetered && after.CurrentPeriodStart.Equal(op.Period):
		err = s.decideMetered(ctx, after, s.billsFrom(), false)
	}
	if err != nil {
		return err
	}
	return s.recordOperation(ctx, op, after)
}

// abandon reads back the outcome of an operation that is leased to the caller and that no request
// repeats, and closes the operation.
func (s *Service) abandon(ctx context.Context, op operation) error {
	if err := s.ReadBack(ctx, op.before.PSPSubscriptionID, nil); err != nil {
		return errors.Join(err, s.releaseLease(context.WithoutCancel(ctx), op))
	}
	return s.closeOperation(ctx, op, stateAbandoned)
}

// closeOperation ends an operation without a known effect and releases its discount.
func (s *Service) closeOperation(ctx context.Context, op operation, state string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		if _, err := s.store.closeOperation(ctx, op, state, now); err != nil {
			return err
		}
		if err := s.enqueueRestore(ctx, op, now); err != nil || op.DiscountID == uuid.Nil {
			return err
		}
		return s.deps.Discounts.Release(ctx, op.before.TenantID, op.id)
	})
}

// releaseLease leaves the operation pending and free for the next caller. If the database is
// unavailable, it retries in the background until the lease expires by itself, so that a retry of
// the request need not wait that long.
func (s *Service) releaseLease(ctx context.Context, op operation) error {
	release := func() error { return s.store.release(ctx, op, s.deps.Lease.Now(), s.deps.Clock.Now()) }
	err := release()
	if sqldb.IsUnavailable(err) {
		go func() {
			for clock.Pause(ctx, releasePause) && s.deps.Lease.Now().Before(op.leasedUntil) && sqldb.IsUnavailable(release()) {
			}
		}()
	}
	return err
}

// notFoundAs replaces psp.ErrNotFound by refusal and returns other errors unchanged.
func notFoundAs(refusal *fault.Error, err error) error {
	if errors.Is(err, psp.ErrNotFound) {
		return refusal.Wrap(err)
	}
	return err
}
