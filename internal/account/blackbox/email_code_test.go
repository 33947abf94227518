package blackbox_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

// allMethods is an apptest.Option that enables all login methods.
func allMethods(s *settings.Settings) {
	s.LoginMethods = []string{settings.PasswordLogin, settings.OAuthLogin, settings.PasskeyLogin, settings.EmailCodeLogin}
}

// withLimits is an apptest.Option that enables the limit of account mails.
func withLimits(s *settings.Settings) { s.RateLimits = map[string]int{"account_mail": 1} }

var emailCode = regexp.MustCompile(`\b[0-9]{8}\b`)

// mailedCodes returns the codes that were mailed to an address, newest first.
func mailedCodes(s *apptest.Server, email string) (codes []string) {
	s.T.Helper()
	for _, m := range s.Mails(email) {
		if m["subject"] == "Your sign-in code" {
			codes = append(codes, emailCode.FindString(m["text"].(string)))
		}
	}
	return codes
}

func askForCode(s *apptest.Server, email string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/email-code", "", apptest.Object{"email": email})
}

// awaitCode waits until the given number of codes was mailed, and returns the latest.
func awaitCode(s *apptest.Server, email string, mails int) string {
	s.T.Helper()
	var codes []string
	apptest.Eventually(s.T, "the code", func() bool {
		codes = mailedCodes(s, email)
		return len(codes) >= mails
	})
	return codes[0]
}

// requestCode requests a code and returns it with the ID of the request.
func requestCode(s *apptest.Server, email string) (request, code string) {
	s.T.Helper()
	before := len(mailedCodes(s, email))
	request = askForCode(s, email).Want(202).Str("data.request_id")
	return request, awaitCode(s, email, before+1)
}

func enterCode(s *apptest.Server, request, code string, more ...apptest.Object) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/email-code/login", "", apptest.WithChanges(apptest.Object{"request_id": request, "code": code}, more...))
}

// otherThan returns a code that differs from another one.
func otherThan(code string) string {
	if code[0] == '0' {
		return "1" + code[1:]
	}
	return "0" + code[1:]
}

// A code logs a user in once. If the email is verified, the password and the other logins stay
// valid.
func TestEmailCodeLogsIn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.VerifyEmail(ada.Token, "ada@example.com")
		a := askForCode(s, "ADA@example.com").Want(202)
		if left := a.TimeAt("data.expires_at").Sub(s.Now()); left < 9*time.Minute || left > 10*time.Minute {
			t.Errorf("the code expires in %v", left)
		}
		code := awaitCode(s, "ada@example.com", 1)
		login := enterCode(s, a.Str("data.request_id"), code).Want(200).WantAt("user.email", "ada@example.com").WantAt("user.tenants.0.id", ada.Tenant)
		s.Refresh(login.Str("refreshToken")).Want(200)
		enterCode(s, a.Str("data.request_id"), code).As("a used code").WantRefused(401, "INVALID_CREDENTIALS")
		s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(200)
		s.LogIn("ada@example.com")
		if n := s.CountRows("SELECT count(*) FROM credentials WHERE methods = 'email'"); n != 4 {
			t.Errorf("%d credentials of the method email", n)
		}
		if n := s.CountAudited(ada, "login.succeeded"); n != 2 {
			t.Errorf("%d logins in the audit log", n)
		}
	}, allMethods)
}

// The mail contains the code and no link. Its subject does not contain the code.
func TestMailWithTheCode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", true)
		_, code := requestCode(s, "ada@example.com")
		m := s.Mails("ada@example.com")[0]
		text, html := m["text"].(string), m["html"].(string)
		if strings.Contains(m["subject"].(string), code) || !strings.Contains(html, code) {
			t.Errorf("%s\n%s", m["subject"], html)
		}
		if strings.Contains(text+html, "http") || strings.Contains(html, "href") {
			t.Errorf("a link in\n%s\n%s", text, html)
		}
		if n := s.CountRows("SELECT count(*) FROM email_codes WHERE code_hash LIKE $1", "%"+code+"%"); n != 0 {
			t.Error("the code is stored in plain text")
		}
	}, allMethods)
}

