package sso_test

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// An unknown person becomes a member with a new account. Later logins get the same account, even if
// the email at the issuer changes.
func TestProvisioning(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp)
		url := s.Call("POST", "/api/v1/auth/sso", "", object{"email": "Whoever@CORP.example"}).Want(200).Str("data.url")
		if url != startURL(s, id) {
			t.Fatalf("%s, want %s", url, startURL(s, id))
		}
		s.Call("POST", "/api/v1/auth/sso", "", object{"email": "eve@mail." + corp}).WantRefused(404, "SSO_NOT_AVAILABLE")
		s.Call("POST", "/api/v1/auth/sso", "", object{"email": "eve"}).WantInvalid("email")
		s.Call("GET", "/api/v1/auth/sso/"+apptest.NoSuchID+"/redirect", "", nil).Want(404)
		s.Call("GET", "/api/v1/auth/sso/x/redirect", "", nil).Want(404)

		wantError(s, ada, id, as("bob@"+corp), "sso_not_provisioned")
		wantError(s, ada, id, as("bob@elsewhere.example"), "sso_domain_mismatch")
		connect(s, ada, object{"provision_members": true, "role": "admin"})
		first := enter(s, id, as("Bob@"+corp, "b-1")).WantAt("isNewUser", true).WantAt("user.tenants.0.id", ada.Tenant)
		bob := s.UserID(first.Str("accessToken"))
		s.Call("GET", ada.Path("/team/members"), ada.Token, nil).Want(200).WantAt("data.1.role.name", "admin").WantAt("data.1.name", "Somebody").
			WantAt("data.1.email", "bob@"+corp)
		s.Call("GET", "/api/v1/user/export", first.Str("accessToken"), nil).Want(200).WantAt("account.has_password", false).TimeAt("account.email_verified_at")
		connection := s.Call("GET", ada.Path("/sso"), ada.Token, nil).Want(200).WantAt("data.last_error", nil)
		connection.TimeAt("data.last_login_at")

		// The subject identifies the person, even without a free seat, with another email or
		// outside the domain.
		s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/team-members", s.Admin(), object{"type": "quota", "value": 1, "reason": "test"}).Want(200)
		for _, email := range []string{"bob@" + corp, "robert@" + corp, "bob@elsewhere.example", "ada@" + corp} {
			again := enter(s, id, as(email, "b-1")).WantAt("isNewUser", false)
			if got := s.UserID(again.Str("accessToken")); got != bob {
				t.Errorf("%s logs user %d in, want %d", email, got, bob)
			}
		}
		me(s, first.Str("accessToken")).WantAt("user.email", "bob@"+corp)
		wantError(s, ada, id, as("carol@"+corp), "seat_limit_reached")
		wantError(s, ada, id, as("bob@"+corp, "b-2"), "sso_link_refused")
		if got := actions(s, ada); slices.Contains(got, "sso.linked") || !slices.Contains(got, "member.joined") {
			t.Errorf("%v", got)
		}
		s.Call("GET", "/api/v1/user/identities", first.Str("accessToken"), nil).Want(200).WantAt("data.0.provider", "sso").WantAt("data.0.email", "ada@"+corp)

		// An invited person takes the seat of the invitation.
		s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/team-members", s.Admin(), object{"type": "quota", "value": 3, "reason": "test"}).Want(200)
		_, token := s.Invite(ada, "carol@"+corp, "member")
		wantError(s, ada, id, as("dan@"+corp), "seat_limit_reached")
		enter(s, id, as("carol@"+corp)).WantAt("user.tenants.0.id", ada.Tenant)
		s.Call("GET", "/api/v1/invitations/"+token, "", nil).Want(200).WantAt("data.status", "accepted")
		wantError(s, ada, id, as("dan@"+corp), "seat_limit_reached")
	})
}

// The welcome mail of a provisioned member is in the language of the tenant.
func TestWelcomeOfAProvisionedMember(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp, object{"provision_members": true})
		s.Call("PATCH", "/api/v1/tenant", ada.Token, object{"settings": object{"locale": "it"}}).Want(200)
		enter(s, id, as("bob@"+corp)).WantAt("isNewUser", true)
		var subject any
		apptest.Eventually(t, "the welcome mail", func() bool {
			for _, m := range s.Mails("bob@" + corp) {
				subject = m["subject"]
			}
			return subject != nil
		})
		if subject != "Le diamo il benvenuto su Tenantry" {
			t.Errorf("the subject is %q", subject)
		}
	}, func(s *settings.Settings) { s.OptionalMails = []string{"welcome"} })
}

