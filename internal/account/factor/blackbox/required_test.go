package blackbox_test

import (
	"bytes"
	"io"
	"strconv"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A tenant requires a second factor from a set date. Joining, logging in and enrolling remain
// possible.
func TestTenantRequiresAFactor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AvoidMidnight()
		ada := register(s, "ada@example.com")
		token, _ := s.Join(ada.Owner, "Bob", "bob@example.com", "member")
		bob := &person{Owner: apptest.Owner{Token: token, Tenant: ada.Tenant}, s: s, email: "bob@example.com"}
		verify(s, bob.email)
		update := func(body object) apptest.Reply { return ada.call("PATCH", "/tenant", body) }
		ada.call("GET", "/tenant", nil).Want(200).WantAt("data.require_mfa", false).WantAt("data.require_mfa_from", nil)
		update(object{"require_mfa": true}).WantInvalid("require_mfa")
		day := func(days int) string { return s.Now().UTC().AddDate(0, 0, days).Format("2006-01-02") }
		update(object{"require_mfa_from": day(1)}).WantInvalid("require_mfa_from")
		update(object{"require_mfa": false, "require_mfa_from": day(1)}).WantInvalid("require_mfa_from")
		ada.enroll()
		for _, wrong := range []any{"soon", "2026-13-01", day(-1), day(91), 1} {
			update(object{"require_mfa": true, "require_mfa_from": wrong}).WantInvalid("require_mfa_from")
		}
		update(object{"require_mfa": true, "require_mfa_from": day(90)}).Want(200).WantAt("tenant.require_mfa", true).WantAt("tenant.require_mfa_from", day(90))
		update(object{"name": "Acme"}).Want(200).WantAt("tenant.require_mfa_from", day(90))
		update(object{"require_mfa_from": day(1)}).Want(200).WantAt("tenant.require_mfa_from", day(1))
		bob.call("GET", "/tenant", nil).Want(200)
		s.AdvanceTo(s.Now().UTC().Truncate(apptest.Day).Add(apptest.Day))
		ada.Token = complete(s, ada.challenge(), "code", ada.code()).Want(200).Str("accessToken")
		bob.Token = s.LogIn(bob.email)
		for _, path := range []string{"/tenant", "/onboarding/status", "/tenant/" + ada.Tenant + "/team/members", "/tenant/" + ada.Tenant + "/subscription"} {
			bob.call("GET", path, nil).As(path).WantRefused(403, "MFA_ENROLLMENT_REQUIRED")
			ada.call("GET", path, nil).As(path).Want(200)
		}
		bob.call("PATCH", "/tenant", object{}).WantRefused(403, "MFA_ENROLLMENT_REQUIRED") // before the permission
		for _, path := range []string{"/auth/me", "/user/sessions", "/user/factors"} {
			bob.call("GET", path, nil).Want(200)
		}
		bob.enroll()
		bob.call("GET", "/tenant", nil).Want(200)
		bob.call("DELETE", "/user/factors/totp", bob.confirmed(nil)).Want(204)
		bob.secret = ""
		bob.call("GET", "/tenant", nil).WantRefused(403, "MFA_ENROLLMENT_REQUIRED")
		s.Join(ada.Owner, "Eve", "eve@example.com", "member")

		admin := s.Admin()
		s.Impersonate(admin, ada.Owner).Want(200)
		s.Call("PATCH", "/api/v1/tenant", admin, object{"require_mfa": "x", "name": ""}).WantRefused(400, "") // before validation
		s.Call("PATCH", "/api/v1/tenant", admin, object{"require_mfa_from": nil}).WantRefused(400, "")
		s.Call("PATCH", "/api/v1/tenant", admin, object{"name": "Acme Ltd"}).Want(200)
		s.Call("POST", "/api/v1/admin/impersonation/stop", admin, nil).Want(200)

		update(object{"require_mfa": false}).Want(200).WantAt("tenant.require_mfa", false).WantAt("tenant.require_mfa_from", nil)
		bob.call("GET", "/tenant", nil).Want(200)
	})
}

// mfaEnabled maps the emails of a list of members to mfa_enabled.
func mfaEnabled(a apptest.Reply) map[string]any {
	emails, enabled := a.Want(200).Column("email"), a.Column("mfa_enabled")
	all := map[string]any{}
	for i, email := range emails {
		all[email.(string)] = enabled[i]
	}
	return all
}

