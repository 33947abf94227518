package blackbox_test

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
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
			t.Errorf("the response is %s", a.Text)
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

// The fields of /auth/mfa: null and "" count as absent, another type is 422 on the field, and a
// malformed string is a wrong factor. A 422 does not count as an attempt.
func TestFieldsOfASecondFactor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		key := ada.addPasskey("key")
		fields := []string{"code", "recovery_code", "credential"}
		challenge := ada.challenge()
		send := func(more object) apptest.Reply {
			return s.Call("POST", "/api/v1/auth/mfa", "", apptest.WithChanges(object{"challenge": challenge}, more))
		}
		for _, missing := range []any{apptest.Absent, nil, ""} {
			send(object{"challenge": missing, "code": "123456"}).WantInvalid("challenge")
			send(object{"code": missing, "recovery_code": missing, "credential": missing}).WantInvalid("code")
		}
		for _, field := range fields {
			for _, wrong := range []any{1, true, []any{}} {
				send(object{field: wrong}).As(field).WantInvalid(field)
			}
		}
		send(object{"credential": "x"}).WantInvalid("credential")
		for _, field := range []string{"code", "recovery_code"} {
			send(object{field: object{}}).As(field).WantInvalid(field)
		}
		send(object{"code": "1", "credential": object{}}).WantInvalid("code")
		send(object{"code": "1", "recovery_code": "1", "credential": object{}}).WantInvalid("code")
		send(object{"code": "1", "remember": "yes"}).WantInvalid("remember")
		send(object{"challenge": 1, "code": "1"}).WantInvalid("challenge")
		long := strings.Repeat("1", 5000)
		send(object{"challenge": long, "code": "123456"}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")

		// Each of the three fields works if the others are empty.
		send(object{"code": ada.code(), "recovery_code": "", "credential": ""}).Want(200)
		challenge = ada.challenge()
		send(object{"recovery_code": ada.codes[0], "code": nil, "credential": nil}).Want(200)
		challenge = ada.challenge()
		send(object{"credential": secondFactor(s, challenge, key), "code": "", "recovery_code": ""}).Want(200)

		// A malformed string or credential counts as an attempt, and so does another user's
		// passkey.
		eve := register(s, "eve@example.com").addPasskey("key")
		challenge = ada.challenge()
		for _, wrong := range []object{
			{"code": long}, {"code": " "}, {"recovery_code": "x"}, {"credential": object{}}, {"credential": secondFactor(s, challenge, eve)},
		} {
			send(wrong).WantRefused(401, "INVALID_MFA_CODE")
		}
		send(object{"code": ada.code()}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		s.Call("POST", "/api/v1/auth/mfa/passkey-options", "", object{"challenge": challenge}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
		challenge = ada.challenge()
		send(object{"credential": key.Assert(object{"challenge": "AAAA", "rpId": "localhost"})}).WantRefused(401, "INVALID_MFA_CODE") // without options

		// The same rules apply to a login with a passkey.
		o := s.Call("POST", "/api/v1/auth/passkey/options", "", nil).Want(200)
		login := func(more object) apptest.Reply {
			return s.Call("POST", "/api/v1/auth/passkey", "", apptest.WithChanges(object{
				"challenge_id": o.Str("data.challenge_id"), "credential": key.Assert(o.At("data.options").(object)),
			}, more))
		}
		for _, missing := range []any{apptest.Absent, nil, "", 1, []any{}} {
			login(object{"credential": missing}).WantInvalid("credential")
			login(object{"challenge_id": missing}).WantInvalid("challenge_id")
		}
		for _, unknown := range []string{"x", apptest.NoSuchID, long} {
			login(object{"challenge_id": unknown}).WantRefused(401, "INVALID_CREDENTIALS")
		}
		login(nil).Want(200).WantAt("isNewUser", nil)
		o = s.Call("POST", "/api/v1/auth/passkey/options", "", nil).Want(200)
		s.Advance(5*time.Minute + time.Second)
		login(nil).WantRefused(401, "INVALID_CREDENTIALS")
	})
}

// The four public routes share the limit of logins of an address.
func TestAddressLimitOfSecondFactors(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		paths := []string{"/auth/mfa", "/auth/mfa/passkey-options", "/auth/passkey/options", "/auth/passkey"}
		limited := func(status int) {
			t.Helper()
			for _, path := range paths {
				if a := s.Call("POST", "/api/v1"+path, "", object{}); (a.Status == 429) != (status == 429) {
					t.Errorf("%s: %d %s", path, a.Status, a.Text)
				}
			}
		}
		limited(0)
		limited(0)
		limited(429)
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{limit.LoginAddress: 8} })
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
		refused := passkeyLogin(s, unknown)
		refused.WantRefused(401, "INVALID_CREDENTIALS")
		refused.WantAt("message", "The passkey could not be verified. Please try again.")
		passkeyLogin(s, key).Want(200).WantAt("user.email", ada.email)

		key.Verifies = false // now it is one factor
		a := passkeyLogin(s, key).Want(403).WantAt("code", "MFA_REQUIRED").WantAt("factors", []any{"recovery_code"})
		s.Call("POST", "/api/v1/auth/mfa/passkey-options", "", object{"challenge": a.Str("challenge")}).WantInvalid("challenge")
		complete(s, a.Str("challenge"), "recovery_code", ada.codes[0]).Want(200)
		apptest.Exec(t, s.DB(), `DELETE FROM recovery_codes`)
		passkeyLogin(s, key).WantRefused(401, "INVALID_CREDENTIALS")
	})
}

