package impersonation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// startAs starts an impersonation of an owner. more has additional fields of the body.
func startAs(s *apptest.Server, token string, target apptest.Owner, more object) apptest.Reply {
	s.T.Helper()
	body := object{"user_id": float64(s.UserID(target.Token)), "tenant_id": target.Tenant}
	return s.Call("POST", startPath, token, apptest.WithChanges(body, more))
}

// withMinutes sets how long an impersonation lasts.
func withMinutes(s *settings.Settings) { s.ImpersonationMinutes = 30 }

// withReason makes the reason of an impersonation required.
func withReason(s *settings.Settings) { s.ImpersonationReason = true }

// Status, the profile, the log, the audit trail and the time lines show the
// reason.
func TestReason(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, token := s.Register("ada@example.com", true), s.Admin()
		adaID := float64(s.UserID(ada.Token))
		startAs(s, token, ada, object{"reason": strings.Repeat("x", 501)}).WantInvalid("reason")
		startAs(s, token, ada, object{"read_only": "yes"}).WantInvalid("read_only")
		began := s.Now()
		startAs(s, token, ada, object{"reason": "Ticket 4711"}).Want(200)
		for path, at := range map[string]string{statusPath: "data", "/api/v1/auth/me": "impersonation"} {
			a := s.Call("GET", path, token, nil).Want(200)
			a.WantAt(at+".reason", "Ticket 4711").WantAt(at+".read_only", false)
			if left := a.TimeAt(at + ".expires_at").Sub(began); left < time.Hour || left > time.Hour+time.Minute {
				t.Errorf("%s: the impersonation lasts %s", path, left)
			}
		}
		s.Call("PATCH", "/api/v1/tenant", token, object{"name": "Renamed"}).Want(200)
		s.Call("POST", stopPath, token, nil).Want(200)
		startAs(s, token, ada, object{"reason": " "}).Want(200)
		s.Call("POST", stopPath, token, nil).Want(200)
		logs := s.Call("GET", logsPath, token, nil).Want(200)
		for i, want := range []any{nil, nil, "Ticket 4711", "Ticket 4711"} {
			record := logs.At("data").([]any)[i].(object)
			if record["reason"] != want || record["read_only"] != false {
				t.Errorf("record %d: %v", i, record)
			}
		}
		want := object{"id": adaID, "reason": "Ticket 4711"}
		want["name"] = s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(200).Str("user.name")
		updated := func(a apptest.Reply, key string) object {
			t.Helper()
			for _, row := range a.Want(200).At("data").([]any) {
				if row.(object)[key] == "tenant.updated" {
					return row.(object)
				}
			}
			t.Fatalf("no entry: %s", a.Text)
			return nil
		}
		for path, key := range map[string]string{
			"/api/v1/admin/audit-logs": "action", "/api/v1/admin/activity": "type", "/api/v1/admin/tenants/" + ada.Tenant + "/timeline": "type",
		} {
			if got := updated(s.Call("GET", path, token, nil), key)["acting_as"]; !cmp.Equal(any(want), got) {
				t.Errorf("%s: %v", path, got)
			}
		}
		if got := updated(s.Call("GET", ada.Path("/timeline"), ada.Token, nil), "type")["acting_as"]; !cmp.Equal(any(want), got) {
			t.Errorf("the tenant's time line: %v", got)
		}
		s.Call("PATCH", "/api/v1/tenant", ada.Token, object{"name": "Again"}).Want(200)
		s.AuditLog(nil).WantAt("data.0.acting_as", nil)
	})
}

// With TENANTRY_IMPERSONATION_REASON=required, a missing or empty reason is
// 422 before the guard rails.
func TestRequiredReason(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, token := s.Register("ada@example.com", true), s.Admin()
		for _, more := range []object{{}, {"reason": ""}, {"reason": "  "}, {"reason": nil}} {
			startAs(s, token, ada, more).WantInvalid("reason")
		}
		self := object{"user_id": float64(s.UserID(token)), "tenant_id": ada.Tenant}
		s.Call("POST", startPath, token, self).WantInvalid("reason")
		s.Call("POST", startPath, token, object{"user_id": 0, "tenant_id": ada.Tenant}).WantInvalid("user_id", "reason")
		s.Call("POST", startPath, token, apptest.WithChanges(self, object{"reason": "x"})).WantRefused(400, "")
		startAs(s, token, ada, object{"reason": "x"}).Want(200)
	}, withReason)
}

// While read_only, only GET and HEAD requests, stop, logout and refresh are
// accepted. This guard runs first.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, token := s.Register("ada@example.com", true), s.Admin()
		startAs(s, token, ada, object{"read_only": true}).Want(200)
		s.Call("GET", statusPath, token, nil).Want(200).WantAt("data.read_only", true)
		s.Call("GET", "/api/v1/tenant", token, nil).Want(200)
		s.Call("GET", "/api/v1/admin/tenants", token, nil).WantRefused(403, "")
		for path, method := range map[string]string{
			"/api/v1/tenant": "PATCH", ada.Path("/usage"): "POST", ada.Path("/usage/nothing/cap"): "PUT", "/api/v1/user/avatar": "DELETE",
			ada.Path("/subscription/cancel"): "POST", startPath: "POST", "/api/v1/tenant/" + apptest.NoSuchID + "/usage": "POST",
		} {
			s.Call(method, path, token, `{`).As(method+" "+path).WantRefused(403, "IMPERSONATION_READ_ONLY")
		}
		s.Call("POST", ada.Path("/usage"), "", nil).WantRefused(401, "")
		s.Call("GET", "/api/v1/settings", token, nil).Want(200)
		s.Call("POST", "/api/v1/auth/forgot-password", token, object{"email": "nobody@example.com"}).Want(200)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, object{"name": "Renamed"}).Want(200)
		wantImpersonationLog(s, "started")
		s.Call("POST", stopPath, token, nil).Want(200)
		s.Call("GET", logsPath, token, nil).Want(200).WantAt("data.0.read_only", true).WantAt("data.1.read_only", true)
		startAs(s, token, ada, object{"read_only": true}).Want(200)
		s.Call("POST", "/api/v1/auth/logout", token, nil).Want(200)
		s.Call("GET", "/api/v1/auth/me", token, nil).WantRefused(401, "")
		wantImpersonationLog(s, "ended", "started", "ended", "started")
	})
}

