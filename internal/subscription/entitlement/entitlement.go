// Package entitlement tells what follows from the stored subscriptions: the features
// and limits that a tenant has (rules: subscription#entitlements), the plans that it
// can select, and in short what it is subscribed to. It changes nothing.
package entitlement

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/gather"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Feature is a feature that a subscription grants. Quota is in whole units; nil is
// unlimited, as a boolean feature's always is.
type Feature struct {
	Code  string
	Type  catalog.EntitlementType
	Quota *int64
}

// Tenants is what entitlements need of the tenant domain.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
}

// Team is what entitlements need of the team domain.
type Team interface {
	// TakenSeats counts the members and the pending invitations of a tenant.
	TakenSeats(ctx context.Context, tenantID uuid.UUID) (int64, error)
}

// Consumption tells what a tenant uses of each metered feature in the current
// period, rounded up to whole units, by feature code.
type Consumption interface {
	Current(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error)
}

// Prices knows what keeps plans from being sold.
type Prices interface {
	Obstacles(ctx context.Context, plans []catalog.Plan, currency string, seats int64) (map[uuid.UUID]pricelink.Obstacle, error)
}

// Deps is what the service needs.
type Deps struct {
	DB          *sqldb.DB
	Line        *gather.Line // what look-ups of grants share; nil looks up each by itself
	Catalog     *catalog.Service
	Tenants     Tenants
	Team        Team
	Consumption Consumption
	Prices      Prices // needed by Offers alone
}

// Service has the use cases of entitlements.
type Service struct {
	deps   Deps
	store  store
	grants *gather.Kept[uuid.UUID, grant] // by tenant
}

// grant is what a subscription grants.
type grant struct {
	none     bool // it grants nothing, or there is none
	features []Feature
}

// NewService returns the service.
func NewService(d Deps) *Service {
	s := &Service{deps: d, store: store{d.DB}}
	s.grants = gather.Keep(gather.KeptConfig[uuid.UUID, grant]{
		DB: d.DB, Find: s.findGrants, Line: d.Line, Bytes: 4 << 20,
		Size: func(_ uuid.UUID, g grant) int { return 96 + 96*len(g.features) },
		Rows: func(id uuid.UUID, _ grant) []sqldb.Key {
			return []sqldb.Key{{Table: "subscriptions", Value: id.String()}}
		},
	})
	return s
}

// AheadOfGranted has what Granted is going to be asked for looked up with the request's caller
// (see gather.Kept).
func (s *Service) AheadOfGranted(ctx context.Context, tenantID uuid.UUID) context.Context {
	return s.grants.Ahead(ctx, tenantID)
}

// HasActive reports whether the tenant has a subscription that grants features.
func (s *Service) HasActive(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	return s.store.hasActive(ctx, tenantID)
}

// ActiveAmong returns the query that finds those of the tenants that another query selects
// which have a subscription that grants features.
func (s *Service) ActiveAmong(tenants string, args []any, found map[uuid.UUID]bool) sqldb.Query {
	return activeQuery(tenants, args, found)
}

// Granted returns what the tenant's subscription grants, sorted by feature code;
// ErrNone without a subscription that grants features. Callers share the list.
func (s *Service) Granted(ctx context.Context, tenantID uuid.UUID) ([]Feature, error) {
	g, _, err := s.grants.Get(ctx, tenantID)
	if err == nil && g.none {
		err = ErrNone
	}
	return g.features, err
}

func (s *Service) findGrants(tenantIDs []uuid.UUID) ([]sqldb.Query, func(context.Context) (map[uuid.UUID]grant, error)) {
	granted := make(map[uuid.UUID][]Feature, len(tenantIDs))
	return []sqldb.Query{s.store.grantedQuery(tenantIDs, granted)}, func(context.Context) (map[uuid.UUID]grant, error) {
		found := make(map[uuid.UUID]grant, len(tenantIDs))
		for _, id := range tenantIDs {
			features, some := granted[id]
			slices.SortFunc(features, func(a, b Feature) int { return cmp.Compare(a.Code, b.Code) })
			found[id] = grant{none: !some, features: features}
		}
		return found, nil
	}
}
