package impersonation_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// adminLogin logs in the sandbox's platform admin and returns the response.
func adminLogin(s *apptest.Server) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "admin@tenantry.test", "password": "sandbox-admin"}).Want(200)
}

// impersonationLog returns the actions in the impersonation log, newest first. It reads the log
// with another login of the admin.
func impersonationLog(s *apptest.Server) []string {
	s.T.Helper()
	list, _ := s.Call("GET", "/api/v1/admin/impersonation/logs", s.Admin(), nil).Want(200).At("data").([]any)
	actions := []string{}
	for _, r := range list {
		actions = append(actions, r.(map[string]any)["action"].(string))
	}
	return actions
}

func wantImpersonationLog(s *apptest.Server, want ...string) {
	s.T.Helper()
	if diff := cmp.Diff(append([]string{}, want...), impersonationLog(s)); diff != "" {
		s.T.Errorf("the log: %s", diff)
	}
}

func TestImpersonation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AvoidMidnight()
		ada := s.Register("ada@example.com", true)
		adaID := float64(s.UserID(ada.Token))
		token := s.Admin()
		adminID := float64(s.UserID(token))
		for _, path := range []string{"stop", "status"} {
			method := map[string]string{"stop": "POST", "status": "GET"}[path]
			s.Call(method, "/api/v1/admin/impersonation/"+path, token, nil).Want(400)
		}
		s.Run(t, "the admin is the target, with exactly its permissions", func(t *testing.T, s *apptest.Server) { startImpersonation(t, s, token, adminID, ada) })
		s.Run(t, "the end makes the admin an admin again", func(t *testing.T, s *apptest.Server) { stopImpersonation(t, s, token, adminID) })
		s.Run(t, "the log has the start and the end", func(t *testing.T, s *apptest.Server) { loggedImpersonation(t, s, token, adminID, ada) })
		s.Run(t, "the audit log records who changed the tenant", func(t *testing.T, s *apptest.Server) {
			trail := s.Call("GET", "/api/v1/admin/audit-logs?filter[action]=tenant.updated", token, nil).Want(200)
			if trail.At("data.0.actor_id") != adminID || trail.At("data.0.subject_id") != adaID || trail.At("data.0.after.name") != "Renamed" {
				t.Errorf("trail: %s", trail.Text)
			}
		})
	})
}

func startImpersonation(t *testing.T, s *apptest.Server, token string, adminID float64, ada apptest.Owner) {
	adaID := float64(s.UserID(ada.Token))
	if a := s.Impersonate(token, ada).Want(200); a.At("message") != "impersonation.started" || len(a.Body) != 1 {
		t.Errorf("start: %s", a.Text)
	}
	me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
	if me.At("user.id") != adaID || me.At("user.is_platform_admin") != false || me.At("user.roles.0") != "owner" ||
		me.At("user.tenants.0.id") != ada.Tenant || me.At("currentTenant.id") != ada.Tenant || len(me.At("user.permissions").([]any)) != 9 {
		t.Errorf("me is not the target: %s", me.Text)
	}
	want := map[string]any{
		"is_impersonating": true, "impersonator_id": adminID, "impersonator_name": "Sandbox Admin",
		"reason": nil, "read_only": false, "expires_at": me.At("impersonation.expires_at"),
	}
	if diff := cmp.Diff(any(want), me.At("impersonation")); diff != "" {
		t.Errorf("me: %s", diff)
	}
	status := s.Call("GET", "/api/v1/admin/impersonation/status", token, nil).Want(200)
	if diff := cmp.Diff(map[string]any{"data": want}, status.Body); diff != "" {
		t.Errorf("status: %s", diff)
	}
	// The admin has exactly the target's permissions.
	s.Call("GET", "/api/v1/tenant", token, nil).Want(200)
	s.Call("PATCH", "/api/v1/tenant", token, map[string]any{"name": "Renamed"}).Want(200)
	s.Call("GET", ada.Path("/plans"), token, nil).Want(200)
	s.Call("GET", "/api/v1/tenant/"+s.Register("eve@example.com", true).Tenant+"/plans", token, nil).Want(403)
	s.Impersonate(token, ada).Want(403)
}