// The response is the same without an account, and nothing is mailed.
func TestEmailCodeRevealsNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", true)
		known, unknown := askForCode(s, "ada@example.com").Want(202), askForCode(s, "unknown@example.com").Want(202)
		if len(known.Text) != len(unknown.Text) {
			t.Errorf("%s for an account, %s without one", known.Text, unknown.Text)
		}
		awaitCode(s, "ada@example.com", 1)
		if n := len(s.Mails("unknown@example.com")); n != 0 {
			t.Errorf("%d mails", n)
		}
		for range 6 {
			enterCode(s, unknown.Str("data.request_id"), "12345678").WantRefused(401, "INVALID_CREDENTIALS")
		}
	}, allMethods)
}

// request_id and code are strings. An unknown request and a code of the wrong form are 401.
func TestFormOfEmailCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", true)
		for _, email := range []any{"nonsense", "", nil, 7, "ada@"} {
			s.Call("POST", "/api/v1/auth/email-code", "", apptest.Object{"email": email}).WantInvalid("email")
		}
		login := func(body apptest.Object) apptest.Reply {
			return s.Call("POST", "/api/v1/auth/email-code/login", "", body)
		}
		login(apptest.Object{}).WantInvalid("request_id", "code")
		login(apptest.Object{"request_id": 7, "code": "12345678"}).WantInvalid("request_id")
		request, code := requestCode(s, "ada@example.com")
		login(apptest.Object{"request_id": request, "code": 12345678}).WantInvalid("code")
		login(apptest.Object{"request_id": request, "code": nil}).WantInvalid("code")
		login(apptest.Object{"request_id": request, "code": code, "keep_tenant": "x"}).WantInvalid("keep_tenant")
		for _, wrong := range []string{code[:7], code + "0", code[:4] + " " + code[4:], "abcdefgh", "١٢٣٤٥٦٧٨", strings.Repeat("1", 3000)} {
			enterCode(s, request, wrong).As(wrong).WantRefused(401, "INVALID_CREDENTIALS")
		}
		for _, unknown := range []string{"x", "00000000-0000-4000-8000-000000000000", strings.Repeat("x", 3000)} {
			enterCode(s, unknown, code).As(unknown).WantRefused(401, "INVALID_CREDENTIALS")
		}
		enterCode(s, request, code).Want(200)
	}, allMethods)
}

// A code is valid for ten minutes and five attempts, and only the newest request of an address is
// valid.
func TestEndOfEmailCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", true)
		request, code := requestCode(s, "ada@example.com")
		s.Advance(10 * time.Minute)
		enterCode(s, request, code).As("an expired code").WantRefused(401, "INVALID_CREDENTIALS")

		request, code = requestCode(s, "ada@example.com")
		for range 5 {
			enterCode(s, request, otherThan(code)).WantRefused(401, "INVALID_CREDENTIALS")
		}
		enterCode(s, request, code).As("after five attempts").WantRefused(401, "INVALID_CREDENTIALS")

		old, oldCode := requestCode(s, "ada@example.com")
		request, code = requestCode(s, "ada@example.com")
		enterCode(s, old, oldCode).As("the older request").WantRefused(401, "INVALID_CREDENTIALS")
		if oldCode != code {
			enterCode(s, request, oldCode).As("the code of the older request").WantRefused(401, "INVALID_CREDENTIALS")
		}
		for range 3 {
			enterCode(s, request, otherThan(code)).WantRefused(401, "INVALID_CREDENTIALS")
		}
		enterCode(s, request, code).As("the fifth attempt").Want(200)
	}, allMethods)
}

// An address gets at most one code a minute and five an hour, whether or not it has an account. Over
// the limits, no code works, and the mailed request stays valid.
func TestMailsWithCodesAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		s.Register(email, true)
		first, code := requestCode(s, email)
		over := askForCode(s, email).Want(202).Str("data.request_id")
		enterCode(s, over, code).As("a request over the limit").WantRefused(401, "INVALID_CREDENTIALS")
		enterCode(s, first, code).Want(200)
		askForCode(s, email).Want(202) // the limit counts mails, used or not
		for range 4 {
			s.Advance(time.Minute)
			requestCode(s, email)
		}
		s.Advance(time.Minute)
		last := mailedCodes(s, email)[0]
		over = askForCode(s, email).Want(202).Str("data.request_id")
		enterCode(s, over, last).As("the sixth of an hour").WantRefused(401, "INVALID_CREDENTIALS")
		s.Advance(54 * time.Minute)
		askForCode(s, email).Want(202)
		s.Advance(time.Minute)
		requestCode(s, email) // an hour after the first
		askForCode(s, email).Want(202)
		if n := len(mailedCodes(s, email)); n != 6 {
			t.Errorf("%d mails", n)
		}
	}, allMethods, withLimits)
}

