package impersonation_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

const (
	startPath  = "/api/v1/admin/impersonation/start"
	stopPath   = "/api/v1/admin/impersonation/stop"
	statusPath = "/api/v1/admin/impersonation/status"
	logsPath   = "/api/v1/admin/impersonation/logs"
)

// asking makes a request with headers.
func asking(s *apptest.Server, method, path, token string, body any, headers map[string]string) apptest.Reply {
	s.T.Helper()
	r := s.NewRequest(method, path, token, body)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return s.Do(r)
}

// inLocale makes a request with an Accept-Language header.
func inLocale(s *apptest.Server, locale, method, path, token string, body any) apptest.Reply {
	s.T.Helper()
	return asking(s, method, path, token, body, map[string]string{"Accept-Language": locale}).As(method + " " + path + " in " + locale)
}

func readLog(s *apptest.Server, token, query string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", logsPath+query, token, nil).As("logs" + query)
}

func logLink(s *apptest.Server, query string) string { return s.URL + logsPath + "?" + query }

// Three impersonations, of two owners and with different user agents, result in six records.
func TestLogPages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		token := s.Admin()
		s.Run(t, "an empty log has one empty page", func(t *testing.T, s *apptest.Server) { emptyLog(t, s, token) })
		newest := impersonateThrice(s, token, ada, bob)
		s.Run(t, "the newest record comes first", func(t *testing.T, s *apptest.Server) { logRecords(t, s, token, newest) })
		s.Run(t, "a page has the records and links of its query", func(t *testing.T, s *apptest.Server) { logPages(t, s, token) })
		s.Run(t, "an unknown parameter or an invalid value is refused", func(_ *testing.T, s *apptest.Server) { refusedLogQueries(s, token) })
		s.Run(t, "only an admin can read it", func(_ *testing.T, s *apptest.Server) {
			s.Call("GET", logsPath+"?page=0", "", nil).WantRefused(401, "")
			s.Call("GET", logsPath+"?page=0", ada.Token, nil).WantRefused(403, "")
			s.Call("POST", logsPath, token, nil).WantRefused(http.StatusMethodNotAllowed, "")
			s.Call("DELETE", logsPath, token, nil).WantRefused(http.StatusMethodNotAllowed, "")
		})
	})
}

func emptyLog(t *testing.T, s *apptest.Server, token string) {
	want := object{
		"data":  []any{},
		"meta":  object{"current_page": 1.0, "last_page": 1.0, "per_page": 25.0, "total": 0.0},
		"links": object{"first": logLink(s, "page=1"), "last": logLink(s, "page=1"), "prev": nil, "next": nil},
	}
	if diff := cmp.Diff(want, readLog(s, token, "").Want(200).Body); diff != "" {
		t.Errorf("without records: %s", diff)
	}
}

// logEntry is the expected part of a record that differs between records.
type logEntry struct {
	target  float64
	tenant  string
	action  string
	program any
}

// impersonateThrice impersonates two owners and returns the expected log, newest first.
func impersonateThrice(s *apptest.Server, token string, ada, bob apptest.Owner) (newest []logEntry) {
	s.T.Helper()
	adaID, bobID := float64(s.UserID(ada.Token)), float64(s.UserID(bob.Token))
	for _, act := range []struct {
		target        float64
		o             apptest.Owner
		begins, stops string
	}{{adaID, ada, "first/1.0", "other/2.0"}, {bobID, bob, "Ünïcode", ""}, {adaID, ada, "third", "third"}} {
		for _, step := range []struct {
			path, action, program string
			body                  any
		}{
			{startPath, "started", act.begins, object{"user_id": act.target, "tenant_id": act.o.Tenant}},
			{stopPath, "ended", act.stops, nil},
		} {
			asking(s, "POST", step.path, token, step.body, map[string]string{"User-Agent": step.program}).Want(200)
			e := logEntry{target: act.target, tenant: act.o.Tenant, action: step.action, program: step.program}
			if step.program == "" {
				e.program = nil
			}
			newest = append([]logEntry{e}, newest...)
		}
	}
	return newest
}

