// Package entitlement derives, from the stored subscriptions, the features and limits of a tenant
// (rules: subscription#entitlements), the plans that it can select, and a summary of its
// subscription. It is read-only.
package entitlement

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/querycache"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Feature is a feature that a subscription grants. Quota is in whole units. Nil means unlimited,
// and is the value of every boolean feature.
type Feature struct {
	Code  string
	Type  catalog.EntitlementType
	Quota *int64
}

// Tenants is the part of the tenant domain that entitlements use.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	// GetLive returns a tenant that is not deleted.
	GetLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	// Lock returns a tenant and locks it until the transaction of ctx ends.
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
}

// Team is the part of the team domain that entitlements use.
type Team interface {
	// TakenSeats counts the members and the pending invitations of a tenant.
	TakenSeats(ctx context.Context, tenantID uuid.UUID) (int64, error)
}

// Consumption returns a tenant's usage of each metered feature in the current period, rounded up to
// whole units, by feature code.
type Consumption interface {
	CurrentUsage(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error)
}

// Prices returns the obstacles to selling plans.
type Prices interface {
	Obstacles(ctx context.Context, plans []catalog.Plan, currency string, seats int64) (map[uuid.UUID]pricelink.Obstacle, error)
}

// Audit is the audit log of changes.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Grants are units that a tenant can use besides the limit of a meter.
type Grants interface {
	// RemainingUnits returns the remaining units of the valid grants by feature code. A feature whose
	// grants are used up has 0.
	RemainingUnits(ctx context.Context, tenantID uuid.UUID) (map[string]money.Total, error)
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB          *sqldb.DB
	Clock       clock.Clock
	Grace       time.Duration // how long a subscription that is past_due keeps its features
	Catalog     *catalog.Service
	Tenants     Tenants
	Team        Team
	Consumption Consumption
	Prices      Prices      // used by Offers only
	Events      hook.Outbox // nil disables events
	Audit       Audit
	// Grants are the units that were granted in addition to the limits; can be nil.
	Grants Grants
}

// Service implements the use cases of entitlements.
type Service struct {
	Register
	deps  Deps
	store store
	terms *querycache.Cache[uuid.UUID, Terms] // by tenant, read with TermsOf
}

// NewService returns a Service.
func NewService(d Deps) *Service {
	s := &Service{Register: NewRegister(d.DB, d.Clock, d.Grace), deps: d, store: store{d.DB}}
	s.terms = querycache.New(querycache.Config[uuid.UUID, Terms]{DB: d.DB, Tables: TermTables(), Load: s.loadTerms})
	return s
}

// PlanAndFeatures returns the slug of the plan that applies to a tenant, or nil, and the limits of the
// features of GET /entitlements, by code. A nil limit is unlimited.
func (s *Service) PlanAndFeatures(ctx context.Context, tenantID uuid.UUID) (plan *string, limits map[string]*int64, err error) {
	terms, _, err := s.terms.Get(ctx, tenantID)
	if err != nil {
		return nil, nil, err
	}
	limits = map[string]*int64{}
	for _, f := range terms.featuresAt(s.clock.Now()) {
		limits[f.Code] = f.Quota
	}
	if terms.PlanID == uuid.Nil {
		return nil, limits, nil
	}
	slug, err := s.store.planSlug(ctx, terms.PlanID)
	return &slug, limits, err
}

// HasFeature reports whether a tenant has the feature with the given code. Every tenant has a feature
// that the catalog does not define.
func (s *Service) HasFeature(ctx context.Context, tenantID uuid.UUID, code string) (bool, error) {
	exists, err := s.store.featureExists(ctx, code)
	if err != nil || !exists {
		return err == nil, err
	}
	granted, err := s.GrantedFeatures(ctx, tenantID)
	if errors.Is(err, ErrNone) {
		return false, nil
	}
	return slices.ContainsFunc(granted, func(f Feature) bool { return f.Code == code && (f.Quota == nil || *f.Quota > 0) }), err
}

// GrantedFeatures returns the features of a tenant, sorted by code, or ErrNone if neither a
// subscription nor the default plan grants features. Callers share the list and must not change it.
func (s *Service) GrantedFeatures(ctx context.Context, tenantID uuid.UUID) ([]Feature, error) {
	terms, _, err := s.terms.Get(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	granted := terms.featuresAt(now)
	if len(granted) == 0 && !terms.grantsPlan(now) {
		return nil, ErrNone
	}
	return granted, nil
}