// In cookie mode, only the browser that requested a code can use it.
func TestEmailCodeInCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		s.Register(email, true)
		browser := func() *apptest.Frontend {
			f := s.Frontend()
			f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
			return f
		}
		began, other := browser(), browser()
		session := began.Cookie("tenantry_session")
		request := began.Send("POST", "/api/v1/auth/email-code", apptest.Object{"email": email}).Want(202).Str("data.request_id")
		if began.Cookie("tenantry_browser") == "" || began.Cookies["tenantry_browser"].MaxAge != 600 {
			t.Errorf("the key of the browser: %v", began.Cookies["tenantry_browser"])
		}
		code := awaitCode(s, email, 1)
		body := apptest.Object{"request_id": request, "code": code}
		for range 6 { // attempts of another browser do not count
			other.Send("POST", "/api/v1/auth/email-code/login", body).WantRefused(401, "INVALID_CREDENTIALS")
		}
		enterCode(s, request, code).As("without cookies").WantRefused(401, "INVALID_CREDENTIALS")
		a := began.Send("POST", "/api/v1/auth/email-code/login", body).Want(200)
		if a.At("accessToken") != nil || began.Cookie("tenantry_session") == session {
			t.Errorf("%s", a.Text)
		}
		began.Send("GET", "/api/v1/auth/me", nil).Want(200)

		request, code = requestCode(s, email)
		began.Send("POST", "/api/v1/auth/email-code/login", apptest.Object{"request_id": request, "code": code}).As("a code requested without cookies").WantRefused(401, "INVALID_CREDENTIALS")
	}, allMethods)
}

// If the user has a second factor, a login with a code uses up the code and issues no credential.
func TestEmailCodeWithASecondFactor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		ada := s.Register(email, true)
		s.VerifyEmail(ada.Token, email)
		secret := s.Call("POST", "/api/v1/user/factors/totp", ada.Token, apptest.Object{"current_password": apptest.AdaLogin["password"]}).Want(201).Str("data.secret")
		code := func() string {
			s.Advance(30 * time.Second)
			return factortest.Code(t, secret, s.Now())
		}
		s.Call("POST", "/api/v1/user/factors/totp/confirm", ada.Token, apptest.Object{"code": code()}).Want(200)
		request, mailed := requestCode(s, email)
		a := enterCode(s, request, mailed).Want(403).WantAt("code", "MFA_REQUIRED").WantAt("factors", []any{"recovery_code", "totp"})
		enterCode(s, request, mailed).WantRefused(401, "INVALID_CREDENTIALS")
		done := s.Call("POST", "/api/v1/auth/mfa", "", apptest.Object{"challenge": a.Str("challenge"), "code": code()}).Want(200)
		if done.At("isNewUser") != nil {
			t.Errorf("%s", done.Text)
		}
		if n := s.CountRows("SELECT count(*) FROM credentials WHERE methods = 'email otp' AND mfa_passed"); n != 2 {
			t.Errorf("%d credentials", n)
		}
	}, allMethods)
}

// A code becomes invalid with the user's other one-time codes, and with the account.
func TestEmailCodesExpire(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		ada := s.Register(email, true)
		s.VerifyEmail(ada.Token, email)
		password := apptest.AdaLogin["password"]
		for _, end := range []struct {
			name string
			call func(token string)
		}{
			{"logout", func(token string) { s.Call("POST", "/api/v1/auth/logout", token, nil).Want(200) }},
			{"password", func(token string) {
				s.Call("PUT", "/api/v1/user/password", token, apptest.Object{"current_password": password, "password": password, "password_confirmation": password}).Want(204)
			}},
			{"reset", func(string) { resetPassword(s, email, resetToken(s, email), password.(string)).Want(200) }},
			{"deletion", func(token string) {
				s.Call("DELETE", "/api/v1/user", token, apptest.Object{"current_password": password}).Want(204)
			}},
		} {
			token := s.LogIn(email)
			request, code := requestCode(s, email)
			end.call(token)
			enterCode(s, request, code).As(end.name).WantRefused(401, "INVALID_CREDENTIALS")
		}
	}, allMethods)
}
