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
	if hash, ok := ctx.Value(tokenKey{}).(string); ok {
		all, _, err := s.ofTokens.Get(ctx, hash)
		if memberships, known := all[userID]; known || err != nil {
			return memberships, err
		}
		// They are in no tenant, or have begun or ended an impersonation just now.
	}
	memberships, _, err := s.places.Get(ctx, userID)
	return memberships, err
}

// tokenKey is the key, in a context, of the hash of the token whose user's memberships were
// asked for ahead.
type tokenKey struct{}

// AheadOfMemberships has what MembershipsOf is going to be asked for looked up with the
// request's caller, who is known by the hash of their token (see gather.Kept).
func (s *Service) AheadOfMemberships(ctx context.Context, tokenHash string) context.Context {
	if s.ofTokens == nil {
		return ctx
	}
	return context.WithValue(s.ofTokens.Ahead(ctx, tokenHash), tokenKey{}, tokenHash)
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
	if s.deps.Line != nil {
		s.ofTokens = gather.Keep(gather.KeptConfig[string, map[int64][]account.Membership]{
			DB: s.deps.DB, Find: s.findOfTokens, Line: s.deps.Line,
		})
	}
}

func (s *Service) findPlaces(userIDs []int64) ([]sqldb.Query, func(context.Context) (map[int64][]account.Membership, error)) {
	among, args := sqldb.Among(s.deps.DB, 1, "bigint", userIDs)
	queries, read := s.placesOf(among, args)
	return queries, func(context.Context) (map[int64][]account.Membership, error) {
		found := read()
		for _, id := range userIDs {
			if found[id] == nil {
				found[id] = []account.Membership{}
			}
		}
		return found, nil
	}
}

// findOfTokens finds the memberships of the users of tokens. Each token has those of all.
func (s *Service) findOfTokens(hashes []string) ([]sqldb.Query, func(context.Context) (map[string]map[int64][]account.Membership, error)) {
	among, args := sqldb.Among(s.deps.DB, 1, "text", hashes)
	queries, read := s.placesOf(`IN (`+account.UsersOfTokens(among)+`)`, args)
	return queries, func(context.Context) (map[string]map[int64][]account.Membership, error) {
		all, found := read(), make(map[string]map[int64][]account.Membership, len(hashes))
		for _, hash := range hashes {
			found[hash] = all
		}
		return found, nil
	}
}

// placesOf returns the queries for the memberships of users, which are a condition for their
// ids, and what has them by user when the queries have run.
func (s *Service) placesOf(users string, args []any) ([]sqldb.Query, func() map[int64][]account.Membership) {
	places, active := map[int64][]membership{}, map[uuid.UUID]bool{}
	tenants := `SELECT m.tenant_id FROM memberships m WHERE m.user_id ` + users
	queries := []sqldb.Query{membershipsQuery(users, args, places), s.deps.Subscriptions.ActiveAmong(tenants, args, active)}
	return queries, func() map[int64][]account.Membership {
		found := make(map[int64][]account.Membership, len(places))
		for id, all := range places {
			memberships := make([]account.Membership, len(all))
			for i, p := range all {
				memberships[i] = account.Membership{
					TenantID: p.tenant.ID, Name: p.tenant.Name, Slug: p.tenant.Slug, Role: p.role,
					HasActiveSubscription: active[p.tenant.ID], HasBillingDetails: p.tenant.Billing.Complete(),
					OnboardingCompletedAt: p.tenant.OnboardingCompletedAt,
				}
			}
			found[id] = memberships
		}
		return found
	}
}
