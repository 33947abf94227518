package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// jobSeats has a seat plan follow its team.
const jobSeats = "subscription.seats"

// Seats is what a tenant's team takes of its subscription.
type Seats struct {
	Members  int64
	Limit    *int64 // the quota of team members; nil is unlimited
	Billed   int64  // units of the subscription
	Price    int64  // per seat, in minor units; 0 where seats are not billed
	Currency string
	// BySeat tells whether the plan is billed by the seat.
	BySeat bool
}

// Available is how many more members the plan allows, nil when unlimited; negative
// where a plan with a lower quota came after the members.
func (s Seats) Available() *int64 {
	if s.Limit == nil {
		return nil
	}
	left := *s.Limit - s.Members
	return &left
}

// Synced tells whether what is billed has caught up with the team.
func (s Seats) Synced() bool { return !s.BySeat || s.Billed == s.Members }

// Seats tells what the tenant's team takes of its running subscription; 404
// without one.
func (s *Service) Seats(ctx context.Context, tenantID uuid.UUID) (Seats, error) {
	sub, err := s.Running(ctx, tenantID)
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
	seats.Limit, err = s.SeatLimit(ctx, tenantID)
	return seats, err
}

// SeatLimit is the quota of team members on the tenant's plan; nil is unlimited.
func (s *Service) SeatLimit(ctx context.Context, tenantID uuid.UUID) (*int64, error) {
	limit, err := s.store.q(ctx).QuotaOfFeature(ctx, subscriptionsql.QuotaOfFeatureParams{TenantID: tenantID, Code: catalog.TeamMembers})
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	return limit, err
}

// SeatsChanged has the number of units that are billed follow the team, in the
// background; it is called in the transaction that changes the team.
func (s *Service) SeatsChanged(ctx context.Context, tenantID uuid.UUID) error {
	sub, err := s.store.live(ctx, tenantID)
	if err != nil || sub == nil {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, jobSeats, tenantID, jobs.Key(tenantID.String()))
}

// followTeam is the job. It sets the quantity to what the members are by then, so
// that it may run late, again, or once for many changes. It is an operation like a
// change of plan, so that neither overwrites the other.
func (s *Service) followTeam(ctx context.Context, job jobs.Job) error {
	var tenantID uuid.UUID
	if err := job.Decode(&tenantID); err != nil {
		return err
	}
	_, err := s.operate(ctx, action{
		find:    func(ctx context.Context) (*Subscription, error) { return s.Running(ctx, tenantID) },
		wanted:  request{Kind: opQuantity},
		prepare: s.seatRequest,
		gone:    errNotFound,
	})
	if errors.Is(err, errNotFound) {
		return nil // it is over: there is nothing to bill
	}
	return final(err)
}

func (s *Service) seatRequest(ctx context.Context, sub Subscription) (request, error) {
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return request{}, err
	}
	members, err := s.deps.Tenants.CountMembers(ctx, sub.TenantID)
	if err != nil {
		return request{}, err
	}
	if plan.PricingType != catalog.Seat || sub.Quantity == members || members == 0 {
		return request{}, errNothingToDo
	}
	remote, err := s.deps.Provider.GetSubscription(ctx, sub.PSPSubscriptionID)
	if err != nil {
		return request{}, goneOr(err, errNotFound)
	}
	return request{Kind: opQuantity, ItemID: remote.ItemID, Quantity: members}, nil
}
