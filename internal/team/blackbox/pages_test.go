package blackbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The lists of members and invitations are complete, unless a page is requested.
func TestPagesOfTheTeam(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for i := range 5 {
			s.Join(ada, fmt.Sprintf("Member %d", i), fmt.Sprintf("member%d@example.com", i), "member")
		}
		for i := range 5 {
			at := s.Now().Add(time.Minute + time.Duration(i)*time.Second)
			status, ends := "pending", at.AddDate(0, 0, 7)
			if i == 0 {
				status = "revoked"
			}
			apptest.Exec(t, s.DB(), `INSERT INTO invitations (id, tenant_id, email, role_id, inviter_id, status, token_hash, expires_in_days, expires_at, created_at, updated_at)
				SELECT $1, $2, $3, r.id, $4, $5, $6, 7, $7, $8, $8 FROM roles r WHERE r.tenant_id IS NULL AND r.name = 'member'`,
				sqldb.NewID(), ada.Tenant, fmt.Sprintf("guest%d@example.com", i), s.UserID(ada.Token), status, fmt.Sprint("hash", i), ends, at)
		}
		admin := s.Admin()
		for _, list := range []struct {
			path, token string
			want        []any // all emails
		}{
			{ada.Path("/team/members"), ada.Token, emails("ada", "member0", "member1", "member2", "member3", "member4")},
			{"/api/v1/admin/tenants/" + ada.Tenant + "/members", admin, emails("ada", "member0", "member1", "member2", "member3", "member4")},
			{ada.Path("/team/invitations"), ada.Token, emails("guest4", "guest3", "guest2", "guest1", "guest0", "member4", "member3", "member2", "member1", "member0")},
			{ada.Path("/team/invitations") + "?pending_only=true", ada.Token, emails("guest4", "guest3", "guest2", "guest1")},
			{"/api/v1/admin/tenants/" + ada.Tenant + "/invitations", admin, emails("guest4", "guest3", "guest2", "guest1", "guest0", "member4", "member3", "member2", "member1", "member0")},
		} {
			of := func(query string) apptest.Reply {
				t.Helper()
				joiner := "?"
				if strings.Contains(list.path, "?") {
					joiner = "&"
				}
				return s.Call("GET", list.path+joiner+query, list.token, nil).As(list.path + " " + query)
			}
			whole := of("x=1").Want(200)
			if diff := cmp.Diff(list.want, whole.Column("email")); diff != "" {
				t.Errorf("%s: %s", list.path, diff)
			}
			if whole.At("meta") != nil || whole.At("links") != nil {
				t.Errorf("%s: complete list contains %s", list.path, whole.Text)
			}
			second := of("page=2&per_page=2").Want(200).WantAt("meta.total", float64(len(list.want))).WantAt("meta.current_page", 2.0).
				WantAt("meta.per_page", 2.0).WantAt("meta.last_page", float64((len(list.want)+1)/2))
			if diff := cmp.Diff(list.want[2:4], second.Column("email")); diff != "" {
				t.Errorf("%s: the second page: %s", list.path, diff)
			}
			if len(list.want) > 4 {
				next := second.Str("links.next")
				third := s.Call("GET", strings.TrimPrefix(next, s.URL), list.token, nil).Want(200)
				if diff := cmp.Diff(list.want[4:min(6, len(list.want))], third.Column("email")); diff != "" {
					t.Errorf("%s: %s: %s", list.path, next, diff)
				}
			}
			of("per_page=2").Want(200).WantAt("meta.current_page", 1.0)
			if far := of("page=1000000000000").Want(200).WantAt("meta.total", float64(len(list.want))); len(far.Column("email")) > 0 {
				t.Errorf("%s: beyond the end: %s", list.path, far.Text)
			}
			of("page=0").WantInvalid("page")
			of("per_page=101").WantInvalid("per_page")
		}
	})
}

func emails(names ...string) (all []any) {
	for _, name := range names {
		all = append(all, name+"@example.com")
	}
	return all
}

// A search for members returns a page of the members whose name or email matches.
func TestSearchOfMembers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		other := s.Register("other@example.com", true)
		for _, name := range []string{"Zoë Öst", "Anna Adams", "Ben Berg"} {
			s.Join(ada, name, strings.NewReplacer("Öst", "ost", "Adams", "adams", "Berg", "berg").Replace(strings.Fields(name)[1])+"@example.com", "member")
		}
		admin := s.Admin()
		for _, list := range []struct{ path, token string }{
			{ada.Path("/team/members"), ada.Token}, {"/api/v1/admin/tenants/" + ada.Tenant + "/members", admin},
		} {
			of := func(query string) apptest.Reply {
				t.Helper()
				return s.Call("GET", list.path+"?"+query, list.token, nil).As(list.path + " " + query)
			}
			for query, want := range map[string][]any{
				"search=ada":                     emails("ada", "adams"), // the owner first
				"search=%20ADAMS%20an":           emails("adams"),
				"search=zoe":                     emails("ost"),
				"search=berg@example.com":        emails("berg"),
				"search=dams":                    {},
				"search=other":                   {},
				"search=ada&page=2&per_page=1":   emails("adams"),
				"search=example.com&per_page=10": emails("ada", "adams", "berg", "ost"),
			} {
				if diff := cmp.Diff(want, of(query).Want(200).Column("email")); diff != "" {
					t.Errorf("%s: %s", query, diff)
				}
			}
			of("search=ada").WantAt("meta.total", 2.0).WantAt("meta.per_page", 25.0)
			of("search=a").WantInvalid("search")
			of("search=ada&page=0").WantInvalid("page")
			if whole := of("search=").Want(200); whole.At("meta") != nil || len(whole.Column("email")) != 4 {
				t.Errorf("an empty search: %s", whole.Text)
			}
		}
		s.Call("GET", ada.Path("/team/members?search=ada"), other.Token, nil).WantRefused(403, "")
	})
}
