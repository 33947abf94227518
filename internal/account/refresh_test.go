package account

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Of 20 concurrent refreshes with one token exactly one succeeds. The others count as reuse, so the
// new tokens and the earlier access tokens are revoked with the family.
func TestRefreshRace(t *testing.T) {
	t.Parallel()
	const rounds, callers = 100, 20
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestService(t, db)
		user, _, err := s.Register(t.Context(), Registration{Name: "Ada", Email: "ada@example.com", Password: "correct horse"}, Grant{})
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			before, err := s.issue(t.Context(), lockedUser{User: user}, Grant{}, s.deps.Clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			var (
				wg  sync.WaitGroup
				won atomic.Int64
				got atomic.Pointer[Tokens]
			)
			for range callers {
				wg.Go(func() {
					_, tokens, err := s.Refresh(t.Context(), before.Refresh)
					switch {
					case err == nil:
						won.Add(1)
						got.Store(&tokens)
					case !errors.Is(err, errRefreshToken):
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Fatalf("round %d: %d refreshes succeeded", round, won.Load())
			}
			if _, _, err := s.Refresh(t.Context(), got.Load().Refresh); !errors.Is(err, errRefreshToken) {
				t.Fatalf("round %d: the family was not revoked: %v", round, err)
			}
			for _, access := range []string{before.Access, got.Load().Access} {
				if _, err := s.Authenticate(t.Context(), access); !errors.Is(err, errUnauthenticated) {
					t.Fatalf("round %d: an access token of the family still works: %v", round, err)
				}
			}
		}
	})
}
