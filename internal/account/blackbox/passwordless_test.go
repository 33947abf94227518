package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// withoutPasswords is an apptest.Option that disables password logins.
func withoutPasswords(s *settings.Settings) {
	s.LoginMethods = []string{settings.EmailCodeLogin, settings.PasskeyLogin}
	s.OptionalMails = []string{"new_login"}
}

// awaitMail waits for a mail with the subject and returns its text.
func awaitMail(s *apptest.Server, to, subject string) (text string) {
	s.T.Helper()
	wantMail(s, to, subject)
	for _, m := range s.Mails(to) {
		if strings.HasPrefix(m["subject"].(string), subject) {
			return m["text"].(string)
		}
	}
	return ""
}

// wantSignInLink checks that a mail leads to the sign-in page and does not mention passwords.
func wantSignInLink(s *apptest.Server, text string) {
	s.T.Helper()
	if strings.Contains(text, "password") || !strings.Contains(text, "\n"+s.URL+"/\n") {
		s.T.Errorf("got %s", text)
	}
}

// Without password logins, mails lead to the sign-in page. The first login of a new owner verifies
// the email and keeps the tenant.
func TestMailsWithoutPasswords(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "grace@example.com"
		admin := enterCodeOf(s, apptest.AdminLogin["email"].(string))
		made := s.Call("POST", "/api/v1/admin/tenants", admin, apptest.Object{"name": "Compilers", "owner": apptest.Object{"email": email}}).Want(201)
		wantSignInLink(s, awaitMail(s, email, "Set up your"))

		login := enterCodeOf(s, email)
		me := s.Call("GET", "/api/v1/auth/me", login, nil).Want(200)
		me.WantAt("user.email_verified", true).WantAt("user.tenants.0.id", made.Str("data.id"))

		request, code := requestCode(s, email)
		r := s.NewRequest("POST", "/api/v1/auth/email-code/login", "", apptest.Object{"request_id": request, "code": code})
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		s.Do(r).Want(200)
		apptest.Eventually(t, "the mail about the browser", func() bool {
			return strings.Contains(awaitMail(s, email, "New sign-in"), "Firefox")
		})
		wantSignInLink(s, awaitMail(s, email, "New sign-in"))
	}, withoutPasswords)
}

// enterCodeOf logs a user in with a mailed code and returns the token.
func enterCodeOf(s *apptest.Server, email string) (token string) {
	s.T.Helper()
	request, code := requestCode(s, email)
	return enterCode(s, request, code).Want(200).Str("accessToken")
}
