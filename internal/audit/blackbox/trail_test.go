package blackbox_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestAuditLogs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Call("POST", "/sandbox/clock", "", map[string]any{"to": "2027-03-01T00:00:00Z"}).Want(200)
		ada := s.Register("ada@example.com", true)
		s.Call("POST", "/sandbox/clock", "", map[string]any{"to": "2027-03-10T00:00:00Z"}).Want(200)
		ada.Token = s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200).Str("accessToken")
		s.Call("PATCH", "/api/v1/tenant", ada.Token, map[string]any{"name": "New", "settings": map[string]any{"api_token": "hush", "color": "red"}}).Want(200)

		s.Run(t, "filters, a search and pages select entries", func(t *testing.T, s *apptest.Server) { selectTrail(t, s, ada) })
		s.Run(t, "the entries of an actor, also as a file", func(t *testing.T, s *apptest.Server) { trailOfActor(t, s, ada) })
		s.Run(t, "invalid parameters and other callers are refused", func(t *testing.T, s *apptest.Server) { refuseTrail(t, s, ada) })
	})
}

func selectTrail(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	of := url.Values{"filter[tenant]": {ada.Tenant}}
	for name, tt := range map[string]struct {
		add  url.Values
		want []string
	}{
		"newest first":           {nil, []string{"tenant.updated", "login.succeeded", "tenant.setup_completed", "tenant.created"}},
		"oldest first":           {url.Values{"sort": {"created_at"}}, []string{"tenant.created", "tenant.setup_completed", "login.succeeded", "tenant.updated"}},
		"action":                 {url.Values{"filter[action]": {"tenant.created"}}, []string{"tenant.created"}},
		"a part of an action":    {url.Values{"filter[action]": {"tenant"}}, []string{}},
		"after":                  {url.Values{"filter[created_after]": {"2027-03-05"}}, []string{"tenant.updated", "login.succeeded"}},
		"before":                 {url.Values{"filter[created_before]": {"2027-03-05T00:00:00Z"}}, []string{"tenant.setup_completed", "tenant.created"}},
		"from":                   {url.Values{"from": {"2027-03-05"}}, []string{"tenant.updated", "login.succeeded"}},
		"from and to":            {url.Values{"from": {"2027-02-01"}, "to": {"2027-03-05"}}, []string{"tenant.setup_completed", "tenant.created"}},
		"search by email":        {url.Values{"search": {"ADA@example.com"}}, []string{"tenant.updated", "login.succeeded", "tenant.setup_completed"}},
		"search by name":         {url.Values{"search": {"ad"}, "to": {"2027-03-05"}}, []string{"tenant.setup_completed"}},
		"search for another":     {url.Values{"search": {"adam"}}, []string{}},
		"after and before":       {url.Values{"filter[created_after]": {"2027-03-05"}, "filter[created_before]": {"2027-03-06"}}, []string{}},
		"the second of one page": {url.Values{"per_page": {"1"}, "page": {"2"}}, []string{"login.succeeded"}},
	} {
		query := url.Values{}
		for _, values := range []url.Values{of, tt.add} {
			for key, v := range values {
				query[key] = v
			}
		}
		if diff := cmp.Diff(tt.want, s.AuditLog(query).Actions()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func trailOfActor(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	me := float64(s.UserID(ada.Token))
	byAda := s.AuditLog(url.Values{"filter[actor]": {apptest.IDText(me)}})
	if diff := cmp.Diff([]string{"tenant.updated", "login.succeeded", "tenant.setup_completed"}, byAda.Actions()); diff != "" {
		t.Errorf("by actor: %s", diff)
	}
	if diff := cmp.Diff(byAda.Actions(), s.AuditLog(url.Values{"actor": {apptest.IDText(me)}}).Actions()); diff != "" {
		t.Errorf("by the parameter actor: %s", diff)
	}
	file := s.AuditLog(url.Values{"search": {"ada"}, "format": {"csv"}, "sort": {"created_at"}}).Want(200)
	lines := strings.Split(strings.TrimSpace(file.Text), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], `"id","actor_id","subject_id","acting_as.id","acting_as.name",`) || !strings.Contains(lines[1], `,"tenant.setup_completed",`) || !strings.Contains(lines[3], `,"tenant.updated",`) {
		t.Errorf("file: %s", file.Text)
	}
	got := byAda.At("data.0").(map[string]any)
	delete(got, "id")
	want := map[string]any{
		"actor_id": me, "subject_id": nil, "acting_as": nil, "api_key_id": nil, "tenant_id": ada.Tenant, "action": "tenant.updated",
		"resource": "tenant", "resource_id": ada.Tenant, "ip": "127.0.0.1", "user_agent": "Go-http-client/1.1",
		"before":     map[string]any{"name": "Ada's Organization", "settings": nil},
		"after":      map[string]any{"name": "New", "settings": map[string]any{"api_token": "[removed]", "color": "red"}},
		"created_at": got["created_at"],
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an entry: %s", diff)
	}
}

func refuseTrail(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	for query, status := range map[string]int{
		"filter[tenant]=acme": 422, "filter[actor]=ada": 422, "actor=ada": 422, "search=a": 422, "from=soon": 422, "to=soon": 422, "format=xls": 422, "filter[created_after]=soon": 422, "filter[name]=x": 400, "sort=action": 400, "include=actor": 400,
		"per_page=101": 422, "page=0": 422,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if a := s.AuditLog(values); a.Status != status {
			t.Errorf("%s: %d %s", query, a.Status, a.Text)
		}
	}
	s.Call("GET", "/api/v1/admin/audit-logs", ada.Token, nil).Want(403)
	s.Call("GET", "/api/v1/admin/audit-logs", "", nil).Want(401)
}