func stopImpersonation(t *testing.T, s *apptest.Server, token string, adminID float64) {
	stop := s.Call("POST", "/api/v1/admin/impersonation/stop", token, nil).Want(200)
	wantAdmin := map[string]any{"message": "impersonation.ended", "data": map[string]any{
		"id": adminID, "name": "Sandbox Admin", "email": "admin@tenantry.test", "is_platform_admin": true, "tenants": []any{},
	}}
	if diff := cmp.Diff(wantAdmin, stop.Body); diff != "" {
		t.Errorf("stop: %s", diff)
	}
	me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
	if _, there := me.Body["impersonation"]; there || me.At("user.id") != adminID || me.At("user.is_platform_admin") != true {
		t.Errorf("me after the end: %s", me.Text)
	}
	s.Call("POST", "/api/v1/admin/impersonation/stop", token, nil).Want(400)
	s.Call("GET", "/api/v1/admin/tenants", token, nil).Want(200)
}

func loggedImpersonation(t *testing.T, s *apptest.Server, token string, adminID float64, ada apptest.Owner) {
	adaID := float64(s.UserID(ada.Token))
	logs := s.Call("GET", "/api/v1/admin/impersonation/logs?per_page=1", token, nil).Want(200)
	record := logs.At("data.0").(map[string]any)
	for key, value := range map[string]any{
		"impersonator_id": adminID, "impersonated_id": adaID, "tenant_id": ada.Tenant, "action": "ended",
		"ip_address": "127.0.0.1", "user_agent": "Go-http-client/1.1",
	} {
		if record[key] != value {
			t.Errorf("log: %s is %v, want %v", key, record[key], value)
		}
	}
	if len(record) != 10 || logs.At("meta.total") != 2.0 || logs.At("links.next") == nil {
		t.Errorf("log: %s", logs.Text)
	}
	wantImpersonationLog(s, "ended", "started")
	day := s.Now().UTC().Format(time.DateOnly)
	for query, want := range map[string]float64{
		"search=ada@example.com": 2, "search=sandbox": 2, "search=eve": 0, "actor=" + apptest.IDText(adminID): 2, "actor=" + apptest.IDText(adaID): 0, "from=" + day: 2, "to=2020-01-01": 0,
	} {
		s.Call("GET", "/api/v1/admin/impersonation/logs?"+query, token, nil).As(query).Want(200).WantAt("meta.total", want)
	}
	s.Call("GET", "/api/v1/admin/impersonation/logs?search=a", token, nil).WantInvalid("search")
	if file := s.Call("GET", "/api/v1/admin/impersonation/logs?format=csv", token, nil).Want(200); strings.Count(file.Text, "\n") != 3 || !strings.Contains(file.Text, `"ended"`) {
		t.Errorf("file: %s", file.Text)
	}
}

func TestImpersonationInCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		adaID := float64(s.UserID(ada.Token))
		for _, remember := range []bool{false, true} {
			f := s.Frontend()
			f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
			f.Send("POST", "/api/v1/auth/login", map[string]any{"email": "admin@tenantry.test", "password": "sandbox-admin", "remember": remember}).Want(200)
			start := map[string]any{"user_id": adaID, "tenant_id": ada.Tenant}
			f.Fetch("POST", "/api/v1/admin/impersonation/start", "", start).Want(419)
			before := *f.Cookies["tenantry_session"]
			f.Send("POST", "/api/v1/admin/impersonation/start", start).Want(200)
			during := *f.Cookies["tenantry_session"]
			if during.Value == before.Value || (during.MaxAge > 0) != remember || !during.HttpOnly {
				t.Errorf("the session after start: %v, before: %v", during, before)
			}
			if f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200).At("user.id") != adaID {
				t.Error("the session is not the target's")
			}
			f.Fetch("POST", "/api/v1/admin/impersonation/stop", "", nil).Want(419)
			f.Send("POST", "/api/v1/admin/impersonation/stop", nil).Want(200)
			after := *f.Cookies["tenantry_session"]
			if after.Value == during.Value || after.Value == before.Value {
				t.Error("the session is the same after stop")
			}
			f.Fetch("GET", "/api/v1/admin/impersonation/logs", "", nil).Want(200)
			for _, old := range []http.Cookie{before, during} {
				f.Cookies["tenantry_session"] = &old
				f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(401)
			}
		}
		wantImpersonationLog(s, "ended", "started", "ended", "started")
	})
}

