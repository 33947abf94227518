package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
)

// JobSeats is the kind of job that updates the quantity of a seat plan to match the members.
const JobSeats = "subscription.seats"

// pendingPause is how long the update of the seats is postponed while a change of plan is pending.
const pendingPause = 10 * time.Minute

// seats compares a tenant's team with its subscription.
type seats struct {
	members  int64
	limit    *int64 // the quota of team members; nil means unlimited
	billed   int64  // the quantity of the subscription
	due      int64  // the quantity that the team requires
	price    int64  // per seat, in minor units; 0 if seats are not billed
	currency string
	isBySeat bool // whether the plan is billed per seat
}

// availableSeats returns how many more members the plan allows. Nil means unlimited. It returns 0
// if the team exceeds the plan's quota.
func (s seats) availableSeats() *int64 {
	if s.limit == nil {
		return nil
	}
	left := max(*s.limit-s.members, 0)
	return &left
}

// isSynced reports whether the billed quantity matches the team.
func (s seats) isSynced() bool { return !s.isBySeat || s.billed == s.due }

// compareSeats compares the tenant's team with its running subscription. It returns ErrNotFound if
// there is none.
func (s *Service) compareSeats(ctx context.Context, tenantID uuid.UUID) (seats, error) {
	sub, err := s.loadRunning(ctx, tenantID)
	if err != nil {
		return seats{}, err
	}
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return seats{}, err
	}
	compared := seats{billed: sub.Quantity, currency: sub.Currency, isBySeat: plan.PricingType == catalog.PricingSeat}
	if compared.isBySeat {
		compared.price = sub.PriceCents
	}
	if compared.members, err = s.deps.Tenants.CountMembers(ctx, tenantID); err != nil {
		return seats{}, err
	}
	compared.due = sub.seatsFor(compared.members)
	compared.limit, err = s.deps.Entitlements.SeatLimit(ctx, tenantID)
	return compared, err
}

