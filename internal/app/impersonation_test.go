package app

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// adminLogin logs the sandbox's platform admin in and returns the answer.
func (s *server) adminLogin() reply {
	s.t.Helper()
	return s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "admin@tenantry.test", "password": "sandbox-admin"}).want(200)
}

// meID is the id of the user of a token.
func (s *server) meID(token string) float64 {
	s.t.Helper()
	return s.call("GET", "/api/v1/auth/me", token, nil).want(200).at("user.id").(float64)
}

// impersonate starts to act as a tenant's owner.
func (s *server) impersonate(token string, target owner) reply {
	s.t.Helper()
	return s.call("POST", "/api/v1/admin/impersonation/start", token, map[string]any{
		"user_id": s.meID(target.token), "tenant_id": target.tenant,
	})
}

// actions are those of the impersonation log, the newest first, read by an
// admin who impersonates nobody.
func (s *server) actions() []string {
	s.t.Helper()
	list, _ := s.call("GET", "/api/v1/admin/impersonation/logs", s.admin(), nil).want(200).at("data").([]any)
	actions := []string{}
	for _, r := range list {
		actions = append(actions, r.(map[string]any)["action"].(string))
	}
	return actions
}

func (s *server) wantActions(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), s.actions()); diff != "" {
		s.t.Errorf("the log: %s", diff)
	}
}

func TestImpersonation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		ada := s.register("ada@example.com", true)
		adaID := s.meID(ada.token)
		token := s.admin()
		adminID := s.meID(token)
		for _, path := range []string{"stop", "status"} {
			method := map[string]string{"stop": "POST", "status": "GET"}[path]
			s.call(method, "/api/v1/admin/impersonation/"+path, token, nil).want(400)
		}

		if a := s.impersonate(token, ada).want(200); a.at("message") != "impersonation.started" || len(a.body) != 1 {
			t.Errorf("start: %s", a.text)
		}
		me := s.call("GET", "/api/v1/auth/me", token, nil).want(200)
		if me.at("user.id") != adaID || me.at("user.is_platform_admin") != false || me.at("user.roles.0") != "owner" ||
			me.at("user.tenants.0.id") != ada.tenant || me.at("currentTenant.id") != ada.tenant || len(me.at("user.permissions").([]any)) != 5 {
			t.Errorf("me is not the target: %s", me.text)
		}
		want := map[string]any{"is_impersonating": true, "impersonator_id": adminID, "impersonator_name": "Sandbox Admin"}
		if diff := cmp.Diff(any(want), me.at("impersonation")); diff != "" {
			t.Errorf("me: %s", diff)
		}
		status := s.call("GET", "/api/v1/admin/impersonation/status", token, nil).want(200)
		if diff := cmp.Diff(map[string]any{"data": want}, status.body); diff != "" {
			t.Errorf("status: %s", diff)
		}
		// What the target may do, the admin may: and not more.
		s.call("GET", "/api/v1/tenant", token, nil).want(200)
		s.call("PATCH", "/api/v1/tenant", token, map[string]any{"name": "Renamed"}).want(200)
		s.call("GET", "/api/v1/tenant/"+ada.tenant+"/plans", token, nil).want(200)
		s.call("GET", "/api/v1/tenant/"+s.register("eve@example.com", true).tenant+"/plans", token, nil).want(403)
		s.impersonate(token, ada).want(403)

		stop := s.call("POST", "/api/v1/admin/impersonation/stop", token, nil).want(200)
		wantAdmin := map[string]any{"message": "impersonation.ended", "data": map[string]any{
			"id": adminID, "name": "Sandbox Admin", "email": "admin@tenantry.test", "is_platform_admin": true, "tenants": []any{},
		}}
		if diff := cmp.Diff(wantAdmin, stop.body); diff != "" {
			t.Errorf("stop: %s", diff)
		}
		me = s.call("GET", "/api/v1/auth/me", token, nil).want(200)
		if _, there := me.body["impersonation"]; there || me.at("user.id") != adminID || me.at("user.is_platform_admin") != true {
			t.Errorf("me after the end: %s", me.text)
		}
		s.call("POST", "/api/v1/admin/impersonation/stop", token, nil).want(400)
		s.call("GET", "/api/v1/admin/tenants", token, nil).want(200)

		logs := s.call("GET", "/api/v1/admin/impersonation/logs?per_page=1", token, nil).want(200)
		record := logs.at("data.0").(map[string]any)
		for key, value := range map[string]any{
			"impersonator_id": adminID, "impersonated_id": adaID, "tenant_id": ada.tenant, "action": "ended",
			"ip_address": "127.0.0.1", "user_agent": "Go-http-client/1.1",
		} {
			if record[key] != value {
				t.Errorf("log: %s is %v, want %v", key, record[key], value)
			}
		}
		if len(record) != 8 || logs.at("meta.total") != 2.0 || logs.at("links.next") == nil {
			t.Errorf("log: %s", logs.text)
		}
		s.wantActions("ended", "started")

		// The trail says who really changed the tenant.
		trail := s.call("GET", "/api/v1/admin/audit-logs?filter[action]=tenant.updated", token, nil).want(200)
		if trail.at("data.0.actor_id") != adminID || trail.at("data.0.subject_id") != adaID || trail.at("data.0.after.name") != "Renamed" {
			t.Errorf("trail: %s", trail.text)
		}
	})
}

