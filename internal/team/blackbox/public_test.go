package blackbox_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestAcceptInvitation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		_, token := s.Invite(o, "eve@example.com", "admin")
		at := "/api/v1/invitations/" + token + "/accept"
		eve := s.RegisterAlone("Eve", "Eve@Example.com")
		s.Call("POST", at, "", nil).WantRefused(401, "")
		s.Call("POST", "/api/v1/invitations/"+strings.Repeat("x", 64)+"/accept", eve, nil).WantRefused(404, "INVITATION_NOT_FOUND")
		s.Call("POST", at, other.Token, nil).WantRefused(403, "EMAIL_MISMATCH")

		a := s.Call("POST", at, eve, nil).Want(200)
		for path, want := range map[string]any{
			"message": "team.invitation_accepted", "data.invitation.status": "accepted", "data.invitation.is_valid": false,
			"data.invitation.email": "eve@example.com", "data.tenant.id": o.Tenant, "data.tenant.user_role": "admin",
			"data.tenant.user_permissions.0": "api_keys.manage", "data.tenant.owner.email": "owner@example.com",
		} {
			if got := a.At(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		if me := s.Call("GET", "/api/v1/auth/me", eve, nil).Want(200); me.At("currentTenant.id") != o.Tenant || me.At("user.roles.0") != "admin" {
			t.Errorf("me: %s", me.Text)
		}
		s.Call("POST", at, eve, nil).WantRefused(410, "INVITATION_ALREADY_ACCEPTED")
		s.Call("POST", at, other.Token, nil).WantRefused(410, "INVITATION_ALREADY_ACCEPTED") // is reported before EMAIL_MISMATCH

		// This user creates another tenant after the invitation.
		_, late := s.Invite(o, "late@example.com", "member")
		elsewhere := s.Register("late@example.com", true)
		s.Call("POST", "/api/v1/invitations/"+late+"/accept", elsewhere.Token, nil).WantRefused(409, "USER_BELONGS_TO_ANOTHER_TENANT")
	})
}

func TestAcceptWithRegistration(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		_, token := s.Invite(o, "eve@example.com", "member")
		at := "/api/v1/invitations/" + token + "/accept-with-registration"
		body := func(change map[string]any) map[string]any {
			b := apptest.Registration("eve@example.com", map[string]any{"name": "Eve"})
			for k, v := range change {
				b[k] = v
			}
			return b
		}
		s.Call("POST", "/api/v1/invitations/x/accept-with-registration", "", map[string]any{}).WantRefused(404, "INVITATION_NOT_FOUND")
		for name, c := range map[string]struct {
			change map[string]any
			field  string
		}{
			"no name":            {map[string]any{"name": ""}, "name"},
			"long name":          {map[string]any{"name": strings.Repeat("x", 256)}, "name"},
			"no email":           {map[string]any{"email": ""}, "email"},
			"not an email":       {map[string]any{"email": "eve"}, "email"},
			"short password":     {map[string]any{"password": "1234567", "password_confirmation": "1234567"}, "password"},
			"other confirmation": {map[string]any{"password_confirmation": "incorrect horse"}, "password_confirmation"},
		} {
			t.Run(name, func(t *testing.T) { s.Call("POST", at, "", body(c.change)).WantInvalid(c.field) })
		}
		s.Call("POST", at, "", body(map[string]any{"email": "mallory@example.com"})).WantRefused(403, "EMAIL_MISMATCH")

		a := s.Call("POST", at, "", body(map[string]any{"email": "EVE@example.com"})).Want(201)
		for path, want := range map[string]any{
			"data.user.name": "Eve", "data.user.email": "eve@example.com", "data.invitation.status": "accepted",
			"data.tenant.id": o.Tenant, "data.tenant.user_role": "member", "meta.token_type": "Bearer",
		} {
			if got := a.At(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		me := s.Call("GET", "/api/v1/auth/me", a.Str("meta.access_token"), nil).Want(200)
		if me.At("currentTenant.id") != o.Tenant || len(me.At("user.tenants").([]any)) != 1 || me.At("user.id") != a.At("data.user.id") {
			t.Errorf("me: %s", me.Text)
		}
		s.Refresh(a.Str("meta.refresh_token")).Want(200)
		s.Call("POST", at, "", body(nil)).WantRefused(410, "INVITATION_ALREADY_ACCEPTED")
	})
}

func TestAcceptWithRegistrationRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		register := func(token, email string) apptest.Reply {
			return s.Call("POST", "/api/v1/invitations/"+token+"/accept-with-registration", "", apptest.Registration(email, nil))
		}
		_, known := s.Invite(o, "known@example.com", "member")
		s.RegisterAlone("Known", "known@example.com")
		register(known, "KNOWN@example.com").WantRefused(409, "ACCOUNT_ALREADY_EXISTS")
		register(known, "new@example.com").WantRefused(403, "EMAIL_MISMATCH")

		id, revoked := s.Invite(o, "revoked@example.com", "member")
		s.Call("DELETE", o.Path("/team/invitations/")+id, o.Token, nil).Want(200)
		register(revoked, "known@example.com").WantRefused(410, "INVITATION_REVOKED")

		// Rejected registrations leave nothing behind.
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "revoked@example.com", "password": "correct horse"}).Want(401)

		_, late := s.Invite(o, "late@example.com", "member")
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "168h"}).Want(200)
		register(late, "late@example.com").WantRefused(410, "INVITATION_EXPIRED")

		// The owner and two invitations, sent before the plan free is paid for, take three seats.
		// The plan has only two.
		o.Token = s.LogIn("owner@example.com")
		page := s.Checkout(o, "free")
		_, one := s.Invite(o, "one@example.com", "member")
		_, two := s.Invite(o, "two@example.com", "member")
		s.Pay(page, "").Want(303)
		s.AwaitNotifications()
		register(one, "one@example.com").WantRefused(422, "SEAT_LIMIT_REACHED")
		s.Call("POST", "/api/v1/invitations/"+two+"/accept", s.RegisterAlone("Two", "two@example.com"), nil).WantRefused(422, "SEAT_LIMIT_REACHED")
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "one@example.com", "password": "correct horse"}).Want(401)
		list := s.Call("GET", o.Path("/team/invitations?pending_only=true"), o.Token, nil).Want(200)
		if diff := cmp.Diff([]any{"two@example.com", "one@example.com"}, list.Column("email")); diff != "" {
			t.Errorf("waiting: %s", diff)
		}
		s.Call("DELETE", o.Path("/team/invitations/")+list.Str("data.0.id"), o.Token, nil).Want(200)
		register(one, "one@example.com").Want(201)
	})
}

// In cookie mode the response contains no tokens, because the session is in a cookie.
func TestAcceptWithRegistrationInCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		_, token := s.Invite(o, "eve@example.com", "member")
		at := "/api/v1/invitations/" + token + "/accept-with-registration"
		f := s.Frontend()
		f.Fetch("POST", at, "", apptest.Registration("eve@example.com", nil)).Want(419)
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		before := f.Cookie("tenantry_session")
		a := f.Send("POST", at, apptest.Registration("eve@example.com", nil)).Want(201)
		if strings.Contains(a.Text, "token") || len(a.At("meta").(map[string]any)) != 0 || f.Cookie("tenantry_session") == before {
			t.Errorf("answer: %s", a.Text)
		}
		if me := f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200); me.At("currentTenant.id") != o.Tenant {
			t.Errorf("me: %s", me.Text)
		}
	})
}

func TestInvitationsAreLimited(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "sqlite", apptest.Limited)
	for range 30 {
		s.Call("GET", "/api/v1/invitations/x", "", nil).Want(404)
	}
	if a := s.Call("GET", "/api/v1/invitations/x", "", nil).Want(429); a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
