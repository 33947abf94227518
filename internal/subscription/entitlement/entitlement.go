// Package entitlement tells what follows from the stored subscriptions: the features
// and limits that a tenant has (rules: subscription#entitlements), the plans that it
// can select, and in short what it is subscribed to. It changes nothing.
package entitlement

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/querycache"
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
	Catalog     *catalog.Service
	Tenants     Tenants
	Team        Team
	Consumption Consumption
	Prices      Prices // needed by Offers alone
}

// Service has the use cases of entitlements.
type Service struct {
	Register
	deps  Deps
	store store
	terms *querycache.Cache[uuid.UUID, Terms] // by tenant, as of TermsOf
}

// NewService returns the service.
func NewService(d Deps) *Service {
	s := &Service{Register: NewRegister(d.DB), deps: d, store: store{d.DB}}
	s.terms = querycache.New(querycache.Config[uuid.UUID, Terms]{DB: d.DB, Tables: TermTables(), Load: s.loadTerms})
	return s
}

// GrantedFeatures returns the features of a tenant, sorted by code, or ErrNone if neither a
// subscription nor the default plan grants features. Callers share the list and must not change it.
func (s *Service) GrantedFeatures(ctx context.Context, tenantID uuid.UUID) ([]Feature, error) {
	terms, found, err := s.terms.Get(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	if !found || !terms.grantsFeatures() {
		return nil, ErrNone
	}
	return terms.Features, nil
}