// Each guard rail responds with 400 and changes nothing. If a request violates several, the first
// one in the order of the spec is reported.
func TestImpersonationGuardRails(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect)
			db := s.DB()
			ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", false)
			chief := s.Register("chief@example.com", false)
			apptest.Exec(t, db, "UPDATE users SET is_platform_admin = true WHERE email = 'chief@example.com'")
			token := s.Admin()
			me, adaID, chiefID := float64(s.UserID(token)), float64(s.UserID(ada.Token)), float64(s.UserID(chief.Token))
			none := "01990000-0000-7000-8000-000000000000"
			for name, tt := range map[string]struct {
				body    map[string]any
				status  int
				message string
			}{
				"oneself":                       {map[string]any{"user_id": me, "tenant_id": ada.Tenant}, 400, "You cannot act as yourself."},
				"a platform admin":              {map[string]any{"user_id": chiefID, "tenant_id": chief.Tenant}, 400, "You cannot act as a platform administrator."},
				"an admin who is not in there":  {map[string]any{"user_id": chiefID, "tenant_id": ada.Tenant}, 400, "You cannot act as a platform administrator."},
				"a member of another tenant":    {map[string]any{"user_id": adaID, "tenant_id": eve.Tenant}, 400, "This user is not a member of this organization."},
				"a user who does not exist":     {map[string]any{"user_id": 4711, "tenant_id": ada.Tenant}, 422, "This does not exist."},
				"a tenant that does not exist":  {map[string]any{"user_id": adaID, "tenant_id": none}, 422, "This does not exist."},
				"an invalid user ID":            {map[string]any{"user_id": "ada", "tenant_id": ada.Tenant}, 422, "This must be an integer."},
				"an invalid tenant ID":          {map[string]any{"user_id": adaID, "tenant_id": "acme"}, 422, "This must be a UUID."},
				"a user id left out":            {map[string]any{"tenant_id": ada.Tenant}, 422, "This field is required."},
				"a tenant id left out":          {map[string]any{"user_id": adaID}, 422, "This field is required."},
				"a user id that is not theirs":  {map[string]any{"user_id": -1, "tenant_id": ada.Tenant}, 422, "This does not exist."},
				"a user id beyond all integers": {map[string]any{"user_id": "9223372036854775808", "tenant_id": ada.Tenant}, 422, "This must be an integer."},
			} {
				if a := s.Call("POST", "/api/v1/admin/impersonation/start", token, tt.body); a.Status != tt.status || a.At("message") != tt.message {
					t.Errorf("%s: %d %s", name, a.Status, a.Text)
				}
			}
			for who, tt := range map[string]struct {
				token  string
				status int
			}{"a stranger": {"", 401}, "an owner": {ada.Token, 403}} {
				if a := s.Call("POST", "/api/v1/admin/impersonation/start", tt.token, map[string]any{"user_id": adaID, "tenant_id": ada.Tenant}); a.Status != tt.status {
					t.Errorf("%s: %d %s", who, a.Status, a.Text)
				}
			}
			s.Call("GET", "/api/v1/admin/impersonation/status", token, nil).Want(400)
			wantImpersonationLog(s)
		})
	}
}

// TestAdminRoutesWhileImpersonating calls every admin route. While impersonating, all of them are
// rejected before the request is validated, except the routes to stop the impersonation and to read
// its status.
func TestAdminRoutesWhileImpersonating(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		token := s.Admin()
		s.Impersonate(token, ada).Want(200)
		walked := 0
		for _, r := range s.Routes() {
			if !strings.HasPrefix(r.Path, "/api/v1/admin/") {
				continue
			}
			walked++
			guards := rest.Route{Scope: r.Scope}.Guards()
			open := strings.HasSuffix(r.Path, "/impersonation/stop") || strings.HasSuffix(r.Path, "/impersonation/status")
			if open {
				if !slices.Equal(guards, []rest.Guard{rest.AuthToken, rest.ImpersonationActive}) {
					t.Errorf("%s %s has the guards %v", r.Method, r.Path, guards)
				}
				continue
			}
			if !slices.Equal(guards, []rest.Guard{rest.AuthToken, rest.ImpersonationPrevent, rest.PlatformAdmin, rest.AdminFactor}) {
				t.Errorf("%s %s has the guards %v", r.Method, r.Path, guards)
			}
			a := s.Call(r.Method, apptest.FillPath(r.Path, ada.Tenant), token, nil)
			if a.Status != 403 || a.At("message") != "You are acting as another user. Please end that session first." {
				t.Errorf("%s %s: %d %s", r.Method, r.Path, a.Status, a.Text)
			}
		}
		if walked < 10 {
			t.Errorf("the administration has only %d routes", walked)
		}
	})
}

