package blackbox_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestInvite(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		r := s.NewRequest("POST", o.Path("/team/invitations"), o.Token, map[string]any{"email": " Bob@EXAMPLE.com ", "role": "admin", "expires_in_days": 3})
		r.Header.Set("Accept-Language", "fr")
		a := s.Do(r).Want(201)
		data := a.At("data").(map[string]any)
		want := map[string]any{
			"id": data["id"], "email": "bob@example.com", "role": "admin", "status": "pending", "is_expired": false, "is_valid": true,
			"expires_at": data["expires_at"], "tenant": map[string]any{"id": o.Tenant, "name": "Ada's Organization"},
			"inviter":    map[string]any{"id": float64(s.UserID(o.Token)), "name": "Ada"},
			"created_at": data["created_at"], "updated_at": data["created_at"],
		}
		if diff := cmp.Diff(want, a.At("data")); diff != "" || a.Str("message") != "team.invitation_sent" {
			t.Errorf("invitation: %s", diff)
		}
		token := s.InvitationToken("bob@example.com", 1)
		if text := s.Mails("bob@example.com")[0]["subject"].(string); !strings.HasPrefix(text, "Invitation à rejoindre") {
			t.Errorf("subject: %s", text)
		}
		if strings.Contains(a.Text+s.Call("GET", o.Path("/team/invitations"), o.Token, nil).Text, token) {
			t.Error("the API returns the token")
		}
		shown := s.Call("GET", "/api/v1/invitations/"+token, "", nil).Want(200)
		if diff := cmp.Diff(want, shown.At("data")); diff != "" {
			t.Errorf("public view: %s", diff)
		}
		s.Call("GET", "/api/v1/invitations/"+strings.ToLower(token), "", nil).WantRefused(404, "INVITATION_NOT_FOUND")
		s.Call("GET", "/api/v1/invitations/x", "", nil).WantRefused(404, "INVITATION_NOT_FOUND")
	})
}

func TestInviteRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		s.CreateRole(other, "Foreign")
		s.CreateRole(o, "Inviter", "team.invite")
		member, _ := s.Join(o, "Bob", "bob@example.com", "member")
		inviter, _ := s.Join(o, "Ivy", "ivy@example.com", "Inviter")
		invite := func(token, email, role string) apptest.Reply {
			return s.Call("POST", o.Path("/team/invitations"), token, map[string]any{"email": email, "role": role})
		}
		// The permission is checked before the request is validated.
		invite(member, "", "").WantRefused(403, "INSUFFICIENT_PERMISSIONS")
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
				s.Call("POST", o.Path("/team/invitations"), o.Token, body).WantInvalid(c.field)
			})
		}
		invite(o.Token, "BOB@example.com", "member").WantRefused(409, "ALREADY_MEMBER")
		invite(o.Token, "other@example.com", "member").WantRefused(409, "USER_BELONGS_TO_ANOTHER_TENANT")
		invite(inviter, "eve@example.com", "member").Want(201)
		invite(o.Token, "EVE@example.com", "admin").WantRefused(409, "ALREADY_INVITED")
		// Another tenant can invite the same person.
		s.Call("POST", other.Path("/team/invitations"), other.Token, map[string]any{"email": "eve@example.com", "role": "member"}).Want(201)

		// The plan starter has five seats: three members, one invitation, and one free seat.
		s.BuyPlan(o, "starter")
		for _, days := range []int{1, 30} {
			a := s.Call("POST", o.Path("/team/invitations"), o.Token, map[string]any{"email": "last@example.com", "role": "member", "expires_in_days": days})
			if days == 1 {
				a.Want(201)
			} else {
				a.WantRefused(409, "ALREADY_INVITED")
			}
		}
		invite(o.Token, "more@example.com", "member").WantRefused(422, "SEAT_LIMIT_REACHED")
		invite(o.Token, "bob@example.com", "member").WantRefused(409, "ALREADY_MEMBER") // checked before the seats
		invite(o.Token, "eve@example.com", "member").WantRefused(409, "ALREADY_INVITED")
	})
}

func TestInvitationList(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		s.Invite(other, "foreign@example.com", "member")
		s.Call("POST", o.Path("/team/invitations"), o.Token, map[string]any{"email": "short@example.com", "role": "member", "expires_in_days": 1}).Want(201)
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "24h"}).Want(200)
		o.Token = s.LogIn("owner@example.com")
		s.Join(o, "Bob", "bob@example.com", "member")
		id, _ := s.Invite(o, "gone@example.com", "member")
		s.Call("DELETE", o.Path("/team/invitations/")+id, o.Token, nil).Want(200)
		s.Invite(o, "open@example.com", "member")

		list := s.Call("GET", o.Path("/team/invitations?pending_only=false"), o.Token, nil).Want(200)
		if diff := cmp.Diff([]any{"open@example.com", "gone@example.com", "bob@example.com", "short@example.com"}, list.Column("email")); diff != "" {
			t.Errorf("list: %s", diff)
		}
		if diff := cmp.Diff([]any{"pending", "revoked", "accepted", "expired"}, list.Column("status")); diff != "" {
			t.Errorf("status: %s", diff)
		}
		if diff := cmp.Diff([]any{true, false, false, false}, list.Column("is_valid")); diff != "" {
			t.Errorf("is_valid: %s", diff)
		}
		if diff := cmp.Diff([]any{false, false, false, true}, list.Column("is_expired")); diff != "" {
			t.Errorf("is_expired: %s", diff)
		}
		for query, want := range map[string][]any{"?pending_only=true": {"open@example.com"}, "?pending_only=1": {"open@example.com"}} {
			if diff := cmp.Diff(want, s.Call("GET", o.Path("/team/invitations")+query, o.Token, nil).Want(200).Column("email")); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
		s.Call("GET", o.Path("/team/invitations?pending_only=maybe"), o.Token, nil).WantInvalid("pending_only")
	})
}