func TestImpersonationInCookieMode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		ada := s.register("ada@example.com", true)
		adaID := s.meID(ada.token)
		for _, remember := range []bool{false, true} {
			f := s.frontend()
			f.fetch("GET", "/csrf-cookie", "", nil).want(204)
			f.send("POST", "/api/v1/auth/login", map[string]any{"email": "admin@tenantry.test", "password": "sandbox-admin", "remember": remember}).want(200)
			start := map[string]any{"user_id": adaID, "tenant_id": ada.tenant}
			f.fetch("POST", "/api/v1/admin/impersonation/start", "", start).want(419)
			before := *f.cookies["tenantry_session"]
			f.send("POST", "/api/v1/admin/impersonation/start", start).want(200)
			during := *f.cookies["tenantry_session"]
			if during.Value == before.Value || (during.MaxAge > 0) != remember || !during.HttpOnly {
				t.Errorf("the session after start: %v, before: %v", during, before)
			}
			if f.fetch("GET", "/api/v1/auth/me", "", nil).want(200).at("user.id") != adaID {
				t.Error("the session is not the target's")
			}
			f.fetch("POST", "/api/v1/admin/impersonation/stop", "", nil).want(419)
			f.send("POST", "/api/v1/admin/impersonation/stop", nil).want(200)
			after := *f.cookies["tenantry_session"]
			if after.Value == during.Value || after.Value == before.Value {
				t.Error("the session is the same after stop")
			}
			f.fetch("GET", "/api/v1/admin/impersonation/logs", "", nil).want(200)
			for _, old := range []http.Cookie{before, during} {
				f.cookies["tenantry_session"] = &old
				f.fetch("GET", "/api/v1/auth/me", "", nil).want(401)
			}
		}
		s.wantActions("ended", "started", "ended", "started")
	})
}

