package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// in makes a request with an Accept-Language header.
func in(s *apptest.Server, language, method, path, token string, body any) apptest.Reply {
	s.T.Helper()
	r := s.NewRequest(method, path, token, body)
	if language != "" {
		r.Header.Set("Accept-Language", language)
	}
	return s.Do(r)
}

// wantMail waits for a mail to an address whose subject has the prefix.
func wantMail(s *apptest.Server, to, subject string) {
	s.T.Helper()
	apptest.Eventually(s.T, "mail "+subject+" to "+to, func() bool {
		for _, m := range s.Mails(to) {
			if strings.HasPrefix(m["subject"].(string), subject) {
				return true
			}
		}
		return false
	})
}

// The language of the registration request is stored and used for mail.
func TestLocaleOfUsers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		locale := func(token string) any {
			return s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).At("user.locale")
		}
		for _, tt := range []struct {
			email, language string
			want            any
		}{
			{"user@example.com", "", nil},
			{"userde@example.com", "de, *", nil},
			{"useren@example.com", "en-GB", "en"},
			{"userit@example.com", "de, it;q=0.2", "it"},
			{"userfr@example.com", "fr-CA,en;q=0.5", "fr"},
		} {
			a := in(s, tt.language, "POST", "/api/v1/auth/register", "", apptest.Registration(tt.email, nil)).Want(201)
			if got := locale(a.Str("accessToken")); got != tt.want {
				t.Errorf("%q: locale %v, want %v", tt.language, got, tt.want)
			}
		}
		// The language of later requests does not change the stored language.
		fr := apptest.Owner{Token: s.LogIn("userfr@example.com")}
		fr.Tenant = in(s, "it", "GET", "/api/v1/auth/me", fr.Token, nil).Want(200).WantAt("user.locale", "fr").Str("currentTenant.id")
		in(s, "it", "PATCH", "/api/v1/onboarding/complete-setup", fr.Token, apptest.BillingDetails).Want(200)

		in(s, "it", "POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": "userfr@example.com"}).Want(200)
		wantMail(s, "userfr@example.com", "Réinitialis")
		in(s, "es", "POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": "user@example.com"}).Want(200)
		wantMail(s, "user@example.com", "Restablezca") // a user without a language gets the language of the request
		in(s, "it", "POST", fr.Path("/team/invitations"), fr.Token, apptest.Object{"email": "guest@example.com", "role": "member"}).Want(201)
		wantMail(s, "guest@example.com", "Invitation à")
		in(s, "", "POST", fr.Path("/team/invitations"), fr.Token, apptest.Object{"email": "userit@example.com", "role": "member"}).WantRefused(409, "USER_BELONGS_TO_ANOTHER_TENANT")

		body := apptest.Object{"name": "Guest", "email": "guest@example.com", "password": "correct horse", "password_confirmation": "correct horse"}
		guest := in(s, "es", "POST", "/api/v1/invitations/"+s.InvitationToken("guest@example.com", 1)+"/accept-with-registration", "", body).Want(201)
		if got := locale(guest.Str("meta.access_token")); got != "es" {
			t.Errorf("guest: %v", got)
		}
		// The language of the tenant takes precedence over the language of its members.
		s.Call("PATCH", "/api/v1/tenant", fr.Token, apptest.Object{"settings": apptest.Object{"locale": "it"}}).Want(200)
		s.Call("POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": "guest@example.com"}).Want(200)
		wantMail(s, "guest@example.com", "Reimposta")
	})
}

// The welcome mail of a new member is in the language of the tenant.
func TestLocaleOfTheWelcomeMail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"settings": apptest.Object{"locale": "it"}}).Want(200)
		_, invitation := s.Invite(ada, "bob@example.com", "member")
		body := apptest.Object{"name": "Bob", "email": "bob@example.com", "password": "correct horse", "password_confirmation": "correct horse"}
		in(s, "es", "POST", "/api/v1/invitations/"+invitation+"/accept-with-registration", "", body).Want(201)
		wantMail(s, "bob@example.com", "Le diamo il benvenuto")

		in(s, "es", "POST", "/api/v1/auth/register", "", apptest.Registration("eve@example.com", nil)).Want(201)
		wantMail(s, "eve@example.com", "Le damos la bienvenida") // a new tenant without a language
	}, func(s *settings.Settings) { s.OptionalMails = []string{"welcome"} })
}

// The first delegated login stores the language of the browser, or else of the frontend.
func TestLocaleOfDelegatedLogin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		logIn := func(email, browsers, frontends string) any {
			browser := newCookieBrowser(s)
			browser.language = browsers
			code := apptest.Object{"code": browser.logInAtSandbox(email, "New Person").Query().Get("code")}
			token := in(s, frontends, "POST", "/api/v1/auth/oauth/exchange", "", code).Want(200).Str("accessToken")
			return s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).At("user.locale")
		}
		for _, tt := range []struct {
			email, browsers, frontends string
			want                       any
		}{
			{"a@example.com", "it-IT", "", "it"},
			{"b@example.com", "", "fr", "fr"},
			{"c@example.com", "es", "fr", "es"},
			{"d@example.com", "", "", nil},
			{"d@example.com", "es", "es", nil}, // not the first login
		} {
			if got := logIn(tt.email, tt.browsers, tt.frontends); got != tt.want {
				t.Errorf("%s: %v, want %v", tt.email, got, tt.want)
			}
		}
	})
}
