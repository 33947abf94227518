package selfservice_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

const password = "correct horse"

var link = regexp.MustCompile(`/verify-email\?token=([A-Za-z0-9]{64})`)

var resetLink = regexp.MustCompile(`/reset-password\?\S*token=([A-Za-z0-9]+)`)

// links returns the tokens of the links mailed to an address, newest first. It waits until there
// are n.
func links(s *apptest.Server, to string, n int) []string {
	s.T.Helper()
	var tokens []string
	apptest.Eventually(s.T, "a mail with a link", func() bool {
		tokens = nil
		for _, mail := range s.Mails(to) {
			if found := link.FindStringSubmatch(mail["text"].(string)); found != nil {
				tokens = append(tokens, found[1])
			}
		}
		return len(tokens) >= n
	})
	if len(tokens) != n {
		s.T.Errorf("%d links to %s, want %d", len(tokens), to, n)
	}
	return tokens
}

// awaitMails waits until n mails were sent to an address, and returns their subjects.
func awaitMails(s *apptest.Server, to string, n int) []any {
	s.T.Helper()
	var subjects []any
	apptest.Eventually(s.T, "the mails to "+to, func() bool {
		subjects = nil
		for _, mail := range s.Mails(to) {
			subjects = append(subjects, mail["subject"])
		}
		return len(subjects) >= n
	})
	return subjects
}

func verify(s *apptest.Server, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/verify-email", "", apptest.Object{"token": token})
}

// confirm uses a link while logged in.
func confirm(s *apptest.Server, login, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/verify-email", login, apptest.Object{"token": token})
}

func changeEmail(s *apptest.Server, token, email string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/user/email", token, apptest.Object{"email": email, "current_password": password})
}

func TestVerifyingTheEmail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		ask := func() apptest.Reply {
			t.Helper()
			return s.Call("POST", "/api/v1/user/email/verification", ada.Token, nil)
		}
		if a := ask().Want(202); a.At("message") == nil {
			t.Errorf("%s", a.Text)
		}
		old := links(s, "ada@example.com", 1)[0]
		ask().Want(202)
		newest := links(s, "ada@example.com", 2)[0]
		for what, token := range map[string]string{"a replaced one": old, "an unknown one": newest[1:] + "x"} {
			verify(s, token).As(what).WantRefused(400, "")
		}
		s.Call("POST", "/api/v1/auth/verify-email", "", apptest.Object{}).WantInvalid("token")
		s.Advance(24 * time.Hour)
		ada.Token = s.LogIn("ada@example.com")
		verify(s, newest).As("an expired one").WantRefused(400, "")
		ask().Want(202)
		third := links(s, "ada@example.com", 3)[0]
		if a := verify(s, third).Want(200); a.At("message") == nil {
			t.Errorf("%s", a.Text)
		}
		me(s, ada.Token).Want(200).WantAt("user.email_verified", true)
		verify(s, third).As("a used one").WantRefused(400, "")
		if a := ask().Want(204); a.Text != "" {
			t.Errorf("%q", a.Text)
		}
	})
}

func TestChangingTheEmail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Register("taken@example.com", false)
		for what, body := range map[string]apptest.Object{
			"current_password missing": {"email": "new@example.com"},
			"current_password wrong":   {"email": "new@example.com", "current_password": "wrong horse"},
			"email missing":            {"current_password": password},
			"email malformed":          {"email": "new", "current_password": password},
		} {
			field := regexp.MustCompile(`^\w+`).FindString(what)
			s.Call("POST", "/api/v1/user/email", ada.Token, body).As(what).WantInvalid(field)
		}

		free := changeEmail(s, ada.Token, "New@Example.com").Want(202)
		token := links(s, "new@example.com", 1)[0]
		taken := changeEmail(s, ada.Token, "taken@example.com").Want(202)
		if taken.Text != free.Text {
			t.Errorf("taken address: %s, free address: %s, want the same answer", taken.Text, free.Text)
		}
		if got := awaitMails(s, "ada@example.com", 2); len(got) != 2 {
			t.Errorf("notices to the old address: %v", got)
		}
		if got := s.Mails("taken@example.com"); len(got) != 0 {
			t.Errorf("mail to the owner of the taken address: %v", got)
		}
		verify(s, token).As("of a change that another has replaced").WantRefused(400, "")

		changeEmail(s, ada.Token, "new@example.com").Want(202)
		token = links(s, "new@example.com", 2)[0]
		me(s, ada.Token).Want(200).WantAt("user.email", "ada@example.com")
		confirm(s, ada.Token, token).Want(200)
		me(s, ada.Token).Want(200).WantAt("user.email", "new@example.com").WantAt("user.email_verified", true)
		s.LogIn("new@example.com")
		s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).WantRefused(401, "INVALID_CREDENTIALS")
		verify(s, token).WantRefused(400, "")

		// If another user registers the address first, the link is rejected.
		changeEmail(s, ada.Token, "raced@example.com").Want(202)
		token = links(s, "raced@example.com", 1)[0]
		s.Register("raced@example.com", false)
		confirm(s, ada.Token, token).WantRefused(400, "")
		me(s, ada.Token).Want(200).WantAt("user.email", "new@example.com")

		// A new password invalidates a pending change, and so does a reset.
		changeEmail(s, ada.Token, "later@example.com").Want(202)
		token = links(s, "later@example.com", 1)[0]
		s.Call("PUT", "/api/v1/user/password", ada.Token, apptest.Object{
			"current_password": password, "password": "battery staple", "password_confirmation": "battery staple",
		}).Want(204)
		verify(s, token).WantRefused(400, "")

		s.Call("POST", "/api/v1/user/email", ada.Token, apptest.Object{"email": "last@example.com", "current_password": "battery staple"}).Want(202)
		token = links(s, "last@example.com", 1)[0]
		s.Call("POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": "new@example.com"}).Want(200)
		reset := ""
		apptest.Eventually(t, "the mail for the reset", func() bool {
			for _, mail := range s.Mails("new@example.com") {
				if found := resetLink.FindStringSubmatch(mail["text"].(string)); found != nil {
					reset = found[1]
				}
			}
			return reset != ""
		})
		s.Call("POST", "/api/v1/auth/reset-password", "", apptest.Object{
			"email": "new@example.com", "token": reset, "password": password, "password_confirmation": password,
		}).Want(200)
		verify(s, token).As("after a reset").WantRefused(400, "")
	})
}