// An impersonation expires. The first rejected request records the end
// once, and stop restores the admin.
func TestImpersonationExpires(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, token, late := s.Register("ada@example.com", true), s.Admin(), s.Admin()
		startAs(s, token, ada, object{"read_only": true}).Want(200)
		startAs(s, late, ada, nil).Want(200)
		s.Advance(29 * time.Minute)
		s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).WantAt("user.email", "ada@example.com")
		s.Advance(6 * time.Minute)
		for range 2 {
			s.Call("GET", "/api/v1/auth/me", token, nil).WantRefused(403, "IMPERSONATION_EXPIRED")
			s.Call("PATCH", "/api/v1/tenant", token, nil).WantRefused(403, "IMPERSONATION_EXPIRED")
		}
		s.Call("GET", statusPath, token, nil).Want(200)
		ended := func() int {
			return s.CountRows("SELECT count(*) FROM impersonation_logs WHERE action = 'ended'")
		}
		apptest.Eventually(t, "the end of the other impersonation", func() bool { return ended() == 2 })
		s.Call("POST", stopPath, token, nil).Want(200).WantAt("data.email", "admin@tenantry.test")
		s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).WantAt("user.email", "admin@tenantry.test")
		s.Call("POST", stopPath, token, nil).WantRefused(400, "")
		if n := ended(); n != 2 {
			t.Errorf("%d records of the end", n)
		}
		// The admin's token would have expired during the impersonation, but remains valid until
		// ten minutes after the impersonation.
		s.Advance(4 * time.Minute)
		s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
		s.Call("GET", statusPath, late, nil).Want(200)
		s.Advance(time.Minute)
		s.Call("GET", "/api/v1/auth/me", token, nil).WantRefused(401, "")
		s.Call("GET", statusPath, late, nil).WantRefused(401, "")
		if n := ended(); n != 2 {
			t.Errorf("%d records of the end", n)
		}
	}, withMinutes)
}

// An impersonation does not extend the token of the admin.
func TestTokenAfterwards(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, token := s.Register("ada@example.com", true), s.Admin()
		startAs(s, token, ada, nil).Want(200)
		s.Call("POST", stopPath, token, nil).Want(200)
		s.Advance(14 * time.Minute)
		s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
		s.Advance(2 * time.Minute)
		s.Call("GET", "/api/v1/auth/me", token, nil).WantRefused(401, "")
	})
}

// In cookie mode, an expired impersonation refuses requests until it is stopped, which restores the
// admin's session.
func TestExpiredImpersonationInCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		f.Send("POST", "/api/v1/auth/login", apptest.AdminLogin).Want(200)
		f.Send("POST", startPath, object{"user_id": float64(s.UserID(ada.Token)), "tenant_id": ada.Tenant}).Want(200)
		f.Send("GET", "/api/v1/tenant", nil).Want(200)
		s.Advance(31 * time.Minute)
		for range 2 {
			f.Send("GET", "/api/v1/tenant", nil).WantRefused(403, "IMPERSONATION_EXPIRED")
			f.Send("PATCH", "/api/v1/tenant", object{"name": "Changed"}).WantRefused(403, "IMPERSONATION_EXPIRED")
		}
		f.Send("GET", statusPath, nil).Want(200)
		f.Send("POST", stopPath, nil).Want(200).WantAt("data.email", "admin@tenantry.test")
		f.Send("GET", "/api/v1/auth/me", nil).Want(200).WantAt("user.email", "admin@tenantry.test")
		wantImpersonationLog(s, "ended", "started")
	}, withMinutes)
}

// A session outlives its impersonation, and a refresh restores the admin.
func TestExpiredImpersonationOfASession(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		login := s.Call("POST", "/api/v1/auth/login", "", apptest.AdminLogin).Want(200)
		startAs(s, login.Str("accessToken"), ada, nil).Want(200)
		s.Advance(31 * time.Minute)
		s.Call("GET", "/api/v1/tenant", login.Str("accessToken"), nil).WantRefused(403, "IMPERSONATION_EXPIRED")
		fresh := s.Refresh(login.Str("refreshToken")).Want(200).Str("accessToken")
		s.Call("GET", "/api/v1/auth/me", fresh, nil).Want(200).WantAt("user.email", "admin@tenantry.test")
		s.Call("GET", statusPath, login.Str("accessToken"), nil).WantRefused(401, "")
		wantImpersonationLog(s, "ended", "started")
	}, withMinutes)
}
