package account

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// RevokeCredentials revokes all kinds of credentials of a user, but not the credentials of other
// users.
func TestCredentials(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestService(t, db)
		register := func(email string) User {
			user, _, err := s.Register(t.Context(), Registration{Name: "Ada", Email: email, Password: "correct horse"}, Grant{})
			if err != nil {
				t.Fatal(err)
			}
			return user
		}
		kinds := func(user User) []string {
			var kinds []string
			for _, kind := range []string{"access", "refresh", "session"} {
				var n int
				err := db.Conn(t.Context()).QueryRowContext(t.Context(),
					"SELECT COUNT(*) FROM credentials WHERE user_id = $1 AND revoked_at IS NULL AND kind = $2", user.ID, kind).Scan(&n)
				if err != nil {
					t.Fatal(err)
				}
				if n > 0 {
					kinds = append(kinds, kind)
				}
			}
			return kinds
		}
		ada, eve := register("ada@example.com"), register("eve@example.com")
		if _, _, err := s.Login(t.Context(), "ada@example.com", "correct horse", Grant{Session: true}); err != nil {
			t.Fatal(err)
		}
		if got := kinds(ada); !slices.Equal(got, []string{"access", "refresh", "session"}) {
			t.Errorf("Ada has %v", got)
		}
		if err := s.RevokeCredentials(t.Context(), ada.ID); err != nil {
			t.Fatal(err)
		}
		if got := kinds(ada); len(got) != 0 {
			t.Errorf("Ada still has %v", got)
		}
		if got := kinds(eve); !slices.Equal(got, []string{"access", "refresh"}) {
			t.Errorf("Eve has %v", got)
		}
	})
}

// A malformed token is rejected without a query: this Service lacks a database.
func TestMalformedTokensNeedNoQuery(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "tnk_", "tnk_" + strings.Repeat("a", 47), strings.Repeat("a", 42), strings.Repeat("a", 44)} {
		if _, err := (&Service{}).Authenticate(t.Context(), token); !errors.Is(err, errUnauthenticated) {
			t.Errorf("%q: %v", token, err)
		}
	}
}
