package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInvite(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("owner@example.com", true)
		r := s.request("POST", o.team()+"/invitations", o.token, map[string]any{"email": " Bob@EXAMPLE.com ", "role": "admin", "expires_in_days": 3})
		r.Header.Set("Accept-Language", "fr")
		a := s.do(r).want(201)
		data := a.at("data").(map[string]any)
		want := map[string]any{
			"id": data["id"], "email": "bob@example.com", "role": "admin", "status": "pending", "is_expired": false, "is_valid": true,
			"expires_at": data["expires_at"], "tenant": map[string]any{"id": o.tenant, "name": "Ada's Organization"},
			"inviter":    map[string]any{"id": float64(s.userID(o.token)), "name": "Ada"},
			"created_at": data["created_at"], "updated_at": data["created_at"],
		}
		if diff := cmp.Diff(want, a.at("data")); diff != "" || a.str("message") != "team.invitation_sent" {
			t.Errorf("invitation: %s", diff)
		}
		token := s.invitationToken("bob@example.com", 1)
		if text := s.mails("bob@example.com")[0]["subject"].(string); !strings.HasPrefix(text, "Invitation à rejoindre") {
			t.Errorf("subject: %s", text)
		}
		if strings.Contains(a.text+s.call("GET", o.team()+"/invitations", o.token, nil).text, token) {
			t.Error("the API hands out the token")
		}
		shown := s.call("GET", "/api/v1/invitations/"+token, "", nil).want(200)
		if diff := cmp.Diff(want, shown.at("data")); diff != "" {
			t.Errorf("public view: %s", diff)
		}
		s.call("GET", "/api/v1/invitations/"+strings.ToLower(token), "", nil).refused(404, "INVITATION_NOT_FOUND")
		s.call("GET", "/api/v1/invitations/x", "", nil).refused(404, "INVITATION_NOT_FOUND")
	})
}

func TestInviteRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		s.makeRole(other, "Foreign")
		s.makeRole(o, "Inviter", "team.invite")
		member, _ := s.join(o, "Bob", "bob@example.com", "member")
		inviter, _ := s.join(o, "Ivy", "ivy@example.com", "Inviter")
		invite := func(token, email, role string) reply {
			return s.call("POST", o.team()+"/invitations", token, map[string]any{"email": email, "role": role})
		}
		// The permission comes before everything that is wrong with the request.
		invite(member, "", "").refused(403, "INSUFFICIENT_PERMISSIONS")
		for name, c := range map[string]struct {
			change map[string]any
			field  string
		}{
			"no email":      {map[string]any{"email": ""}, "email"},
			"not an email":  {map[string]any{"email": "eve"}, "email"},
			"long email":    {map[string]any{"email": strings.Repeat("a", 64) + "@" + strings.Repeat("b.", 100) + "example.com"}, "email"},
			"no role":       {map[string]any{"role": ""}, "role"},
			"unknown role":  {map[string]any{"role": "Nobody"}, "role"},
			"owner":         {map[string]any{"role": "owner"}, "role"},
			"foreign role":  {map[string]any{"role": "Foreign"}, "role"},
			"no days":       {map[string]any{"expires_in_days": 0}, "expires_in_days"},
			"too many days": {map[string]any{"expires_in_days": 31}, "expires_in_days"},
			"half a day":    {map[string]any{"expires_in_days": 0.5}, "expires_in_days"},
			"null days":     {map[string]any{"expires_in_days": nil}, "expires_in_days"},
		} {
			t.Run(name, func(t *testing.T) {
				body := map[string]any{"email": "eve@example.com", "role": "member"}
				for k, v := range c.change {
					body[k] = v
				}
				s.call("POST", o.team()+"/invitations", o.token, body).invalid(c.field)
			})
		}
		invite(o.token, "BOB@example.com", "member").refused(409, "ALREADY_MEMBER")
		invite(o.token, "other@example.com", "member").refused(409, "USER_BELONGS_TO_ANOTHER_TENANT")
		invite(inviter, "eve@example.com", "member").want(201)
		invite(o.token, "EVE@example.com", "admin").refused(409, "ALREADY_INVITED")
		// Another tenant may invite the same person.
		s.call("POST", other.team()+"/invitations", other.token, map[string]any{"email": "eve@example.com", "role": "member"}).want(201)

		// starter has five places: three members, one invitation, one to come.
		s.subscribe(o, "starter")
		for _, days := range []int{1, 30} {
			a := s.call("POST", o.team()+"/invitations", o.token, map[string]any{"email": "last@example.com", "role": "member", "expires_in_days": days})
			if days == 1 {
				a.want(201)
			} else {
				a.refused(409, "ALREADY_INVITED")
			}
		}
		invite(o.token, "more@example.com", "member").refused(422, "SEAT_LIMIT_REACHED")
		invite(o.token, "bob@example.com", "member").refused(409, "ALREADY_MEMBER") // comes first
		invite(o.token, "eve@example.com", "member").refused(409, "ALREADY_INVITED")
	})
}