func TestRevokeInvitation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		member, _ := s.Join(o, "Bob", "bob@example.com", "member")
		id, token := s.Invite(o, "eve@example.com", "member")
		at := o.Path("/team/invitations/")
		s.Call("DELETE", at+id, member, nil).WantRefused(403, "")
		s.Call("DELETE", other.Path("/team/invitations/")+id, other.Token, nil).WantRefused(404, "INVITATION_NOT_FOUND")
		s.Call("DELETE", at+"x", o.Token, nil).WantRefused(404, "")
		if a := s.Call("DELETE", at+id, o.Token, nil).Want(200); a.Str("message") != "team.invitation_revoked" {
			t.Errorf("revoked: %s", a.Text)
		}
		s.Call("DELETE", at+id, o.Token, nil).WantRefused(410, "INVITATION_REVOKED")
		s.Call("POST", at+id+"/resend", o.Token, nil).WantRefused(410, "INVITATION_REVOKED")
		s.Call("POST", "/api/v1/invitations/"+token+"/accept", s.RegisterAlone("Eve", "eve@example.com"), nil).WantRefused(410, "INVITATION_REVOKED")
		if a := s.Call("GET", "/api/v1/invitations/"+token, "", nil).Want(200); a.At("data.status") != "revoked" || a.At("data.is_valid") != false {
			t.Errorf("revoked: %s", a.Text)
		}
		accepted := s.Call("GET", o.Path("/team/invitations"), o.Token, nil).Str("data.1.id")
		s.Call("DELETE", at+accepted, o.Token, nil).WantRefused(410, "INVITATION_ALREADY_ACCEPTED")
		s.Call("POST", at+accepted+"/resend", o.Token, nil).WantRefused(410, "INVITATION_ALREADY_ACCEPTED")
	})
}

func TestResendInvitation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		s.CreateRole(o, "Inviter", "team.invite")
		inviter, _ := s.Join(o, "Ivy", "ivy@example.com", "Inviter")
		pass := func(d string) {
			s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": d}).Want(200)
			o.Token = s.LogIn("owner@example.com")
		}
		id, first := s.Invite(o, "eve@example.com", "member")
		at := o.Path("/team/invitations/") + id
		s.Call("POST", other.Path("/team/invitations/")+id+"/resend", other.Token, nil).WantRefused(404, "INVITATION_NOT_FOUND")
		admins, _ := s.Invite(o, "boss@example.com", "admin")
		s.Call("POST", o.Path("/team/invitations/")+admins+"/resend", inviter, nil).WantRefused(403, "INSUFFICIENT_PERMISSIONS")

		pass("100h")
		a := s.Call("POST", at+"/resend", o.Token, nil).Want(200)
		if a.Str("message") != "team.invitation_resent" || a.At("data.status") != "pending" || a.Str("data.id") != id {
			t.Errorf("resent: %s", a.Text)
		}
		second := s.InvitationToken("eve@example.com", 2)
		s.Call("GET", "/api/v1/invitations/"+first, "", nil).WantRefused(404, "INVITATION_NOT_FOUND")
		pass("100h") // 200 hours after the first mail, 100 after the second
		if a := s.Call("GET", "/api/v1/invitations/"+second, "", nil).Want(200); a.At("data.is_valid") != true {
			t.Errorf("after 100 hours: %s", a.Text)
		}
		pass("68h") // seven days after the second mail, plus the duration of the test
		if a := s.Call("GET", "/api/v1/invitations/"+second, "", nil).Want(200); a.At("data.status") != "expired" || a.At("data.is_expired") != true {
			t.Errorf("after seven days: %s", a.Text)
		}
		eve := s.RegisterAlone("Eve", "eve@example.com")
		s.Call("POST", "/api/v1/invitations/"+second+"/accept", eve, nil).WantRefused(410, "INVITATION_EXPIRED")

		// An expired invitation does not block a new invitation. A new invitation blocks resending the
		// expired one.
		again, _ := inviteAgain(s, o, "eve@example.com", 3)
		s.Call("POST", at+"/resend", o.Token, nil).WantRefused(409, "ALREADY_INVITED")
		s.Call("DELETE", o.Path("/team/invitations/")+again, o.Token, nil).Want(200)
		s.Call("POST", at+"/resend", o.Token, nil).Want(200)
		third := s.InvitationToken("eve@example.com", 4)
		s.Call("POST", "/api/v1/invitations/"+third+"/accept", eve, nil).Want(200)
	})
}