// An impersonation ends with its credential. The end is recorded once and does not affect the
// target's tokens.
func TestEndOfImpersonation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		target := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", nil)).Want(201)
		ada := apptest.Owner{Token: target.Str("accessToken")}
		ada.Tenant = s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(200).Str("currentTenant.id")
		adaRefresh := target.Str("refreshToken")
		begin := func() apptest.Reply {
			admin := adminLogin(s)
			s.Impersonate(admin.Str("accessToken"), ada).Want(200)
			return admin
		}
		targetIsUntouched := func() {
			t.Helper()
			renewed := s.Refresh(adaRefresh).Want(200)
			ada.Token, adaRefresh = renewed.Str("accessToken"), renewed.Str("refreshToken")
			s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(200)
		}

		admin := begin()
		s.Call("POST", "/api/v1/auth/logout", admin.Str("accessToken"), nil).Want(200)
		s.Call("GET", "/api/v1/auth/me", admin.Str("accessToken"), nil).Want(401)
		s.Refresh(admin.Str("refreshToken")).Want(401)
		targetIsUntouched()
		wantImpersonationLog(s, "ended", "started")

		admin = begin()
		renewed := s.Refresh(admin.Str("refreshToken")).Want(200)
		if renewed.At("user.email") != "admin@tenantry.test" {
			t.Errorf("refresh while impersonating: %s", renewed.Text)
		}
		me := s.Call("GET", "/api/v1/auth/me", renewed.Str("accessToken"), nil).Want(200)
		if me.At("impersonation") != nil || me.At("user.email") != "admin@tenantry.test" {
			t.Errorf("the renewed token: %s", me.Text)
		}
		s.Call("GET", "/api/v1/auth/me", admin.Str("accessToken"), nil).Want(401)
		targetIsUntouched()
		wantImpersonationLog(s, "ended", "started", "ended", "started")

		// The target's logout does not end the impersonation.
		admin = begin()
		s.Call("POST", "/api/v1/auth/logout", ada.Token, nil).Want(200)
		s.Call("GET", "/api/v1/admin/impersonation/status", admin.Str("accessToken"), nil).Want(200)
		wantImpersonationLog(s, "started", "ended", "started", "ended", "started")

		// The access token expires ten minutes after the impersonation, before a request or the job
		// has noticed the end.
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "71m"}).Want(200)
		s.Call("GET", "/api/v1/auth/me", admin.Str("accessToken"), nil).Want(401)
		apptest.Eventually(t, "the end of an expired impersonation", func() bool { return len(impersonationLog(s)) == 6 })
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "16m"}).Want(200)
		wantImpersonationLog(s, "ended", "started", "ended", "started", "ended", "started")
		last := s.Call("GET", "/api/v1/admin/impersonation/logs", s.Admin(), nil).Want(200)
		if last.At("data.0.ip_address") != "" || last.At("data.0.user_agent") != nil {
			t.Errorf("the record of an expiry: %s", last.Text)
		}
	})
}

// A login of the admin that revokes all other logins ends the impersonations of these logins.
func TestRevokingTheAdminEndsTheImpersonation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		token := s.Admin()
		s.Impersonate(token, ada).Want(200)
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{
			"email": "admin@tenantry.test", "password": "sandbox-admin", "revoke_previous": true,
		}).Want(200)
		s.Call("GET", "/api/v1/auth/me", token, nil).Want(401)
		wantImpersonationLog(s, "ended", "started")
	})
}