// In cookie mode, only the browser that began the login can complete it. The choices made at its
// start apply.
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
			t.Errorf("the response is %s with %v", a.Text, began.Cookies["tenantry_session"])
		}
		began.Send("GET", "/api/v1/auth/me", nil).Want(200)
		ada.call("GET", "/auth/me", nil).Want(401)

		challenge = began.Send("POST", "/api/v1/auth/login", object{"email": ada.email, "password": password, "remember": true}).Want(403).Str("challenge")
		began.Send("POST", "/api/v1/auth/mfa", object{"challenge": challenge, "code": ada.code(), "remember": false}).Want(200)
		if began.Cookies["tenantry_session"].MaxAge > 0 {
			t.Error("second step ignored remember: false")
		}
		own := s.Call("POST", "/api/v1/auth/login", "", object{"email": ada.email, "password": password}).Want(403).Str("challenge")
		began.Send("POST", "/api/v1/auth/mfa", object{"challenge": own, "code": ada.code()}).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
	})
}

// Every operation that invalidates one-time codes also ends challenges.
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

// Wrong codes are counted per account, across all logins and addresses, separately from passwords.
// While the account is closed, the correct code is rejected, and a passkey works. The count
// survives a password reset.
func TestWrongCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		key := ada.addPasskey("key")
		checked, left, challenge := 0, 0, ""
		tries := dbtest.Rounds(500, 10_000)
		for i := range tries {
			if left == 0 || i%500 == 0 {
				left, challenge = 5, from(s, i, "/auth/login", object{"email": ada.email, "password": password}).Want(403).Str("challenge")
			}
			factor, value := "code", "000001"
			if i%2 == 1 {
				factor, value = "recovery_code", "AAAAA-AAAAA"
			}
			switch a := from(s, i, "/auth/mfa", object{"challenge": challenge, factor: value}); {
			case a.Status == 401:
				checked++
				left--
			case a.Status != 429 || a.Header.Get("Retry-After") == "":
				t.Fatalf("attempt %d: %d %s", i, a.Status, a.Text)
			}
			if i == tries/2 {
				passkeyLogin(s, key).Want(200)
			}
		}
		// The first ten, and one each time the account reopened: after 1, 3 and 7 minutes.
		if checked < 10 || checked > 13 {
			t.Errorf("%d of %d codes were checked", checked, tries)
		}
		t.Logf("%d wrong codes: %d were checked, and %d refused", tries, checked, tries-checked)
		for complete(s, ada.challenge(), "code", "000001").Status == 429 { // the next wrong code closes the account for longer
			s.Advance(step)
		}
		challenge = ada.challenge()
		blocked := complete(s, challenge, "code", factortest.Code(t, ada.secret, s.Now())).Want(429)
		blocked.WantAt("message", "Too many incorrect codes. Wait a while, or use a passkey if you have one.")
		complete(s, challenge, "recovery_code", ada.codes[0]).Want(429)
		complete(s, challenge, "credential", secondFactor(s, challenge, key)).Want(200) // 429 did not count as an attempt
		passkeyLogin(s, key).Want(200)

		s.Call("POST", "/api/v1/auth/forgot-password", "", object{"email": ada.email}).Want(200)
		apptest.Eventually(t, "the mail with the link", func() bool { return resetToken(s, ada.email) != "" })
		s.Call("POST", "/api/v1/auth/reset-password", "", object{
			"email": ada.email, "token": resetToken(s, ada.email), "password": password, "password_confirmation": password,
		}).Want(200)
		complete(s, ada.challenge(), "recovery_code", ada.codes[0]).Want(429)
		s.Advance(20 * time.Minute)
		complete(s, ada.challenge(), "code", ada.code()).Want(200)
	}, func(s *settings.Settings) {
		s.RateLimits = map[string]int{limit.LoginAccount: 10, limit.LoginAddress: 60}
		s.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	})
}

// from makes a request from the i-th of many addresses.
func from(s *apptest.Server, i int, path string, body object) apptest.Reply {
	s.T.Helper()
	r := s.NewRequest("POST", "/api/v1"+path, "", body)
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("198.18.%d.%d", i/250, i%250))
	return s.Do(r)
}

var resetLink = regexp.MustCompile(`/reset-password\?\S*token=([A-Za-z0-9]+)`)

// resetToken returns the token of the latest mailed link for a password reset, or "".
func resetToken(s *apptest.Server, email string) string {
	s.T.Helper()
	for _, m := range s.Mails(email) {
		if link := resetLink.FindStringSubmatch(m["text"].(string)); link != nil {
			return link[1]
		}
	}
	return ""
}
