package factor_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

func TestLoginWithASecondFactor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		key := ada.addPasskey("key")
		before := len(ada.call("GET", "/user/sessions", nil).Want(200).Column("id"))
		a := ada.login(nil).Want(403).WantAt("code", "MFA_REQUIRED").WantAt("factors", []any{"passkey", "recovery_code", "totp"})
		challenge := a.Str("challenge")
		if a.At("accessToken") != nil || len(challenge) < 22 {
			t.Errorf("the answer is %s", a.Text)
		}
		if after := len(ada.call("GET", "/user/sessions", nil).Want(200).Column("id")); after != before {
			t.Errorf("%d sessions, then %d", before, after)
		}
		s.Call("GET", "/api/v1/auth/me", challenge, nil).WantRefused(401, "")
		s.Call("POST", "/api/v1/auth/refresh", "", object{"refresh_token": challenge}).Want(422)
		mfa := func(body object) apptest.Reply { return s.Call("POST", "/api/v1/auth/mfa", "", body) }
		mfa(object{}).WantInvalid("challenge", "code")
		mfa(object{"challenge": challenge}).WantInvalid("code")
		mfa(object{"challenge": challenge, "code": "", "recovery_code": nil}).WantInvalid("code")
		mfa(object{"challenge": challenge, "code": "1", "recovery_code": "2"}).WantInvalid("code")
		mfa(object{"challenge": challenge, "code": 123456}).WantInvalid("code")
		mfa(object{"challenge": challenge, "credential": "x"}).WantInvalid("credential")
		mfa(object{"challenge": "unknown", "code": "123456"}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		s.Call("POST", "/api/v1/auth/mfa/passkey-options", "", object{}).WantInvalid("challenge")
		s.Call("POST", "/api/v1/auth/mfa/passkey-options", "", object{"challenge": "unknown"}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		mfa(object{"challenge": challenge, "code": "no code"}).WantRefused(401, "INVALID_MFA_CODE")
		done := mfa(object{"challenge": challenge, "code": ada.code()}).Want(200).WantAt("user.email", ada.email).WantAt("isNewUser", nil)
		mfa(object{"challenge": challenge, "code": ada.code()}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		s.Refresh(done.Str("refreshToken")).Want(200)

		challenge = ada.challenge()
		eve := register(s, "eve@example.com")
		foreign := eve.addPasskey("key")
		foreign.Handle = key.Handle
		complete(s, challenge, "credential", secondFactor(s, challenge, foreign)).WantRefused(401, "INVALID_MFA_CODE")
		key.Verifies = false // a second factor needs no user verification
		complete(s, challenge, "credential", secondFactor(s, challenge, key)).Want(200)
		ada.call("GET", "/user/factors", nil).Want(200).TimeAt("data.totp.last_used_at")

		challenge = ada.challenge()
		s.Advance(5*time.Minute + time.Second)
		complete(s, challenge, "recovery_code", ada.codes[0]).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
	})
}

func TestPasskeyLogin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com")
		key := ada.addPasskey("key")
		o := s.Call("POST", "/api/v1/auth/passkey/options", "", nil).Want(200)
		if list, _ := o.At("data.options.allowCredentials").([]any); len(list) > 0 {
			t.Errorf("the options are %s", o.Text)
		}
		s.Call("POST", "/api/v1/auth/passkey", "", object{"challenge_id": o.Str("data.challenge_id")}).WantInvalid("credential")
		s.Call("POST", "/api/v1/auth/passkey", "", object{"challenge_id": apptest.NoSuchID, "credential": key.Assert(o.At("data.options").(object))}).
			WantRefused(401, "INVALID_CREDENTIALS")
		s.Call("POST", "/api/v1/auth/passkey", "", object{"challenge_id": o.Str("data.challenge_id"), "credential": object{}}).WantRefused(401, "INVALID_CREDENTIALS")
		unknown := factortest.New(t, s.URL)
		unknown.Handle, unknown.RPID = key.Handle, key.RPID
		passkeyLogin(s, unknown).WantRefused(401, "INVALID_CREDENTIALS")
		passkeyLogin(s, key).Want(200).WantAt("user.email", ada.email)

		key.Verifies = false // now it is one factor
		a := passkeyLogin(s, key).Want(403).WantAt("code", "MFA_REQUIRED").WantAt("factors", []any{"recovery_code"})
		s.Call("POST", "/api/v1/auth/mfa/passkey-options", "", object{"challenge": a.Str("challenge")}).WantInvalid("challenge")
		complete(s, a.Str("challenge"), "recovery_code", ada.codes[0]).Want(200)
		apptest.Exec(t, s.DB(), `DELETE FROM recovery_codes`)
		passkeyLogin(s, key).WantRefused(401, "INVALID_CREDENTIALS")
	})
}