// SeatLimit returns the maximum number of seats of a team, or nil if it is unlimited. It is the lowest
// limit of team members that the tenant has now, after a scheduled change, and after a change in
// progress. The change counted the seats under the tenant's lock when it began. Later joins take the
// same lock and find the change. If the response to a change was lost, its outcome is read back before
// the change can no longer be retried.
func (s *Service) SeatLimit(ctx context.Context, tenantID uuid.UUID) (*int64, error) {
	limit, err := s.deps.Entitlements.SeatLimit(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	sub, err := s.LoadCurrent(ctx, tenantID)
	if errors.Is(err, ErrNotFound) {
		return limit, nil
	}
	if c := sub.Scheduled; err == nil && c != nil {
		limit, err = s.lowerSeatLimit(ctx, limit, tenantID, c.PlanID, c.EffectiveAt)
	}
	if err != nil {
		return nil, err
	}
	now := s.deps.Clock.Now()
	op, isPending, err := s.store.pendingOperation(ctx, sub)
	if err != nil || !isPending || op.Kind != opChange && op.Kind != opSchedule || !op.isRepeatable(now) {
		return limit, err
	}
	at := now
	if op.Scheduled != nil {
		at = op.Scheduled.EffectiveAt
	}
	return s.lowerSeatLimit(ctx, limit, tenantID, op.PlanID, at)
}

// SeatLimitWith returns the maximum number of seats that a team would have with a plan now, or nil if
// it is unlimited.
func (s *Service) SeatLimitWith(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) (*int64, error) {
	return s.deps.Entitlements.SeatLimitWith(ctx, tenantID, plan, s.deps.Clock.Now())
}

// lowerSeatLimit returns the limit that a tenant will have with a plan from a time on, if it is lower
// than limit.
func (s *Service) lowerSeatLimit(ctx context.Context, limit *int64, tenantID, planID uuid.UUID, at time.Time) (*int64, error) {
	plan, err := s.deps.Catalog.Plan(ctx, planID)
	if err != nil {
		return nil, err
	}
	next, err := s.deps.Entitlements.SeatLimitWith(ctx, tenantID, plan, at)
	if next != nil && (limit == nil || *next < *limit) {
		limit = next
	}
	return limit, err
}

// SeatsChanged enqueues an update of the billed quantity. Call it in the transaction that changes
// the team.
func (s *Service) SeatsChanged(ctx context.Context, tenantID uuid.UUID) error {
	_, err := s.LoadCurrent(ctx, tenantID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, JobSeats, tenantID, jobs.Key(tenantID.String()))
}

// SeatFreed is SeatsChanged for a member who has left. Extra seats that were bought are given up.
//
// Invariant: a departure is counted in the transaction that removes the member. It stays counted until
// an operation is done that was prepared after the departure. So neither a join nor an operation in
// progress keeps the seat.
func (s *Service) SeatFreed(ctx context.Context, tenantID uuid.UUID) error {
	if err := s.store.countDeparture(ctx, tenantID); err != nil {
		return err
	}
	return s.SeatsChanged(ctx, tenantID)
}

// deductDepartures records that the quantity reflects this many departures.
func (s *Service) deductDepartures(ctx context.Context, sub Subscription, departures int64) error {
	if departures == 0 {
		return nil
	}
	return s.store.deductDepartures(ctx, sub, departures)
}

// HandleSeats handles JobSeats. It sets the quantity that the team requires when the job runs, so
// the job can run late, repeatedly, or once for many changes. The update is an operation, like a
// change of plan, so that they do not overwrite each other. Afterwards HandleSeats limits the
// pending credit for seats to the paid part.
func (s *Service) HandleSeats(ctx context.Context, job jobs.Job) error {
	var tenantID uuid.UUID
	if err := job.Decode(&tenantID); err != nil {
		return err
	}
	postponed, err := s.syncSeats(ctx, tenantID)
	if postponed {
		later := s.deps.Clock.Now().Add(pendingPause)
		return s.deps.Jobs.Enqueue(ctx, JobSeats, tenantID, jobs.Key(tenantID.String()), jobs.At(later))
	}
	if err == nil {
		err = s.followTeam(ctx, tenantID)
	}
	if err == nil {
		err = s.rechargeCredit(ctx, tenantID)
	}
	if errors.Is(err, ErrNotFound) {
		return nil // the subscription is over, so there is nothing to bill
	}
	return psp.MarkPermanent(err)
}

// syncSeats updates the quantity of a seat plan to match the members. It is postponed while a
// change of plan is pending, because any other change makes the provider drop the pending one.
func (s *Service) syncSeats(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	postponed := false
	_, err := s.operate(ctx, steps{
		load: s.runningLoader(tenantID),
		check: func(ctx context.Context, sub Subscription) (instruction, verdict, error) {
			if postponed = sub.hasPendingChange(s.deps.Clock.Now()); postponed {
				return instruction{}, nothingToDo, nil
			}
			return s.checkSeats(ctx, sub)
		},
		send: func(ctx context.Context, op operation) error {
			_, err := s.deps.Provider.SetQuantity(ctx, op.change(), op.before.Interval().LongerThanMonth(), op.key())
			return err
		},
	})
	return postponed, err
}

// checkSeats returns the instruction to bill the members of a team.
func (s *Service) checkSeats(ctx context.Context, sub Subscription) (instruction, verdict, error) {
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return instruction{}, nothingToDo, err
	}
	members, err := s.deps.Tenants.CountMembers(ctx, sub.TenantID)
	if err != nil || plan.PricingType != catalog.PricingSeat || members == 0 {
		return instruction{}, nothingToDo, err
	}
	seats := sub.seatsFor(members)
	if sub.Quantity == seats {
		return instruction{}, nothingToDo, s.deductDepartures(ctx, sub, sub.Departures)
	}
	remote, err := s.deps.Provider.GetSubscription(ctx, sub.PSPSubscriptionID)
	if err != nil {
		return instruction{}, nothingToDo, notFoundAs(ErrNotFound, err)
	}
	in := instruction{Kind: opQuantity, ItemID: remote.ItemID, Quantity: seats, Departures: sub.Departures, ProductID: remote.ProductID}
	if seats > remote.Quantity {
		return in, mustSend, nil
	}
	err = s.limitCredit(ctx, sub, remote, &in)
	return in, mustSend, err
}

// limitCredit limits the credit for removed seats to the part that was paid. The draft invoice of a
// renewal counts as paid: the credit stays pending until the next invoice, and by then the payment
// is known.
func (s *Service) limitCredit(ctx context.Context, sub Subscription, remote psp.Subscription, in *instruction) error {
	at := prorationDate(sub, s.deps.Clock.Now())
	paid, err := s.readPaidTime(ctx, sub, remote, at)
	if err != nil || paid.isWhole() {
		return err
	}
	share := paid.share
	if paid.draft && !sub.Terms.IsSent() {
		share = paid.collected
	}
	if in.ProrationDate = at; share.Sign() == 0 {
		in.Unprorated = true
		return nil
	}
	units, err := s.deps.Provider.UnitsRead(ctx, sub.Currency)
	if err != nil {
		return err
	}
	cost, err := s.previewCost(ctx, sub, pricedChange{Change: psp.Change{
		SubscriptionID: remote.ID, ItemID: remote.ItemID, PriceID: remote.PriceID, KeepsPrice: true, Quantity: in.Quantity, ProrationDate: at,
	}})
	in.UnpaidCredit = unpaidPart(cost.pending-cost.net(), share, units.Step())
	return err
}

// OwnerChanged sends the email of the new owner to the provider, for a tenant without a billing email.
func (s *Service) OwnerChanged(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.Customers.BillingChanged(ctx, tenantID)
}
