package operation

import (
	"context"
	"errors"
	"math/big"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

// JobSeats is the kind of the jobs that have the quantity of a seat plan follow the
// members.
const JobSeats = "subscription.seats"

// waitsPause is how long the seats do not follow after a change of plan was found waiting.
const waitsPause = 10 * time.Minute

// Seats compares a tenant's team with its subscription.
type Seats struct {
	Members  int64
	Limit    *int64 // the quota of team members; nil is unlimited
	Billed   int64  // the subscription's quantity
	Due      int64  // the quantity that the team makes
	Price    int64  // per seat, in minor units; 0 where seats are not billed
	Currency string
	BySeat   bool // the plan is billed by the seat
}

// Available returns how many more members the plan allows, nil when unlimited; 0 where
// the tenant has more members than the plan's quota.
func (s Seats) Available() *int64 {
	if s.Limit == nil {
		return nil
	}
	left := max(*s.Limit-s.Members, 0)
	return &left
}

// Synced reports whether the billed quantity has caught up with the team.
func (s Seats) Synced() bool { return !s.BySeat || s.Billed == s.Due }

// Seats compares the tenant's team with its running subscription; ErrNotFound
// without one.
func (s *Service) Seats(ctx context.Context, tenantID uuid.UUID) (Seats, error) {
	sub, err := s.deps.Subscriptions.Running(ctx, tenantID)
	if err != nil {
		return Seats{}, err
	}
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return Seats{}, err
	}
	seats := Seats{Billed: sub.Quantity, Currency: sub.Currency, BySeat: plan.PricingType == catalog.Seat}
	if seats.BySeat {
		seats.Price = sub.PriceCents
	}
	if seats.Members, err = s.deps.Tenants.CountMembers(ctx, tenantID); err != nil {
		return Seats{}, err
	}
	seats.Due = sub.SeatsFor(seats.Members)
	seats.Limit, err = s.deps.Entitlements.SeatLimit(ctx, tenantID)
	return seats, err
}