// A member with the email is linked. The identity is managed by the tenant.
func TestLinkingAMember(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp)
		bob, bobID := s.Join(ada, "Bob", "bob@"+corp, "member")
		got := enter(s, id, as("bob@"+corp, "b-1")).WantAt("isNewUser", false)
		token := got.Str("accessToken")
		if s.UserID(token) != bobID {
			t.Fatal("another user")
		}
		me(s, bob).Want(200) // other logins stay
		s.LogIn("bob@" + corp)
		if got := actions(s, ada); !slices.Contains(got, "sso.linked") {
			t.Errorf("%v", got)
		}
		identity := s.Call("GET", "/api/v1/user/identities", token, nil).Want(200).WantAt("data.0.provider", "sso").Str("data.0.id")
		s.Call("DELETE", "/api/v1/user/identities/"+identity, token, object{"current_password": apptest.AdaLogin["password"]}).
			WantRefused(409, "IDENTITY_MANAGED")
		s.Call("GET", "/api/v1/user/export", token, nil).Want(200).WantAt("identities.0.subject", "b-1").WantAt("identities.0.provider", "sso")

		// The owner set the issuer, so the owner is linked too.
		enter(s, id, as("ada@"+corp)).WantAt("user.email", "ada@"+corp)
	})
}

// Concurrent first logins of one person create one account. Concurrent first logins of several
// people never take more than the free seats.
func TestConcurrentFirstLogins(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp, object{"provision_members": true})
		s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/team-members", s.Admin(), object{"type": "quota", "value": 4, "reason": "test"}).Want(200)
		race := func(people []url.Values) (codes, full int) {
			t.Helper()
			callbacks := make([]func() url.Values, len(people))
			for i, who := range people {
				b := newBrowser(s)
				back := b.consent(startURL(s, id), who)
				callbacks[i] = func() url.Values { return b.finish(back) }
			}
			var mu sync.Mutex
			var wg sync.WaitGroup
			for _, finish := range callbacks {
				wg.Go(func() {
					got := finish()
					mu.Lock()
					defer mu.Unlock()
					switch {
					case got.Has("code"):
						codes++
					case got.Get("error") == "seat_limit_reached":
						full++
					default:
						t.Errorf("%v", got)
					}
				})
			}
			wg.Wait()
			return codes, full
		}
		one := as("bob@"+corp, "b-1")
		if codes, _ := race([]url.Values{one, one, one, one}); codes != 4 || members(s, ada) != 2 {
			t.Errorf("%d codes, %d members", codes, members(s, ada))
		}
		several := []url.Values{as("c@"+corp, "c"), as("d@"+corp, "d"), as("e@"+corp, "e"), as("f@"+corp, "f"), as("c@"+corp, "c")}
		if codes, full := race(several); codes+full != 5 || full < 2 || members(s, ada) != 4 {
			t.Errorf("%d codes, %d without a seat, %d members", codes, full, members(s, ada))
		}
	})
}

// The state works only once, and only in the browser that began the login. The same applies to the
// code.
func TestStateAndCode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp)
		b := newBrowser(s)
		back := b.consent(startURL(s, id), as("ada@"+corp))
		if got := newBrowser(s).finish(back); got.Get("error") != "invalid_state" {
			t.Errorf("another browser: %v", got)
		}
		code := b.finish(back).Get("code")
		if got := b.finish(back); got.Get("error") != "invalid_state" {
			t.Errorf("again: %v", got)
		}
		exchange(s, code).Want(200)
		exchange(s, code).WantRefused(400, "OAUTH_CODE_EXPIRED")
		s.Call("GET", ada.Path("/sso"), ada.Token, nil).Want(200).WantAt("data.last_error", nil)

		// A state of a delegated login does not work for single sign-on, and vice versa.
		back = b.consent(startURL(s, id), as("ada@"+corp))
		other := strings.Replace(back, "/auth/sso/callback", "/auth/oauth/sandbox/callback", 1)
		if got := b.finish(other); got.Get("error") != "invalid_state" {
			t.Errorf("at the delegated login: %v", got)
		}
		if got := b.finish(s.URL + "/api/v1/auth/sso/callback"); got.Get("error") != "invalid_state" {
			t.Errorf("without a state: %v", got)
		}
		denied := b.consent(startURL(s, id), url.Values{"decision": {"deny"}})
		if got := b.finish(denied); got.Get("error") != "access_denied" {
			t.Errorf("%v", got)
		}
		unverified := signOn(s, id, url.Values{"email": {"ada@" + corp}, "email_verified": {"false"}})
		if unverified.Get("error") != "email_unverified" {
			t.Errorf("%v", unverified)
		}
	})
}