// Platform admins and tenant admins see which users have a factor. A platform admin can reset a
// user's factors, which ends all logins.
func TestResetByAnAdmin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		token, _ := s.Join(ada.Owner, "Bob", "bob@example.com", "member")
		want := map[string]any{"ada@example.com": true, "bob@example.com": false}
		admin := s.Admin()
		members := "/api/v1/admin/tenants/" + ada.Tenant + "/members"
		for name, got := range map[string]map[string]any{
			"owner": mfaEnabled(s.Call("GET", ada.Path("/team/members"), ada.Token, nil)), "admin": mfaEnabled(s.Call("GET", members, admin, nil)),
		} {
			if got["ada@example.com"] != want["ada@example.com"] || got["bob@example.com"] != want["bob@example.com"] {
				t.Errorf("%s: %v", name, got)
			}
		}
		if got := mfaEnabled(s.Call("GET", ada.Path("/team/members"), token, nil)); got["ada@example.com"] != nil {
			t.Errorf("a member sees %v", got)
		}
		id := strconv.FormatInt(s.UserID(ada.Token), 10)
		eve := register(s, "eve@example.com")
		s.Call("DELETE", members+"/"+strconv.FormatInt(s.UserID(eve.Token), 10)+"/factors", admin, nil).WantRefused(404, "")
		s.Call("DELETE", members+"/"+id+"/factors", ada.Token, nil).WantRefused(403, "")
		challenge := ada.challenge()
		mails := len(s.Mails(ada.email))
		s.Call("DELETE", members+"/"+id+"/factors", admin, nil).Want(204)
		ada.call("GET", "/auth/me", nil).Want(401)
		complete(s, challenge, "recovery_code", ada.codes[0]).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		ada.Token = ada.login(nil).Want(200).Str("accessToken")
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.mfa_enabled", false).WantAt("data.recovery_codes", nil)
		apptest.Eventually(t, "a mail about the reset", func() bool {
			return len(s.Mails(ada.email)) > mails && hasMail(s, ada.email, "A second factor was removed from your account")
		})
		a := s.Call("GET", ada.Path("/audit-logs?filter[action]=factor.reset"), ada.Token, nil).Want(200)
		if a.At("data.0.actor.email") != "admin@tenantry.test" && a.At("data.0.actor_id") == nil {
			t.Errorf("the audit log is %s", a.Text)
		}

		ada.secret = ""
		ada.enroll()
		var out bytes.Buffer
		if err := commands.ResetFactors(t.Context(), s.CLISettings(), ada.email, &out); err != nil {
			t.Error(err)
		}
		apptest.Eventually(t, "the end of the login", func() bool { return ada.call("GET", "/auth/me", nil).Status == 401 })
		ada.login(nil).Want(200)
		if err := commands.ResetFactors(t.Context(), s.CLISettings(), "nobody@example.com", io.Discard); err == nil {
			t.Error("command succeeded for an unknown address")
		}
	})
}

// With the setting, admin routes need a factor. An admin who has one must have passed it in the
// current login to impersonate.
func TestPlatformAdminsNeedAFactor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		admin := &person{s: s, email: "admin@tenantry.test"}
		admin.Token = s.Admin() // created with the CLI, so the email counts as verified
		admin.call("GET", "/admin/tenants", nil).WantRefused(403, "MFA_ENROLLMENT_REQUIRED")
		s.Impersonate(admin.Token, ada).WantRefused(403, "MFA_ENROLLMENT_REQUIRED")
		admin.call("GET", "/auth/me", nil).Want(200)
		before := s.Call("POST", "/api/v1/auth/login", "", apptest.AdminLogin).Want(200)
		secret := admin.call("POST", "/user/factors/totp", object{"current_password": "sandbox-admin"}).Want(201).Str("data.secret")
		admin.secret = secret
		admin.call("POST", "/user/factors/totp/confirm", object{"code": admin.code()}).Want(200)
		admin.call("GET", "/admin/tenants", nil).Want(200)
		s.Impersonate(admin.Token, ada).Want(200) // the login that enrolled the factor
		s.Call("POST", "/api/v1/admin/impersonation/stop", admin.Token, nil).Want(200)
		s.Impersonate(before.Str("accessToken"), ada).WantRefused(403, "MFA_REQUIRED")
		refreshed := s.Refresh(before.Str("refreshToken")).Want(200).Str("accessToken")
		s.Call("GET", "/api/v1/admin/tenants", refreshed, nil).Want(200)
		a := s.Impersonate(refreshed, ada)
		a.WantRefused(403, "MFA_REQUIRED")
		if a.At("challenge") != nil {
			t.Errorf("the response is %s", a.Text)
		}
		challenge := s.Call("POST", "/api/v1/auth/login", "", apptest.AdminLogin).Want(403).Str("challenge")
		done := complete(s, challenge, "code", admin.code()).Want(200)
		s.Impersonate(done.Str("accessToken"), ada).Want(200)
	}, func(s *settings.Settings) { s.AdminRequireMFA = true })
}

// A challenge is not a credential: every route responds as to an unknown token.
func TestChallengeIsNoCredential(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		challenge := ada.challenge()
		s.WantNoCredential(ada.Tenant, challenge)
		complete(s, challenge, "code", ada.code()).Want(200)
	})
}
