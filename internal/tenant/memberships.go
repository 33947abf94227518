package tenant

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/gather"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// MembershipsOf lists the tenants that a user is in, for the account domain. Callers share
// the list.
func (s *Service) MembershipsOf(ctx context.Context, userID int64) ([]account.Membership, error) {
	memberships, _, err := s.places.Get(ctx, userID)
	return memberships, err
}

// keepPlaces keeps the memberships of users. They depend on the subscriptions of no other
// tenants.
func (s *Service) keepPlaces() {
	s.places = gather.Keep(gather.KeptConfig[int64, []account.Membership]{
		DB: s.deps.DB, Find: s.findPlaces, Line: s.deps.Line, Bytes: 4 << 20,
		Size: func(_ int64, all []account.Membership) int { return 64 + 384*len(all) },
		Rows: func(_ int64, all []account.Membership) []sqldb.Key {
			rows := make([]sqldb.Key, len(all))
			for i, m := range all {
				rows[i] = sqldb.Key{Table: "subscriptions", Value: m.TenantID.String()}
			}
			return rows
		},
	})
}

func (s *Service) findPlaces(userIDs []int64) ([]sqldb.Query, func(context.Context) (map[int64][]account.Membership, error)) {
	places, active := map[int64][]membership{}, map[uuid.UUID]bool{}
	among, args := sqldb.Among(s.deps.DB, 1, "bigint", userIDs)
	tenants := `SELECT m.tenant_id FROM memberships m WHERE m.user_id ` + among
	queries := []sqldb.Query{s.store.membershipsQuery(userIDs, places), s.deps.Subscriptions.ActiveAmong(tenants, args, active)}
	return queries, func(context.Context) (map[int64][]account.Membership, error) {
		found := make(map[int64][]account.Membership, len(userIDs))
		for _, id := range userIDs {
			memberships := make([]account.Membership, len(places[id]))
			for i, p := range places[id] {
				memberships[i] = account.Membership{
					TenantID: p.tenant.ID, Name: p.tenant.Name, Slug: p.tenant.Slug, Role: p.role,
					HasActiveSubscription: active[p.tenant.ID], HasBillingDetails: p.tenant.Billing.Complete(),
					OnboardingCompletedAt: p.tenant.OnboardingCompletedAt,
				}
			}
			found[id] = memberships
		}
		return found, nil
	}
}
