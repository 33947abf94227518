package domain_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// logIn logs a user in with the password of the tests and returns the response.
func logIn(s *apptest.Server, email string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": apptest.AdaLogin["password"]}).Want(200)
}

func autoJoin(s *apptest.Server, o apptest.Owner, path, role string) {
	s.T.Helper()
	s.Call("PATCH", path, o.Token, apptest.Object{"auto_join": "on", "role": role}).Want(200)
}

// A user without a tenant joins at the first login after verifying an email in the domain. Users in
// a tenant, with an unverified email, or with an email in a subdomain do not join.
func TestJoiningThroughADomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		path := verified(s, ada, "acme.example")
		bob := s.RegisterAlone("Bob", "bob@acme.example")
		s.VerifyEmail(bob, "bob@acme.example")
		member := func(email string, tenant any) {
			t.Helper()
			logIn(s, email).As(email).WantAt("user.tenants.0.id", tenant)
		}
		member("bob@acme.example", nil) // auto_join is off
		autoJoin(s, ada, path, "admin")
		s.Call("GET", "/api/v1/auth/me", bob, nil).Want(200).WantAt("currentTenant", nil)
		logIn(s, "bob@acme.example").WantAt("user.tenants.0.id", ada.Tenant)
		members := s.Call("GET", ada.Path("/team/members"), ada.Token, nil).Want(200)
		if len(members.At("data").([]any)) != 2 || members.At("data.1.role.name") != "admin" {
			t.Errorf("%s", members.Text)
		}

		s.RegisterAlone("Carol", "carol@acme.example")
		member("carol@acme.example", nil)
		dan := s.RegisterAlone("Dan", "dan@mail.acme.example")
		s.VerifyEmail(dan, "dan@mail.acme.example")
		member("dan@mail.acme.example", nil)
		eve := s.Register("eve@acme.example", true)
		s.VerifyEmail(eve.Token, "eve@acme.example")
		member("eve@acme.example", eve.Tenant)
	})
}

// The pending invitation of a person who joins through the domain counts as accepted. The person takes
// the seat of the invitation, so another free seat is not needed.
func TestInvitationOfAPersonWhoJoins(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		autoJoin(s, ada, verified(s, ada, "acme.example"), "member")
		_, token := s.Invite(ada, "bob@acme.example", "admin")
		s.Invite(ada, "carol@acme.example", "member")
		limit := func(seats int) {
			t.Helper()
			s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/team-members", s.Admin(), apptest.Object{"type": "quota", "value": seats, "reason": "test"}).Want(200)
		}
		limit(3)
		delegate(s, "bob@acme.example").WantAt("user.tenants.0.id", ada.Tenant)
		s.Call("GET", ada.Path("/team/stats"), ada.Token, nil).Want(200).WantAt("data.members", 2.0).WantAt("data.pending_invitations", 1.0)
		s.Call("GET", "/api/v1/invitations/"+token, "", nil).Want(200).WantAt("data.status", "accepted").WantAt("data.is_valid", false)
		s.Call("GET", ada.Path("/team/members"), ada.Token, nil).Want(200).WantAt("data.1.role.name", "member") // the role of the domain

		// The plan can have become smaller since the invitation.
		s.VerifyEmail(s.RegisterAlone("Carol", "carol@acme.example"), "carol@acme.example")
		limit(2)
		logIn(s, "carol@acme.example").WantAt("user.tenants.0.id", nil)
		limit(3)
		s.VerifyEmail(s.RegisterAlone("Dan", "dan@acme.example"), "dan@acme.example")
		logIn(s, "dan@acme.example").WantAt("user.tenants.0.id", nil)
		logIn(s, "carol@acme.example").WantAt("user.tenants.0.id", ada.Tenant)
		s.Call("GET", ada.Path("/team/stats"), ada.Token, nil).Want(200).WantAt("data.members", 3.0).WantAt("data.pending_invitations", 0.0)
	})
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// delegate signs up at the sandbox's identity provider.
func delegate(s *apptest.Server, email string) apptest.Reply {
	s.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	open := func(method, address string, form url.Values) apptest.Reply {
		s.T.Helper()
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
	form := url.Values{"email": {email}, "name": {"Delegated"}, "email_verified": {"true"}}
	for _, field := range hidden.FindAllStringSubmatch(open("GET", page, nil).Want(200).Text, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	back := open("POST", page, form).Header.Get("Location")
	end, err := url.Parse(open("GET", back, nil).Want(302).Header.Get("Location"))
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Call("POST", "/api/v1/auth/oauth/exchange", "", apptest.Object{"code": end.Query().Get("code")}).Want(200)
}

// Concurrent logins and sign-ups never take more than the free seats. Without a free seat, a login
// continues without a tenant, and a sign-up creates a new tenant.
func TestSeatsOfADomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		autoJoin(s, ada, verified(s, ada, "acme.example"), "member")
		delegate(s, "new@acme.example").WantAt("isNewUser", true).WantAt("user.tenants.0.id", ada.Tenant)
		s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/team-members", s.Admin(), apptest.Object{"type": "quota", "value": 4, "reason": "test"}).Want(200)
		for i := range 4 {
			email := fmt.Sprintf("user%d@acme.example", i)
			s.VerifyEmail(s.RegisterAlone("User", email), email)
		}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() { logIn(s, fmt.Sprintf("user%d@acme.example", i)) })
			wg.Go(func() { logIn(s, fmt.Sprintf("user%d@acme.example", i)) })
		}
		wg.Wait()
		if n := s.CountRows("SELECT count(*) FROM memberships WHERE tenant_id = $1", ada.Tenant); n != 4 {
			t.Errorf("%d members", n)
		}
		last := delegate(s, "late@acme.example").WantAt("isNewUser", true)
		if got := last.Str("user.tenants.0.id"); got == ada.Tenant {
			t.Error("the sign-up took a seat that is not free")
		}
	})
}