// In cookie mode, only the browser that began the login completes it, with the choices of the
// login.
func TestSecondFactorInCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		ada.addPasskey("key")
		browser := func() *apptest.Frontend {
			f := s.Frontend()
			f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
			return f
		}
		began, other := browser(), browser()
		session := began.Cookie("tenantry_session")
		challenge := began.Send("POST", "/api/v1/auth/login", object{"email": ada.email, "password": password, "remember": true, "revoke_previous": true}).Want(403).Str("challenge")
		body := object{"challenge": challenge, "code": ada.code()}
		other.Send("POST", "/api/v1/auth/mfa", body).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		s.Call("POST", "/api/v1/auth/mfa", "", body).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		other.Send("POST", "/api/v1/auth/mfa/passkey-options", object{"challenge": challenge}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		began.Send("POST", "/api/v1/auth/mfa/passkey-options", object{"challenge": challenge}).Want(200)
		ada.call("GET", "/auth/me", nil).Want(200) // revoke_previous takes effect when the login is complete
		a := began.Send("POST", "/api/v1/auth/mfa", body).Want(200)
		if a.At("accessToken") != nil || began.Cookie("tenantry_session") == session || began.Cookies["tenantry_session"].MaxAge <= 0 {
			t.Errorf("the answer is %s with %v", a.Text, began.Cookies["tenantry_session"])
		}
		began.Send("GET", "/api/v1/auth/me", nil).Want(200)
		ada.call("GET", "/auth/me", nil).Want(401)

		challenge = began.Send("POST", "/api/v1/auth/login", object{"email": ada.email, "password": password, "remember": true}).Want(403).Str("challenge")
		began.Send("POST", "/api/v1/auth/mfa", object{"challenge": challenge, "code": ada.code(), "remember": false}).Want(200)
		if began.Cookies["tenantry_session"].MaxAge > 0 {
			t.Error("remember of the completion has no effect")
		}
		own := s.Call("POST", "/api/v1/auth/login", "", object{"email": ada.email, "password": password}).Want(403).Str("challenge")
		began.Send("POST", "/api/v1/auth/mfa", object{"challenge": own, "code": ada.code()}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
	})
}

// A challenge ends with everything that ends one-time codes.
func TestChallengesEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		key := ada.addPasskey("key")
		relogin := func() { ada.Token = complete(s, ada.challenge(), "code", ada.code()).Want(200).Str("accessToken") }
		for name, end := range map[string]func(){
			"logout": func() { ada.call("POST", "/auth/logout", nil).Want(200) },
			"password change": func() {
				ada.call("PUT", "/user/password", object{"current_password": password, "password": password, "password_confirmation": password}).Want(204)
			},
			"removal": func() {
				id := ada.call("GET", "/user/factors", nil).Str("data.passkeys.0.id")
				ada.call("DELETE", "/user/passkeys/"+id, ada.confirmed(nil)).Want(204)
				ada.addKey(key, "key").Want(201)
			},
		} {
			relogin()
			challenge := ada.challenge()
			end()
			complete(s, challenge, "code", ada.code()).As(name).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		}
		relogin()
	})
}

// Wrong codes are counted per account, over all logins, apart from passwords. The right code is
// refused meanwhile, and a passkey works. The count survives a password reset.
func TestWrongCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		key := ada.addPasskey("key")
		for range 2 {
			challenge := ada.challenge()
			for range 5 {
				complete(s, challenge, "code", "000000").WantRefused(401, "INVALID_MFA_CODE")
			}
		}
		tries := 500 // of 10,000 in the long form
		if dbtest.IsLong() {
			tries = 10_000
		}
		challenge := ada.challenge()
		for i := range tries {
			if i%100 == 0 {
				challenge = ada.challenge()
			}
			r := s.NewRequest("POST", "/api/v1/auth/mfa", "", object{"challenge": challenge, "code": "000001"})
			if a := s.Do(r); a.Status != 429 || a.Header.Get("Retry-After") == "" {
				t.Fatalf("attempt %d: %d %s", i, a.Status, a.Text)
			}
		}
		complete(s, challenge, "code", ada.code()).Want(429)
		complete(s, challenge, "recovery_code", ada.codes[0]).Want(429)
		complete(s, challenge, "credential", secondFactor(s, challenge, key)).Want(200) // 429 did not count as an attempt
		passkeyLogin(s, key).Want(200)
		s.Advance(20 * time.Minute)
		complete(s, ada.challenge(), "code", ada.code()).Want(200)
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{limit.LoginAccount: 10} })
}