// SeatLimit returns how many seats a team may take now, nil when unlimited: the quota of
// team members on the tenant's plan, or on the plan that a change is being made to if that
// is lower. The change counted who has a seat when it began, under the tenant's lock; who
// gets one later holds the lock too, and finds the change. What became of one whose answer
// was lost is read back by the time that nobody can repeat it.
func (s *Service) SeatLimit(ctx context.Context, tenantID uuid.UUID) (*int64, error) {
	limit, err := s.deps.Entitlements.SeatLimit(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	sub, err := s.deps.Subscriptions.Current(ctx, tenantID)
	if errors.Is(err, subscription.ErrNotFound) {
		return limit, nil
	}
	if err != nil {
		return nil, err
	}
	op, err := s.store.pending(ctx, sub)
	if errors.Is(err, errNoOperation) {
		return limit, nil
	}
	if err != nil || op.Kind != opChange || s.deps.Clock.Now().Sub(op.createdAt) >= repeatable {
		return limit, err
	}
	plan, err := s.deps.Catalog.Plan(ctx, op.PlanID)
	if quota := plan.SeatQuota(); quota != nil && (limit == nil || *quota < *limit) {
		limit = quota
	}
	return limit, err
}

// SeatsChanged has the billed quantity follow the team, in the background; it is
// called in the transaction that changes the team.
func (s *Service) SeatsChanged(ctx context.Context, tenantID uuid.UUID) error {
	_, err := s.deps.Subscriptions.Current(ctx, tenantID)
	if errors.Is(err, subscription.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, JobSeats, tenantID, jobs.Key(tenantID.String()))
}

// SeatFreed is SeatsChanged for a member who has left: seats that were bought beyond
// the members do not stay.
//
// Invariant: a departure is counted in the transaction that makes it, and until an
// operation that was prepared after it is done. So neither a join nor an operation
// that was under way keeps the seat.
func (s *Service) SeatFreed(ctx context.Context, tenantID uuid.UUID) error {
	if err := s.deps.Subscriptions.CountDeparture(ctx, tenantID); err != nil {
		return err
	}
	return s.SeatsChanged(ctx, tenantID)
}

// HandleSeats is the handler of JobSeats. It sets the quantity that the team makes at
// that time, so that it may run late, again, or once for many changes. It is an
// operation like a change of plan, so that neither overwrites the other. Then it limits the
// pending credit for seats to the part that is paid by now.
func (s *Service) HandleSeats(ctx context.Context, job jobs.Job) error {
	var tenantID uuid.UUID
	if err := job.Decode(&tenantID); err != nil {
		return err
	}
	_, err := s.operate(ctx, followSeats{ofRunning{s, tenantID}})
	if errors.Is(err, errWaits) {
		later := s.deps.Clock.Now().Add(waitsPause)
		return s.deps.Jobs.Enqueue(ctx, JobSeats, tenantID, jobs.Key(tenantID.String()), jobs.At(later))
	}
	if err == nil {
		_, err = s.operate(ctx, rechargeCredit{ofRunning{s, tenantID}})
	}
	if errors.Is(err, subscription.ErrNotFound) {
		return nil // it is over: there is nothing to bill
	}
	return psp.Permanent(err)
}

// followSeats has the quantity of a seat plan follow the members.
type followSeats struct{ ofRunning }

// continues is never true: the team may be another one by now.
func (followSeats) continues(instruction) bool { return false }

// errWaits says that the seats follow later: a change of plan waits for its payment, and
// the provider would drop it for another change.
var errWaits = errors.New("a change of plan waits for its payment")

func (f followSeats) prepare(ctx context.Context, sub subscription.Subscription) (instruction, error) {
	if sub.Waits(f.svc.deps.Clock.Now()) {
		return instruction{}, errWaits
	}
	plan, err := f.svc.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return instruction{}, err
	}
	members, err := f.svc.deps.Tenants.CountMembers(ctx, sub.TenantID)
	if err != nil {
		return instruction{}, err
	}
	seats := sub.SeatsFor(members)
	if plan.PricingType != catalog.Seat || members == 0 {
		return instruction{}, errNothingToDo
	}
	if sub.Quantity == seats {
		err := f.svc.deps.Subscriptions.SeatsFollowed(ctx, sub, sub.Departures)
		if err == nil {
			err = errNothingToDo
		}
		return instruction{}, err
	}
	remote, err := f.svc.deps.Provider.GetSubscription(ctx, sub.PSPSubscriptionID)
	if err != nil {
		return instruction{}, goneOr(err, subscription.ErrNotFound)
	}
	in := instruction{Kind: opQuantity, ItemID: remote.ItemID, Quantity: seats, Departures: sub.Departures, ProductID: remote.ProductID}
	if seats > remote.Quantity {
		return in, nil
	}
	err = f.creditPaid(ctx, sub, remote, &in)
	return in, err
}

// creditPaid limits the credit for seats that are given up to the part that was paid. While
// the invoice of a renewal is a draft it counts as paid: the credit waits for the next
// invoice, and by then it is known.
func (f followSeats) creditPaid(ctx context.Context, sub subscription.Subscription, remote psp.Subscription, in *instruction) error {
	at := f.svc.deps.Clock.Now().Truncate(time.Second)
	paid, err := f.svc.paidTime(ctx, sub, remote, at)
	if err != nil || paid.whole() {
		return err
	}
	share := paid.share
	if paid.draft {
		share = paid.collected
	}
	if in.ProrationDate = at; share.Sign() == 0 {
		in.Unprorated = true
		return nil
	}
	units, err := f.svc.deps.Provider.UnitsRead(ctx, sub.Currency)
	if err != nil {
		return err
	}
	credit := leftOf(psp.InvoiceLine{
		Amount: remote.UnitAmount * (remote.Quantity - in.Quantity), PeriodStart: remote.PeriodStart, PeriodEnd: remote.PeriodEnd,
	}, at)
	whole := new(big.Int).Quo(credit.Num(), credit.Denom()).Int64()
	in.UnpaidCredit = unpaidPart(whole, share, units.Step())
	return nil
}

func (f followSeats) send(ctx context.Context, op operation) error {
	monthly := op.before.Interval().LongerThanMonth()
	_, err := f.svc.deps.Provider.SetQuantity(ctx, op.change(), monthly, op.key())
	return err
}
