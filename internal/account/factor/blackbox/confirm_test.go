package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

// The code is checked after the password, so a wrong password does not use it up.
func TestCodeIsCheckedAfterThePassword(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		code := ada.code()
		ada.call("POST", "/user/recovery-codes", object{"current_password": "wrong", "code": code}).WantInvalid("current_password")
		ada.call("POST", "/user/recovery-codes", object{"current_password": password}).WantInvalid("code")
		ada.call("POST", "/user/recovery-codes", object{"current_password": password, "code": "000000"}).WantInvalid("code")
		ada.call("POST", "/user/recovery-codes", object{"current_password": password, "assertion": object{}}).WantInvalid("assertion")
		ada.call("POST", "/user/factors/totp", object{"current_password": password, "code": code}).WantRefused(409, "TOTP_ALREADY_ENABLED")
		ada.call("POST", "/user/recovery-codes", object{"current_password": password, "code": code}).Want(200)
		ada.call("POST", "/user/recovery-codes", object{"current_password": password, "code": code}).WantInvalid("code")
	})
}

// An account without a password needs a recent login. Refreshing the tokens does not make a login
// recent.
func TestAccountWithoutAPassword(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com")
		apptest.Exec(t, s.DB(), `UPDATE users SET password_hash = NULL WHERE email = 'ada@example.com'`)
		secret := ada.call("POST", "/user/factors/totp", nil).Want(201).Str("data.secret")
		ada.call("POST", "/user/factors/totp/confirm", object{"code": factortest.Code(t, secret, s.Now())}).Want(200)
		ada.secret = secret
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.has_password", false)
		s.Advance(10 * time.Minute)
		ada.call("DELETE", "/user/factors/totp", object{"code": ada.code()}).WantRefused(403, "RECENT_LOGIN_REQUIRED")
	})
}

// An impersonating admin cannot change the factors of the target: every change is rejected before
// validation. Reading is allowed.
func TestFactorsWhileImpersonating(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		admin := s.Admin()
		s.Impersonate(admin, ada.Owner).Want(200)
		s.Call("GET", "/api/v1/user/factors", admin, nil).Want(200).WantAt("data.mfa_enabled", true)
		for _, r := range s.Routes() {
			if len(r.Path) > 13 && r.Path[:13] == "/api/v1/user/" && r.Method != "GET" {
				s.Call(r.Method, r.Path, admin, object{"code": 1}).As(r.Method+" "+r.Path).WantRefused(400, "")
			}
		}
	})
}