func TestInvitationList(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		s.invite(other, "foreign@example.com", "member")
		s.call("POST", o.team()+"/invitations", o.token, map[string]any{"email": "short@example.com", "role": "member", "expires_in_days": 1}).want(201)
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "24h"}).want(200)
		o.token = s.login("owner@example.com")
		s.join(o, "Bob", "bob@example.com", "member")
		id, _ := s.invite(o, "gone@example.com", "member")
		s.call("DELETE", o.team()+"/invitations/"+id, o.token, nil).want(200)
		s.invite(o, "open@example.com", "member")

		list := s.call("GET", o.team()+"/invitations?pending_only=false", o.token, nil).want(200)
		if diff := cmp.Diff([]any{"open@example.com", "gone@example.com", "bob@example.com", "short@example.com"}, list.column("email")); diff != "" {
			t.Errorf("list: %s", diff)
		}
		if diff := cmp.Diff([]any{"pending", "revoked", "accepted", "expired"}, list.column("status")); diff != "" {
			t.Errorf("status: %s", diff)
		}
		if diff := cmp.Diff([]any{true, false, false, false}, list.column("is_valid")); diff != "" {
			t.Errorf("is_valid: %s", diff)
		}
		if diff := cmp.Diff([]any{false, false, false, true}, list.column("is_expired")); diff != "" {
			t.Errorf("is_expired: %s", diff)
		}
		for query, want := range map[string][]any{"?pending_only=true": {"open@example.com"}, "?pending_only=1": {"open@example.com"}} {
			if diff := cmp.Diff(want, s.call("GET", o.team()+"/invitations"+query, o.token, nil).want(200).column("email")); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
		s.call("GET", o.team()+"/invitations?pending_only=maybe", o.token, nil).invalid("pending_only")
	})
}

func TestRevokeInvitation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		member, _ := s.join(o, "Bob", "bob@example.com", "member")
		id, token := s.invite(o, "eve@example.com", "member")
		at := o.team() + "/invitations/"
		s.call("DELETE", at+id, member, nil).refused(403, "")
		s.call("DELETE", other.team()+"/invitations/"+id, other.token, nil).refused(404, "INVITATION_NOT_FOUND")
		s.call("DELETE", at+"x", o.token, nil).refused(404, "")
		if a := s.call("DELETE", at+id, o.token, nil).want(200); a.str("message") != "team.invitation_revoked" {
			t.Errorf("revoked: %s", a.text)
		}
		s.call("DELETE", at+id, o.token, nil).refused(410, "INVITATION_REVOKED")
		s.call("POST", at+id+"/resend", o.token, nil).refused(410, "INVITATION_REVOKED")
		s.call("POST", "/api/v1/invitations/"+token+"/accept", s.alone("Eve", "eve@example.com"), nil).refused(410, "INVITATION_REVOKED")
		if a := s.call("GET", "/api/v1/invitations/"+token, "", nil).want(200); a.at("data.status") != "revoked" || a.at("data.is_valid") != false {
			t.Errorf("revoked: %s", a.text)
		}
		accepted := s.call("GET", o.team()+"/invitations", o.token, nil).str("data.1.id")
		s.call("DELETE", at+accepted, o.token, nil).refused(410, "INVITATION_ALREADY_ACCEPTED")
		s.call("POST", at+accepted+"/resend", o.token, nil).refused(410, "INVITATION_ALREADY_ACCEPTED")
	})
}

func TestResendInvitation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		s.makeRole(o, "Inviter", "team.invite")
		inviter, _ := s.join(o, "Ivy", "ivy@example.com", "Inviter")
		pass := func(d string) {
			s.call("POST", "/sandbox/clock", "", map[string]any{"advance": d}).want(200)
			o.token = s.login("owner@example.com")
		}
		id, first := s.invite(o, "eve@example.com", "member")
		at := o.team() + "/invitations/" + id
		s.call("POST", other.team()+"/invitations/"+id+"/resend", other.token, nil).refused(404, "INVITATION_NOT_FOUND")
		admins, _ := s.invite(o, "boss@example.com", "admin")
		s.call("POST", o.team()+"/invitations/"+admins+"/resend", inviter, nil).refused(403, "INSUFFICIENT_PERMISSIONS")

		pass("100h")
		a := s.call("POST", at+"/resend", o.token, nil).want(200)
		if a.str("message") != "team.invitation_resent" || a.at("data.status") != "pending" || a.str("data.id") != id {
			t.Errorf("resent: %s", a.text)
		}
		second := s.invitationToken("eve@example.com", 2)
		s.call("GET", "/api/v1/invitations/"+first, "", nil).refused(404, "INVITATION_NOT_FOUND")
		pass("100h") // 200 hours after the first mail, 100 after the second
		if a := s.call("GET", "/api/v1/invitations/"+second, "", nil).want(200); a.at("data.is_valid") != true {
			t.Errorf("after 100 hours: %s", a.text)
		}
		pass("68h") // seven days to the second, and what the test took
		if a := s.call("GET", "/api/v1/invitations/"+second, "", nil).want(200); a.at("data.status") != "expired" || a.at("data.is_expired") != true {
			t.Errorf("after seven days: %s", a.text)
		}
		eve := s.alone("Eve", "eve@example.com")
		s.call("POST", "/api/v1/invitations/"+second+"/accept", eve, nil).refused(410, "INVITATION_EXPIRED")

		// An expired one does not stand in the way of another, which then does.
		again, _ := s.inviteAgain(o, "eve@example.com", 3)
		s.call("POST", at+"/resend", o.token, nil).refused(409, "ALREADY_INVITED")
		s.call("DELETE", o.team()+"/invitations/"+again, o.token, nil).want(200)
		s.call("POST", at+"/resend", o.token, nil).want(200)
		third := s.invitationToken("eve@example.com", 4)
		s.call("POST", "/api/v1/invitations/"+third+"/accept", eve, nil).want(200)
	})
}

// login logs a user of the tests in.
func (s *server) login(email string) string {
	s.t.Helper()
	return s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": email, "password": "correct horse"}).want(200).str("accessToken")
}
