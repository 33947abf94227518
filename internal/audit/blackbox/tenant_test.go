package blackbox_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestTrailOfATenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AvoidMidnight()
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		member, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		keeper, id := s.Join(ada, "Coy", "coy@example.com", "admin")
		s.Call("PATCH", "/api/v1/tenant", keeper, apptest.Object{"name": "Renamed"}).Want(200)
		s.Call("PATCH", "/api/v1/tenant", other.Token, apptest.Object{"name": "Other"}).Want(200)
		list := func(query string) apptest.Reply {
			t.Helper()
			return s.Call("GET", ada.Path("/audit-logs"+query), ada.Token, nil).As(query)
		}
		all := list("").Want(200)
		if n := len(all.Actions()); n < 6 || all.At("meta.total") != float64(n) || all.Actions()[0] != "tenant.updated" {
			t.Errorf("%s", all.Text)
		}
		for _, tenant := range all.Column("tenant_id") {
			if tenant != ada.Tenant {
				t.Errorf("an entry of %v", tenant)
			}
		}
		now := s.Now().UTC().Format("2006-01-02")
		for query, want := range map[string]int{
			"?filter[action]=tenant.updated":                    1,
			"?filter[action]=tenant":                            0,
			"?filter[actor]=" + strconv.FormatInt(id, 10):       2, // the accepted invitation and the new name
			"?from=" + now:                                      len(all.Actions()),
			"?actor=" + strconv.FormatInt(id, 10):               2,
			"?search=coy":                                       2,
			"?search=coy@example.com&from=" + now:               2,
			"?search=other":                                     0, // a member of another tenant
			"?to=2020-01-01":                                    0,
			"?from=2020-01-01&to=" + now + "&page=2&per_page=3": 3,
		} {
			if got := list(query).Want(200).Actions(); len(got) != want {
				t.Errorf("%s: %v", query, got)
			}
		}
		list("?filter[tenant]="+other.Tenant).WantRefused(400, "")
		list("?from=yesterday").Want(422)
		s.Call("GET", ada.Path("/audit-logs"), member, nil).WantRefused(403, "")
		s.Call("GET", ada.Path("/audit-logs"), other.Token, nil).WantRefused(403, "")
		s.Call("GET", ada.Path("/audit-logs"), keeper, nil).Want(200)
		admin := s.Admin()
		s.Impersonate(admin, ada).Want(200)
		s.Call("GET", ada.Path("/audit-logs"), admin, nil).Want(200)
		// The admin started the impersonation, but members cannot find the entry by the admin's email.
		if found := list("?search=admin").Want(200).Actions(); len(found) != 0 {
			t.Errorf("entries of the admin: %v", found)
		}
		file := list("?format=csv&search=coy").Want(200)
		if n := strings.Count(file.Text, "\n"); n != 3 || strings.Contains(file.Text, other.Tenant) {
			t.Errorf("file: %s", file.Text)
		}
	})
}