func logRecords(t *testing.T, s *apptest.Server, token string, newest []logEntry) {
	adminID := float64(s.UserID(token))
	records := readLog(s, token, "").Want(200)
	list := records.At("data").([]any)
	if len(list) != len(newest) {
		t.Fatalf("%d records, want %d: %s", len(list), len(newest), records.Text)
	}
	for i, e := range newest {
		got := list[i].(object)
		want := object{
			"id": got["id"], "impersonator_id": adminID, "impersonated_id": e.target, "tenant_id": e.tenant, "action": e.action,
			"reason": nil, "read_only": false, "ip_address": "127.0.0.1", "user_agent": e.program, "created_at": got["created_at"],
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("record %d: %s", i, diff)
		}
		if id, ok := got["id"].(float64); !ok || i > 0 && id >= list[i-1].(object)["id"].(float64) {
			t.Errorf("record %d has the id %v", i, got["id"])
		}
		records.TimeAt(fmt.Sprintf("data.%d.created_at", i))
	}
}

func logPages(t *testing.T, s *apptest.Server, token string) {
	ids := readLog(s, token, "").Want(200).Column("id")
	if len(ids) != 6 {
		t.Fatalf("%d records", len(ids))
	}
	for query, tt := range map[string]struct {
		ids        []any
		page, last float64
		per        float64
		prev, next any
		also       string
	}{
		"?per_page=4":                  {ids[:4], 1, 2, 4, nil, 2, "per_page=4"},
		"?per_page=4&page=2":           {ids[4:], 2, 2, 4, 1, nil, "per_page=4"},
		"?page=2&per_page=2":           {ids[2:4], 2, 3, 2, 1, 3, "per_page=2"},
		"?page=3&per_page=2":           {ids[4:], 3, 3, 2, 2, nil, "per_page=2"},
		"?page=9&per_page=3":           {[]any{}, 9, 2, 3, 2, nil, "per_page=3"},
		"?per_page=100":                {ids, 1, 1, 100, nil, nil, "per_page=100"},
		"?per_page=5&per_page=1":       {ids[:1], 1, 6, 1, nil, 2, "per_page=5&per_page=1"},
		"?per_page=6&sort=-created_at": {ids, 1, 1, 6, nil, nil, "per_page=6&sort=-created_at"},
	} {
		a := readLog(s, token, query).Want(200)
		// A link has the other parameters of the request, and page. They are sorted by name.
		at := func(page any) any {
			if page == nil {
				return nil
			}
			values, err := url.ParseQuery(tt.also)
			if err != nil {
				t.Fatal(err)
			}
			values.Set("page", fmt.Sprint(page))
			return logLink(s, values.Encode())
		}
		if diff := cmp.Diff(tt.ids, a.Column("id")); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		a.WantAt("meta", object{"current_page": tt.page, "last_page": tt.last, "per_page": tt.per, "total": 6.0})
		a.WantAt("links", object{"first": at(1), "last": at(tt.last), "prev": at(tt.prev), "next": at(tt.next)})
	}
	oldest := readLog(s, token, "?sort=created_at").Want(200).Column("id")
	for i := range ids {
		if oldest[i] != ids[len(ids)-1-i] {
			t.Errorf("the oldest first: %v, the newest first: %v", oldest, ids)
			break
		}
	}
}

func refusedLogQueries(s *apptest.Server, token string) {
	read := func(query string) apptest.Reply { return readLog(s, token, query) }
	for query, message := range map[string]string{
		"?page=0": "This must be at least 1.", "?page=-1": "This must be at least 1.", "?page=one": "This must be an integer.", "?page=1.5": "This must be an integer.",
	} {
		a := read(query)
		a.WantInvalid("page")
		a.WantAt("message", message)
	}
	for query, message := range map[string]string{
		"?per_page=0": "This must be at least 1.", "?per_page=101": "This must be at most 100.", "?per_page=x": "This must be an integer.",
	} {
		a := read(query)
		a.WantInvalid("per_page")
		a.WantAt("message", message)
	}
	read("?page=0&per_page=101").WantInvalid("page", "per_page")
	for query, message := range map[string]string{
		"?filter[action]=ended": "The filter action is not supported here.",
		"?sort=action":          "Sorting by action is not supported here.",
		"?sort=created_at,-id":  "Sorting by -id is not supported here.",
	} {
		a := read(query)
		a.WantRefused(400, "")
		a.WantAt("message", message)
	}
	read("?include=tenant").WantRefused(400, "")
	read("?filter[action]=ended&page=0").WantRefused(400, "")
}

