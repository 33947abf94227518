package blackbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The sandbox shows the codes of all authenticator apps, as a page and as JSON. They work like the
// codes of a device.
func TestSandboxAuthenticator(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		page := func(accept string) apptest.Reply {
			r := s.NewRequest(http.MethodGet, "/sandbox/authenticator", "", nil)
			r.Header.Set("Accept", accept)
			return s.Do(r).Want(200)
		}
		page("application/json").WantAt("data", []any{})
		if text := page("text/html").Text; !strings.Contains(text, "No account has an authenticator app") {
			t.Error(text)
		}
		ada, bob := register(s, "ada@example.com"), register(s, "bob@example.com").enroll()
		bob.addPasskey("key")
		secret := ada.call("POST", "/user/factors/totp", ada.confirmed(nil)).Want(201).Str("data.secret")
		s.Advance(step)
		got := page("application/json").WantAt("data.0.email", ada.email).WantAt("data.0.confirmed", false).WantAt("data.0.used", false).
			WantAt("data.1.email", bob.email).WantAt("data.1.confirmed", true)
		if left := got.TimeAt("data.0.expires_at").Sub(s.Now()); left > step || left < -step {
			t.Errorf("the code is valid for %v", left)
		}
		if strings.Contains(got.Text, secret) || strings.Contains(got.Text, bob.secret) {
			t.Error("a secret is shown")
		}
		ada.call("POST", "/user/factors/totp/confirm", object{"code": got.Str("data.0.code")}).Want(200)
		complete(s, bob.challenge(), "code", got.Str("data.1.code")).Want(200)
		html := page("text/html")
		if html.Header.Get("Refresh") == "" || !strings.Contains(html.Text, bob.email) || strings.Contains(html.Text, bob.secret) {
			t.Errorf("the page is %s", html.Text)
		}
	})
}