// Each guard rail refuses with 400 and changes nothing; of several the first in
// the spec's order is told.
func TestImpersonationGuardRails(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			var url string
			s := start(t, dialect, func(s *settings.Settings) { url = s.DatabaseURL.Reveal() })
			db := dbtest.Open(t, url)
			ada, eve := s.register("ada@example.com", true), s.register("eve@example.com", false)
			chief := s.register("chief@example.com", false)
			execute(t, db, "UPDATE users SET is_platform_admin = true WHERE email = 'chief@example.com'")
			token := s.admin()
			me, adaID, chiefID := s.meID(token), s.meID(ada.token), s.meID(chief.token)
			none := "01990000-0000-7000-8000-000000000000"
			for name, tt := range map[string]struct {
				body    map[string]any
				status  int
				message string
			}{
				"oneself":                       {map[string]any{"user_id": me, "tenant_id": ada.tenant}, 400, "You cannot act as yourself."},
				"a platform admin":              {map[string]any{"user_id": chiefID, "tenant_id": chief.tenant}, 400, "Nobody can act as a platform administrator."},
				"an admin who is not in there":  {map[string]any{"user_id": chiefID, "tenant_id": ada.tenant}, 400, "Nobody can act as a platform administrator."},
				"a member of another tenant":    {map[string]any{"user_id": adaID, "tenant_id": eve.tenant}, 400, "This user is not a member of this organization."},
				"a user who does not exist":     {map[string]any{"user_id": 4711, "tenant_id": ada.tenant}, 422, "This does not exist."},
				"a tenant that does not exist":  {map[string]any{"user_id": adaID, "tenant_id": none}, 422, "This does not exist."},
				"a user id that is none":        {map[string]any{"user_id": "ada", "tenant_id": ada.tenant}, 422, "This must be an integer."},
				"a tenant id that is none":      {map[string]any{"user_id": adaID, "tenant_id": "acme"}, 422, "This must be a UUID."},
				"a user id left out":            {map[string]any{"tenant_id": ada.tenant}, 422, "This field is required."},
				"a tenant id left out":          {map[string]any{"user_id": adaID}, 422, "This field is required."},
				"a user id that is not theirs":  {map[string]any{"user_id": -1, "tenant_id": ada.tenant}, 422, "This does not exist."},
				"a user id beyond all integers": {map[string]any{"user_id": "9223372036854775808", "tenant_id": ada.tenant}, 422, "This must be an integer."},
			} {
				if a := s.call("POST", "/api/v1/admin/impersonation/start", token, tt.body); a.status != tt.status || a.at("message") != tt.message {
					t.Errorf("%s: %d %s", name, a.status, a.text)
				}
			}
			for who, tt := range map[string]struct {
				token  string
				status int
			}{"a stranger": {"", 401}, "an owner": {ada.token, 403}} {
				if a := s.call("POST", "/api/v1/admin/impersonation/start", tt.token, map[string]any{"user_id": adaID, "tenant_id": ada.tenant}); a.status != tt.status {
					t.Errorf("%s: %d %s", who, a.status, a.text)
				}
			}
			s.call("GET", "/api/v1/admin/impersonation/status", token, nil).want(400)
			s.wantActions()
		})
	}
}

// TestAdminRoutesWhileImpersonating walks the table: every route of the
// administration is closed, before anything else is said about the request,
// except those that end the impersonation and tell of it.
func TestAdminRoutesWhileImpersonating(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		ada := s.register("ada@example.com", true)
		token := s.admin()
		s.impersonate(token, ada).want(200)
		walked := 0
		for _, r := range s.routes(t) {
			if !strings.HasPrefix(r.Path, "/api/v1/admin/") {
				continue
			}
			walked++
			guards := r.Scope.Guards()
			open := strings.HasSuffix(r.Path, "/impersonation/stop") || strings.HasSuffix(r.Path, "/impersonation/status")
			if open {
				if !slices.Equal(guards, []rest.Guard{rest.AuthToken, rest.ImpersonationActive}) {
					t.Errorf("%s %s has the guards %v", r.Method, r.Path, guards)
				}
				continue
			}
			if !slices.Equal(guards, []rest.Guard{rest.AuthToken, rest.ImpersonationPrevent, rest.PlatformAdmin}) {
				t.Errorf("%s %s has the guards %v", r.Method, r.Path, guards)
			}
			a := s.call(r.Method, fill(r.Path, ada.tenant), token, nil)
			if a.status != 403 || a.at("message") != "You are acting as somebody else. Please end that first." {
				t.Errorf("%s %s: %d %s", r.Method, r.Path, a.status, a.text)
			}
		}
		if walked < 10 {
			t.Errorf("the administration has only %d routes", walked)
		}
	})
}