// Each guard rail has its message in each language. If a request violates two guard rails, the
// first one is reported.
func TestGuardRailMessagesAndOrder(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, eve, chief := s.Register("ada@example.com", true), s.Register("eve@example.com", true), s.Register("chief@example.com", false)
		apptest.Exec(t, s.DB(), "UPDATE users SET is_platform_admin = true WHERE email = 'chief@example.com'")
		token := s.Admin()
		self, adaID, chiefID := float64(s.UserID(token)), float64(s.UserID(ada.Token)), float64(s.UserID(chief.Token))
		body := func(user any, o apptest.Owner) object { return object{"user_id": user, "tenant_id": o.Tenant} }

		for name, tt := range map[string]struct {
			path     string
			body     any
			messages map[string]string
		}{
			"oneself, an admin, who is in no tenant": {startPath, body(self, ada), map[string]string{
				"en": "You cannot act as yourself.", "fr": "Vous ne pouvez pas agir en tant que vous-même.",
				"es": "No puede suplantar su propia cuenta.", "it": "Non è possibile operare come sé stessi.",
			}},
			"an admin, who is not in the tenant": {startPath, body(chiefID, ada), map[string]string{
				"en": "You cannot act as a platform administrator.", "fr": "Vous ne pouvez pas agir en tant qu’administrateur de la plateforme.",
				"it": "Non è possibile operare come un amministratore della piattaforma.",
			}},
			"a stranger to the tenant": {startPath, body(adaID, eve), map[string]string{
				"en": "This user is not a member of this organization.", "fr": "Cette personne n’est pas membre de cette organisation.",
				"it": "Questo utente non è membro di questa organizzazione.",
			}},
			"stopping without an impersonation": {stopPath, nil, map[string]string{
				"en": "You are not acting as another user.", "fr": "Vous n’agissez pas au nom d’un autre utilisateur.",
				"es": "No está actuando como otra persona.", "it": "Non sta operando come un altro utente.",
			}},
			"stopping, with a body that cannot be read": {stopPath, `{`, map[string]string{"en": "You are not acting as another user."}},
		} {
			for locale, message := range tt.messages {
				a := inLocale(s, locale, "POST", tt.path, token, tt.body).As(name + " in " + locale)
				if diff := cmp.Diff(object{"message": message}, a.Body); a.Status != 400 || diff != "" {
					t.Errorf("%s in %s: %d %s", name, locale, a.Status, diff)
				}
			}
		}
		for locale, message := range map[string]string{"en": "You are not acting as another user.", "es": "No está actuando como otra persona."} {
			a := inLocale(s, locale, "GET", statusPath, token, nil)
			a.WantRefused(400, "")
			a.WantAt("message", message)
		}

		// Unknown users and tenants are reported together, before the guard rails.
		s.Call("POST", startPath, token, object{"user_id": self, "tenant_id": apptest.NoSuchID}).WantInvalid("tenant_id")
		s.Call("POST", startPath, token, object{"user_id": 0, "tenant_id": apptest.NoSuchID}).WantInvalid("user_id", "tenant_id")
		s.Call("POST", startPath, token, object{}).WantInvalid("user_id", "tenant_id")
		s.Call("POST", startPath, token, object{"user_id": nil, "tenant_id": nil}).WantInvalid("user_id", "tenant_id")
		s.Call("POST", startPath, token, object{"user_id": "x", "tenant_id": apptest.NoSuchID}).WantInvalid("user_id", "tenant_id")
		s.Call("POST", startPath, token, `{"user_id":`).WantRefused(400, "")
		s.Call("POST", startPath, token, `[1]`).WantRefused(422, "")
		// The caller's permission is checked before the body.
		s.Call("POST", startPath, "", `{`).WantRefused(401, "")
		s.Call("POST", startPath, ada.Token, `{`).WantRefused(403, "")
		for _, caller := range []string{"", ada.Token} {
			status := map[bool]int{true: 401, false: 400}[caller == ""]
			s.Call("GET", statusPath, caller, nil).WantRefused(status, "")
			s.Call("POST", stopPath, caller, nil).WantRefused(status, "")
		}
		if n := s.CountRows("SELECT count(*) FROM impersonation_logs"); n != 0 {
			t.Errorf("refusals left %d records", n)
		}
		s.Call("POST", startPath, token, body(adaID, ada)).Want(200)
	})
}