func TestChangingThePassword(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		other := s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200)
		change := func(body apptest.Object) apptest.Reply {
			t.Helper()
			return s.Call("PUT", "/api/v1/user/password", ada.Token, body)
		}
		body := apptest.Object{"current_password": password, "password": "battery staple", "password_confirmation": "battery staple"}
		for what, tt := range map[string]struct {
			change apptest.Object
			field  string
		}{
			"no current one":     {apptest.Object{"current_password": apptest.Absent}, "current_password"},
			"wrong current one":  {apptest.Object{"current_password": "wrong horse"}, "current_password"},
			"short":              {apptest.Object{"password": "short", "password_confirmation": "short"}, "password"},
			"another than twice": {apptest.Object{"password_confirmation": "battery stable"}, "password_confirmation"},
			"common":             {apptest.Object{"password": "password123", "password_confirmation": "password123"}, "password"},
		} {
			change(apptest.WithChanges(body, tt.change)).As(what).WantInvalid(tt.field)
		}
		change(body).Want(204)
		me(s, ada.Token).Want(200)
		me(s, other.Str("accessToken")).WantRefused(401, "")
		s.Refresh(other.Str("refreshToken")).WantRefused(401, "INVALID_REFRESH_TOKEN")
		s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).WantRefused(401, "INVALID_CREDENTIALS")
		s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "ada@example.com", "password": "battery staple"}).Want(200)
		awaitMails(s, "ada@example.com", 1)

		// An account without a password can omit the current password.
		apptest.Exec(t, s.DB(), "UPDATE users SET password_hash = NULL WHERE email = 'ada@example.com'")
		change(apptest.WithChanges(body, apptest.Object{"current_password": apptest.Absent, "password": password, "password_confirmation": password})).Want(204)
		s.LogIn("ada@example.com")
	})
}

func TestPresentPasswordsAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		wrong := func(token string) apptest.Reply {
			t.Helper()
			return s.Call("POST", "/api/v1/user/email", token, apptest.Object{"email": "new@example.com", "current_password": "wrong horse"})
		}
		for range 3 {
			wrong(ada.Token).Want(422)
		}
		for range 2 {
			s.Call("PUT", "/api/v1/user/password", ada.Token, apptest.Object{}).Want(422)
		}
		if a := wrong(ada.Token).Want(429); a.Header.Get("Retry-After") == "" {
			t.Error("without Retry-After")
		}
		wrong(bob.Token).Want(422)
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{"account_password": 5} })
}

// An address gets at most one link per minute, and the response stays the same.
func TestLinksAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for range 3 {
			s.Call("POST", "/api/v1/user/email/verification", ada.Token, nil).Want(202)
			changeEmail(s, ada.Token, "new@example.com").Want(202)
		}
		awaitMails(s, "ada@example.com", 4) // one link and three notices
		links(s, "ada@example.com", 1)
		links(s, "new@example.com", 1)
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{"account_mail": 1} })
}

func TestRequiringAVerifiedEmail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		key := apptest.Object{"name": "Key", "scopes": []string{"usage.read"}}
		invitation := apptest.Object{"email": "bob@example.com", "role": "member"}
		calls := map[string]func() apptest.Reply{
			"inviting": func() apptest.Reply { return s.Call("POST", ada.Path("/team/invitations"), ada.Token, invitation) },
			"checkout": func() apptest.Reply {
				return s.Call("POST", ada.Path("/checkout"), ada.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
					"plan_id": s.PlanID(ada, "starter"), "currency": "EUR", "quantity": 1,
				}))
			},
			"a key": func() apptest.Reply { return s.Call("POST", ada.Path("/api-keys"), ada.Token, key) },
			"keys":  func() apptest.Reply { return s.Call("GET", ada.Path("/api-keys"), ada.Token, nil) },
		}
		for name, call := range calls {
			call().As(name).WantRefused(403, "EMAIL_NOT_VERIFIED")
		}
		s.Call("GET", ada.Path("/team/invitations"), ada.Token, nil).Want(200)
		s.Call("POST", "/api/v1/user/email/verification", ada.Token, nil).Want(202)
		verify(s, links(s, "ada@example.com", 1)[0]).Want(200)
		for name, call := range calls {
			if a := call(); a.Status >= 300 {
				t.Errorf("%s: %d %s", name, a.Status, a.Text)
			}
		}
	}, func(s *settings.Settings) { s.RequireVerifiedEmail = true })
}