// What ends the credential ends the impersonation, with one record, and touches
// the admin's tokens alone.
func TestWhatEndsAnImpersonation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		target := s.call("POST", "/api/v1/auth/register", "", registration("ada@example.com", nil)).want(201)
		ada := owner{token: target.str("accessToken")}
		ada.tenant = s.call("GET", "/api/v1/auth/me", ada.token, nil).want(200).str("currentTenant.id")
		adaRefresh := target.str("refreshToken")
		begin := func() reply {
			admin := s.adminLogin()
			s.impersonate(admin.str("accessToken"), ada).want(200)
			return admin
		}
		targetIsUntouched := func() {
			t.Helper()
			renewed := s.refresh(adaRefresh).want(200)
			ada.token, adaRefresh = renewed.str("accessToken"), renewed.str("refreshToken")
			s.call("GET", "/api/v1/auth/me", ada.token, nil).want(200)
		}

		admin := begin()
		s.call("POST", "/api/v1/auth/logout", admin.str("accessToken"), nil).want(200)
		s.call("GET", "/api/v1/auth/me", admin.str("accessToken"), nil).want(401)
		s.refresh(admin.str("refreshToken")).want(401)
		targetIsUntouched()
		s.wantActions("ended", "started")

		admin = begin()
		renewed := s.refresh(admin.str("refreshToken")).want(200)
		if renewed.at("user.email") != "admin@tenantry.test" {
			t.Errorf("refresh while impersonating: %s", renewed.text)
		}
		me := s.call("GET", "/api/v1/auth/me", renewed.str("accessToken"), nil).want(200)
		if me.at("impersonation") != nil || me.at("user.email") != "admin@tenantry.test" {
			t.Errorf("the renewed token: %s", me.text)
		}
		s.call("GET", "/api/v1/auth/me", admin.str("accessToken"), nil).want(401)
		targetIsUntouched()
		s.wantActions("ended", "started", "ended", "started")

		// The target's own logout ends nothing.
		admin = begin()
		s.call("POST", "/api/v1/auth/logout", ada.token, nil).want(200)
		s.call("GET", "/api/v1/admin/impersonation/status", admin.str("accessToken"), nil).want(200)
		s.wantActions("started", "ended", "started", "ended", "started")

		// Neither request nor job has looked yet, and the access token expires.
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "16m"}).want(200)
		s.call("GET", "/api/v1/auth/me", admin.str("accessToken"), nil).want(401)
		eventually(t, "the end of an expired impersonation", func() bool { return len(s.actions()) == 6 })
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "16m"}).want(200)
		s.wantActions("ended", "started", "ended", "started", "ended", "started")
		last := s.call("GET", "/api/v1/admin/impersonation/logs", s.admin(), nil).want(200)
		if last.at("data.0.ip_address") != "" || last.at("data.0.user_agent") != nil {
			t.Errorf("the record of an expiry: %s", last.text)
		}
	})
}

// A login of the admin that ends all others ends what they do as somebody else.
func TestRevokingTheAdminEndsTheImpersonation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		ada := s.register("ada@example.com", true)
		token := s.admin()
		s.impersonate(token, ada).want(200)
		s.call("POST", "/api/v1/auth/login", "", map[string]any{
			"email": "admin@tenantry.test", "password": "sandbox-admin", "revoke_previous": true,
		}).want(200)
		s.call("GET", "/api/v1/auth/me", token, nil).want(401)
		s.wantActions("ended", "started")
	})
}