// While impersonating, the admin loses their own permissions and cannot start another
// impersonation. Stopping restores the previous state.
func TestNestedAndStopRestores(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		member, memberID := s.Join(ada, "Bob", "bob@example.com", "member")
		acting, beside := s.Admin(), s.Admin() // two logins of one admin
		before := s.Call("GET", "/api/v1/auth/me", acting, nil).Want(200)
		adminID := float64(s.UserID(acting))
		asBob := object{"user_id": float64(memberID), "tenant_id": ada.Tenant}
		s.Call("POST", startPath, acting, asBob).Want(200)

		// Another start is rejected in each language, whatever its target.
		for locale, message := range map[string]string{
			"en": "You are acting as another user. Please end that session first.", "fr": "Une session au nom d’un autre compte est en cours. Veuillez d’abord la fermer.",
			"es": "Está actuando como otra persona. Cierre primero esa sesión.", "it": "È in corso una sessione come un altro utente. Terminarla prima di continuare.",
		} {
			for _, target := range []any{asBob, object{"user_id": float64(s.UserID(eve.Token)), "tenant_id": eve.Tenant}, object{}} {
				a := inLocale(s, locale, "POST", startPath, acting, target)
				a.WantRefused(403, "")
				a.WantAt("message", message)
			}
		}
		status := s.Call("GET", statusPath, acting, nil).Want(200)
		want := object{"data": object{
			"is_impersonating": true, "impersonator_id": adminID, "impersonator_name": "Sandbox Admin",
			"reason": nil, "read_only": false, "expires_at": status.At("data.expires_at"),
		}}
		if diff := cmp.Diff(want, status.Body); diff != "" {
			t.Errorf("status: %s", diff)
		}
		// Requests have Bob's permissions, only in Bob's tenant.
		for _, tt := range []struct {
			method, path string
			body         any
			status       int
		}{
			{"GET", ada.Path("/team/members"), nil, 200},
			{"GET", "/api/v1/tenant", nil, 200},
			{"PATCH", "/api/v1/tenant", object{"name": "B"}, 403},
			{"GET", ada.Path("/roles"), nil, 403},
			{"GET", eve.Path("/team/members"), nil, 403},
			{"GET", "/api/v1/admin/tenants", nil, 403},
			{"GET", logsPath, nil, 403},
		} {
			if a := s.Call(tt.method, tt.path, acting, tt.body); a.Status != tt.status {
				t.Errorf("as a member: %s %s: %d %s", tt.method, tt.path, a.Status, a.Text)
			}
		}
		// The admin's other login and Bob's own login are unaffected.
		s.Call("GET", statusPath, beside, nil).WantRefused(400, "")
		s.Call("GET", "/api/v1/admin/tenants", beside, nil).Want(200)
		s.Call("GET", statusPath, member, nil).WantRefused(400, "")
		if me := s.Call("GET", "/api/v1/auth/me", member, nil).Want(200); me.At("impersonation") != nil {
			t.Errorf("member sees the impersonation: %s", me.Text)
		}
		// The admin's other login can start another impersonation.
		s.Impersonate(beside, eve).Want(200)
		s.Call("GET", "/api/v1/auth/me", beside, nil).Want(200).WantAt("currentTenant.id", eve.Tenant)
		s.Call("GET", "/api/v1/auth/me", acting, nil).Want(200).WantAt("user.id", float64(memberID))
		s.Call("POST", stopPath, beside, nil).Want(200)
		s.Call("GET", statusPath, acting, nil).Want(200)

		stopped := s.Call("POST", stopPath, acting, nil).Want(200)
		stopped.WantAt("data", object{"id": adminID, "name": "Sandbox Admin", "email": "admin@tenantry.test", "is_platform_admin": true, "tenants": []any{}})
		after := s.Call("GET", "/api/v1/auth/me", acting, nil).Want(200)
		if diff := cmp.Diff(before.Body, after.Body); diff != "" {
			t.Errorf("the profile after the end: %s", diff)
		}
		s.Call("GET", ada.Path("/team/members"), acting, nil).WantRefused(403, "")
		s.Call("GET", statusPath, acting, nil).WantRefused(400, "")
		// A stop without an impersonation is rejected, and a new impersonation can be started.
		s.Call("POST", stopPath, acting, nil).WantRefused(400, "")
		s.Call("POST", startPath, acting, asBob).Want(200)
		s.Call("POST", stopPath, acting, nil).Want(200)
		wantImpersonationLog(s, "ended", "started", "ended", "ended", "started", "started")
	})
}
