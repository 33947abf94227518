package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAcceptInvitation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		_, token := s.invite(o, "eve@example.com", "admin")
		at := "/api/v1/invitations/" + token + "/accept"
		eve := s.alone("Eve", "Eve@Example.com")
		s.call("POST", at, "", nil).refused(401, "")
		s.call("POST", "/api/v1/invitations/"+strings.Repeat("x", 64)+"/accept", eve, nil).refused(404, "INVITATION_NOT_FOUND")
		s.call("POST", at, other.token, nil).refused(403, "EMAIL_MISMATCH")

		a := s.call("POST", at, eve, nil).want(200)
		for path, want := range map[string]any{
			"message": "team.invitation_accepted", "data.invitation.status": "accepted", "data.invitation.is_valid": false,
			"data.invitation.email": "eve@example.com", "data.tenant.id": o.tenant, "data.tenant.user_role": "admin",
			"data.tenant.user_permissions.0": "billing.manage", "data.tenant.owner.email": "owner@example.com",
		} {
			if got := a.at(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		if me := s.call("GET", "/api/v1/auth/me", eve, nil).want(200); me.at("currentTenant.id") != o.tenant || me.at("user.roles.0") != "admin" {
			t.Errorf("me: %s", me.text)
		}
		s.call("POST", at, eve, nil).refused(410, "INVITATION_ALREADY_ACCEPTED")
		s.call("POST", at, other.token, nil).refused(410, "INVITATION_ALREADY_ACCEPTED") // before whose it is

		// Somebody who was invited and then got a tenant elsewhere.
		_, late := s.invite(o, "late@example.com", "member")
		elsewhere := s.register("late@example.com", true)
		s.call("POST", "/api/v1/invitations/"+late+"/accept", elsewhere.token, nil).refused(409, "USER_BELONGS_TO_ANOTHER_TENANT")
	})
}

func TestAcceptWithRegistration(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("owner@example.com", true)
		_, token := s.invite(o, "eve@example.com", "member")
		at := "/api/v1/invitations/" + token + "/accept-with-registration"
		body := func(change map[string]any) map[string]any {
			b := registration("eve@example.com", map[string]any{"name": "Eve"})
			for k, v := range change {
				b[k] = v
			}
			return b
		}
		s.call("POST", "/api/v1/invitations/x/accept-with-registration", "", map[string]any{}).refused(404, "INVITATION_NOT_FOUND")
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
			t.Run(name, func(t *testing.T) { s.call("POST", at, "", body(c.change)).invalid(c.field) })
		}
		s.call("POST", at, "", body(map[string]any{"email": "mallory@example.com"})).refused(403, "EMAIL_MISMATCH")

		a := s.call("POST", at, "", body(map[string]any{"email": "EVE@example.com"})).want(201)
		for path, want := range map[string]any{
			"data.user.name": "Eve", "data.user.email": "eve@example.com", "data.invitation.status": "accepted",
			"data.tenant.id": o.tenant, "data.tenant.user_role": "member", "meta.token_type": "Bearer",
		} {
			if got := a.at(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		me := s.call("GET", "/api/v1/auth/me", a.str("meta.access_token"), nil).want(200)
		if me.at("currentTenant.id") != o.tenant || len(me.at("user.tenants").([]any)) != 1 || me.at("user.id") != a.at("data.user.id") {
			t.Errorf("me: %s", me.text)
		}
		s.refresh(a.str("meta.refresh_token")).want(200)
		s.call("POST", at, "", body(nil)).refused(410, "INVITATION_ALREADY_ACCEPTED")
	})
}

func TestAcceptWithRegistrationRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("owner@example.com", true)
		register := func(token, email string) reply {
			return s.call("POST", "/api/v1/invitations/"+token+"/accept-with-registration", "", registration(email, nil))
		}
		_, known := s.invite(o, "known@example.com", "member")
		s.alone("Known", "known@example.com")
		register(known, "KNOWN@example.com").refused(409, "ACCOUNT_ALREADY_EXISTS")
		register(known, "new@example.com").refused(403, "EMAIL_MISMATCH")

		id, revoked := s.invite(o, "revoked@example.com", "member")
		s.call("DELETE", o.team()+"/invitations/"+id, o.token, nil).want(200)
		register(revoked, "known@example.com").refused(410, "INVITATION_REVOKED")

		// What was refused has left nothing behind.
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "revoked@example.com", "password": "correct horse"}).want(401)

		_, late := s.invite(o, "late@example.com", "member")
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "168h"}).want(200)
		register(late, "late@example.com").refused(410, "INVITATION_EXPIRED")

		// Three are in, by invitations from before the plan: free has two places.
		o.token = s.login("owner@example.com")
		_, one := s.invite(o, "one@example.com", "member")
		_, two := s.invite(o, "two@example.com", "member")
		s.subscribe(o, "free")
		register(one, "one@example.com").refused(422, "SEAT_LIMIT_REACHED")
		s.call("POST", "/api/v1/invitations/"+two+"/accept", s.alone("Two", "two@example.com"), nil).refused(422, "SEAT_LIMIT_REACHED")
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "one@example.com", "password": "correct horse"}).want(401)
		list := s.call("GET", o.team()+"/invitations?pending_only=true", o.token, nil).want(200)
		if diff := cmp.Diff([]any{"two@example.com", "one@example.com"}, list.column("email")); diff != "" {
			t.Errorf("waiting: %s", diff)
		}
		s.call("DELETE", o.team()+"/invitations/"+list.str("data.0.id"), o.token, nil).want(200)
		register(one, "one@example.com").want(201)
	})
}

// In cookie mode the answer carries no tokens: the session is in a cookie.
func TestAcceptWithRegistrationInCookieMode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("owner@example.com", true)
		_, token := s.invite(o, "eve@example.com", "member")
		at := "/api/v1/invitations/" + token + "/accept-with-registration"
		f := s.frontend()
		f.fetch("POST", at, "", registration("eve@example.com", nil)).want(419)
		f.fetch("GET", "/csrf-cookie", "", nil).want(204)
		before := f.value("tenantry_session")
		a := f.send("POST", at, registration("eve@example.com", nil)).want(201)
		if strings.Contains(a.text, "token") || len(a.at("meta").(map[string]any)) != 0 || f.value("tenantry_session") == before {
			t.Errorf("answer: %s", a.text)
		}
		if me := f.fetch("GET", "/api/v1/auth/me", "", nil).want(200); me.at("currentTenant.id") != o.tenant {
			t.Errorf("me: %s", me.text)
		}
	})
}

func TestInvitationsAreLimited(t *testing.T) {
	t.Parallel()
	s := start(t, "sqlite", limited)
	for range 30 {
		s.call("GET", "/api/v1/invitations/x", "", nil).want(404)
	}
	if a := s.call("GET", "/api/v1/invitations/x", "", nil).want(429); a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