// Rights are looked up at each request: the target's role while impersonating,
// and the admin's list.
func TestPermissionsTakenAwayAreGone(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			var url string
			s := start(t, dialect, func(s *settings.Settings) { url = s.DatabaseURL.Reveal() })
			db := dbtest.Open(t, url)
			ada := s.register("ada@example.com", true)
			token := s.admin()

			search := func() int {
				return s.call("GET", "/api/v1/admin/tenants/search-with-roles?search=a", token, nil).status
			}
			if got := search(); got != 200 {
				t.Errorf("search-with-roles: %d", got)
			}
			execute(t, db, "UPDATE users SET platform_permissions = '[\"plans.view\"]' WHERE is_platform_admin")
			if got := search(); got != 403 {
				t.Errorf("search-with-roles without users.create: %d", got)
			}

			s.impersonate(token, ada).want(200)
			rename := func() int {
				return s.call("PATCH", "/api/v1/tenant", token, map[string]any{"name": "B"}).status
			}
			if got := rename(); got != 200 {
				t.Errorf("as an owner: %d", got)
			}
			execute(t, db, "UPDATE memberships SET role_id = (SELECT id FROM roles WHERE name = 'member') WHERE user_id = (SELECT id FROM users WHERE email = 'ada@example.com')")
			if got := rename(); got != 403 {
				t.Errorf("as a member: %d", got)
			}
			execute(t, db, "DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = 'ada@example.com')")
			s.call("GET", "/api/v1/tenant", token, nil).want(400)
			s.call("GET", "/api/v1/admin/impersonation/status", token, nil).want(200)

			// An admin no more: the credential stands for nobody, and the job ends it.
			execute(t, db, "UPDATE users SET is_platform_admin = false WHERE email = 'admin@tenantry.test'")
			s.call("GET", "/api/v1/auth/me", token, nil).want(401)
		})
	}
}

// Of many starts on one credential one wins, and the log says so.
func TestStartRace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		ada := s.register("ada@example.com", true)
		adaID := s.meID(ada.token)
		token := s.admin()
		const rounds = 5
		for range rounds {
			var (
				wg  sync.WaitGroup
				mu  sync.Mutex
				won int
			)
			for range 20 {
				wg.Go(func() {
					a := s.call("POST", "/api/v1/admin/impersonation/start", token, map[string]any{"user_id": adaID, "tenant_id": ada.tenant})
					mu.Lock()
					defer mu.Unlock()
					switch a.status {
					case 200:
						won++
					case 400, 403:
					default:
						t.Errorf("status %d: %s", a.status, a.text)
					}
				})
			}
			wg.Wait()
			if won != 1 {
				t.Fatalf("%d starts won", won)
			}
			s.call("POST", "/api/v1/admin/impersonation/stop", token, nil).want(200)
		}
		if got := len(s.actions()); got != 2*rounds {
			t.Errorf("%d records of %d impersonations", got, rounds)
		}
	})
}

// A start and the removal of the target: the start comes before or is refused,
// and nobody acts in a tenant that the target has left.
func TestStartWhileTheTargetIsRemoved(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			var url string
			s := start(t, dialect, func(s *settings.Settings) { url = s.DatabaseURL.Reveal() })
			db := dbtest.Open(t, url)
			ada := s.register("ada@example.com", true)
			adaID := s.meID(ada.token)
			token := s.admin()
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
						if err := conn.QueryRowContext(ctx, "SELECT 1 FROM tenants WHERE id = $1 FOR UPDATE", ada.tenant).Scan(new(int)); err != nil {
							return err
						}
						_, err := conn.ExecContext(ctx, "DELETE FROM memberships WHERE tenant_id = $1", ada.tenant)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				})
				a := s.call("POST", "/api/v1/admin/impersonation/start", token, map[string]any{"user_id": adaID, "tenant_id": ada.tenant})
				wg.Wait()
				switch a.status {
				case 200:
					started++
					s.call("GET", "/api/v1/tenant", token, nil).want(400)
					s.call("POST", "/api/v1/admin/impersonation/stop", token, nil).want(200)
				case 400:
					s.call("GET", "/api/v1/admin/impersonation/status", token, nil).want(400)
				default:
					t.Fatalf("status %d: %s", a.status, a.text)
				}
				execute(t, db, "INSERT INTO memberships (tenant_id, user_id, role_id, joined_at) SELECT $1, $2, id, created_at FROM roles WHERE name = 'owner'",
					ada.tenant, int64(adaID))
			}
			logged := s.call("GET", "/api/v1/admin/impersonation/logs", token, nil).want(200).at("meta.total")
			if logged != float64(2*started) {
				t.Errorf("%v records of %d impersonations", logged, started)
			}
		})
	}
}