// Permissions are read at each request: the permissions of the admin, or of the target's role while
// impersonating.
func TestRevokedPermissionsApplyImmediately(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect)
			db := s.DB()
			ada := s.Register("ada@example.com", true)
			token := s.Admin()

			search := func() int {
				return s.Call("GET", "/api/v1/admin/tenants/search-with-roles?search=a", token, nil).Status
			}
			if got := search(); got != 200 {
				t.Errorf("search-with-roles: %d", got)
			}
			apptest.Exec(t, db, "UPDATE users SET platform_permissions = '[\"impersonation.start\"]' WHERE is_platform_admin")
			if got := search(); got != 403 {
				t.Errorf("search-with-roles without users.create: %d", got)
			}

			s.Impersonate(token, ada).Want(200)
			rename := func() int {
				return s.Call("PATCH", "/api/v1/tenant", token, map[string]any{"name": "B"}).Status
			}
			if got := rename(); got != 200 {
				t.Errorf("as an owner: %d", got)
			}
			apptest.Exec(t, db, "UPDATE memberships SET role_id = (SELECT id FROM roles WHERE name = 'member') WHERE user_id = (SELECT id FROM users WHERE email = 'ada@example.com')")
			if got := rename(); got != 403 {
				t.Errorf("as a member: %d", got)
			}
			apptest.Exec(t, db, "DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = 'ada@example.com')")
			s.Call("GET", "/api/v1/tenant", token, nil).Want(400)
			s.Call("GET", "/api/v1/admin/impersonation/status", token, nil).Want(200)

			// For a former admin, the credential no longer authenticates, and the job ends the
			// impersonation.
			apptest.Exec(t, db, "UPDATE users SET is_platform_admin = false WHERE email = 'admin@tenantry.test'")
			s.Call("GET", "/api/v1/auth/me", token, nil).Want(401)
		})
	}
}

// If a credential starts several impersonations concurrently, exactly one succeeds, as the log
// shows.
func TestStartRace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		adaID := float64(s.UserID(ada.Token))
		token := s.Admin()
		const rounds = 5
		for range rounds {
			var (
				wg  sync.WaitGroup
				mu  sync.Mutex
				won int
			)
			for range 20 {
				wg.Go(func() {
					a := s.Call("POST", "/api/v1/admin/impersonation/start", token, map[string]any{"user_id": adaID, "tenant_id": ada.Tenant})
					mu.Lock()
					defer mu.Unlock()
					switch a.Status {
					case 200:
						won++
					case 400, 403:
					default:
						t.Errorf("status %d: %s", a.Status, a.Text)
					}
				})
			}
			wg.Wait()
			if won != 1 {
				t.Fatalf("%d starts succeeded", won)
			}
			s.Call("POST", "/api/v1/admin/impersonation/stop", token, nil).Want(200)
		}
		if got := len(impersonationLog(s)); got != 2*rounds {
			t.Errorf("%d records of %d impersonations", got, rounds)
		}
	})
}

// If the target is removed concurrently, a start either comes first or is rejected. The admin never
// acts in a tenant that the target has left.
func TestStartWhileTheTargetIsRemoved(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect)
			db := s.DB()
			ada := s.Register("ada@example.com", true)
			adaID := float64(s.UserID(ada.Token))
			token := s.Admin()
			rounds := map[sqldb.Dialect]int{sqldb.SQLite: 20, sqldb.Postgres: 100}[dialect]
			if testing.Short() {
				rounds = 5
			}
			started := 0
			for range rounds {
				var wg sync.WaitGroup
				wg.Go(func() {
					err := db.Tx(t.Context(), func(ctx context.Context) error {
						conn := db.Conn(ctx)
						if err := conn.QueryRowContext(ctx, "SELECT 1 FROM tenants WHERE id = $1 FOR UPDATE", ada.Tenant).Scan(new(int)); err != nil {
							return err
						}
						_, err := conn.ExecContext(ctx, "DELETE FROM memberships WHERE tenant_id = $1", ada.Tenant)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				})
				a := s.Call("POST", "/api/v1/admin/impersonation/start", token, map[string]any{"user_id": adaID, "tenant_id": ada.Tenant})
				wg.Wait()
				switch a.Status {
				case 200:
					started++
					s.Call("GET", "/api/v1/tenant", token, nil).Want(400)
					s.Call("POST", "/api/v1/admin/impersonation/stop", token, nil).Want(200)
				case 400:
					s.Call("GET", "/api/v1/admin/impersonation/status", token, nil).Want(400)
				default:
					t.Fatalf("status %d: %s", a.Status, a.Text)
				}
				apptest.Exec(t, db, "INSERT INTO memberships (tenant_id, user_id, role_id, joined_at) SELECT $1, $2, id, created_at FROM roles WHERE name = 'owner'",
					ada.Tenant, int64(adaID))
			}
			logged := s.Call("GET", "/api/v1/admin/impersonation/logs", token, nil).Want(200).At("meta.total")
			if logged != float64(2*started) {
				t.Errorf("%v records of %d impersonations", logged, started)
			}
		})
	}
}
