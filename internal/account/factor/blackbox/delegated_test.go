package blackbox_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
	formAction  = regexp.MustCompile(`<form[^>]*id="consent"[^>]*action="([^"]*)"|<form[^>]*action="([^"]*)"[^>]*id="consent"`)
)

// delegatedCode logs a user in at the sandbox's identity provider and returns the one-time code.
func delegatedCode(s *apptest.Server, email string) string {
	s.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	open := func(method, address string, form url.Values) apptest.Reply {
		r, err := http.NewRequestWithContext(s.T.Context(), method, address, strings.NewReader(form.Encode()))
		if err != nil {
			s.T.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return s.DoWith(client, r)
	}
	page := open("GET", s.URL+"/api/v1/auth/oauth/sandbox/redirect", nil).Want(302).Header.Get("Location")
	shown := open("GET", page, nil).Want(200)
	form := url.Values{"email": {email}, "name": {"Ada"}, "email_verified": {"true"}, "decision": {"allow"}}
	for _, field := range hiddenField.FindAllStringSubmatch(shown.Text, -1) {
		form.Set(field[1], strings.ReplaceAll(field[2], "&amp;", "&"))
	}
	action := formAction.FindStringSubmatch(shown.Text)
	if action == nil {
		s.T.Fatalf("no consent form: %s", shown.Text)
	}
	to, err := url.Parse(page)
	if err != nil {
		s.T.Fatal(err)
	}
	if to, err = to.Parse(strings.ReplaceAll(action[1]+action[2], "&amp;", "&")); err != nil {
		s.T.Fatal(err)
	}
	back := open("POST", to.String(), form)
	end, err := url.Parse(open("GET", back.Header.Get("Location"), nil).Want(302).Header.Get("Location"))
	if err != nil || end.Query().Get("code") == "" {
		s.T.Fatalf("the login ended at %v, %v", end, err)
	}
	return end.Query().Get("code")
}

// The exchange of a delegated login also requires the factor, and uses up the one-time code.
func TestDelegatedLoginWithASecondFactor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		body := object{"code": delegatedCode(s, ada.email)}
		a := s.Call("POST", "/api/v1/auth/oauth/exchange", "", body).Want(403).WantAt("code", "MFA_REQUIRED")
		s.Call("POST", "/api/v1/auth/oauth/exchange", "", body).WantRefused(400, "OAUTH_CODE_EXPIRED")
		ada.call("GET", "/user/identities", nil).Want(200).WantAt("data.0.last_used_at", nil) // not logged in yet
		done := complete(s, a.Str("challenge"), "code", ada.code()).Want(200).WantAt("isNewUser", false)
		ada.call("GET", "/user/identities", nil).Want(200).TimeAt("data.0.last_used_at")
		methods := s.CountRows(`SELECT count(*) FROM credentials WHERE methods = 'oauth otp' AND mfa_passed`)
		s.Refresh(done.Str("refreshToken")).Want(200)
		if after := s.CountRows(`SELECT count(*) FROM credentials WHERE methods = 'oauth otp' AND mfa_passed`); methods != 2 || after != 4 {
			t.Errorf("%d credentials with the methods, then %d", methods, after)
		}
		id := ada.call("GET", "/user/identities", nil).Str("data.0.id")
		ada.call("DELETE", "/user/identities/"+id, object{"current_password": password}).WantInvalid("code")
		ada.call("DELETE", "/user/identities/"+id, ada.confirmed(nil)).Want(204)
	})
}

// A passkey that cannot log in does not replace the last identity.
func TestLastIdentityWithAPasskey(t *testing.T) {
	t.Parallel()
	for name, methods := range map[string][]string{
		"passkeys": {settings.OAuthLogin, settings.PasskeyLogin}, "no passkeys": {settings.OAuthLogin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				ada := register(s, "ada@example.com")
				key := ada.addPasskey("Key")
				s.Call("POST", "/api/v1/auth/oauth/exchange", "", object{"code": delegatedCode(s, ada.email)}).WantRefused(403, "MFA_REQUIRED")
				id := ada.call("GET", "/user/identities", nil).Str("data.0.id")
				remove := ada.call("DELETE", "/user/identities/"+id, ada.confirmed(object{"assertion": ada.assertion(key)}))
				if slices.Contains(methods, settings.PasskeyLogin) {
					remove.Want(204)
				} else {
					remove.WantRefused(409, "LAST_LOGIN_METHOD")
				}
			}, func(s *settings.Settings) { s.LoginMethods = methods })
		})
	}
}

// The first login from each pair of browser and network is mailed. The registration counts as a
// login.
func TestNewLoginIsMailed(t *testing.T) {
	t.Parallel()
	const subject = "New sign-in to your account"
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com")
		ada.login(nil).Want(200)
		from := func(agent string) {
			r := s.NewRequest("POST", "/api/v1/auth/login", "", object{"email": ada.email, "password": password})
			r.Header.Set("User-Agent", agent)
			s.Do(r).Want(200)
		}
		count := func() (n int) {
			for _, m := range s.Mails(ada.email) {
				if m["subject"] == subject {
					n++
				}
			}
			return n
		}
		from("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		apptest.Eventually(t, "a mail", func() bool { return count() == 1 })
		from("Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0") // only another version
		s.Advance(91 * apptest.Day)
		from("Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0")
		apptest.Eventually(t, "a second mail", func() bool { return count() == 2 })
	}, func(s *settings.Settings) { s.OptionalMails = []string{"new_login"} })
}
