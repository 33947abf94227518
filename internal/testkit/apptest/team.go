package apptest

import (
	"fmt"
	"regexp"
)

// Mails returns the mails in the sandbox's mailbox to an address, newest first.
func (s *Server) Mails(to string) []map[string]any {
	s.T.Helper()
	all, _ := s.Call("GET", "/sandbox/mail/messages", "", nil).Want(200).At("data").([]any)
	var own []map[string]any
	for _, m := range all {
		if m := m.(map[string]any); m["to"] == to {
			own = append(own, m)
		}
	}
	return own
}

// Invite creates an invitation and returns its id and the token in its mail. The address must not
// have been invited before.
func (s *Server) Invite(o Owner, email, role string) (id, token string) {
	s.T.Helper()
	id = s.Call("POST", o.Path("/team/invitations"), o.Token, map[string]any{"email": email, "role": role}).Want(201).Str("data.id")
	return id, s.InvitationToken(email, 1)
}

var invitationLink = regexp.MustCompile(`/invitations/([A-Za-z0-9]{64})\b`)

// InvitationToken waits until the given number of invitations was sent to an address, and returns
// the token of the latest.
func (s *Server) InvitationToken(email string, mails int) string {
	s.T.Helper()
	var token string
	Eventually(s.T, fmt.Sprintf("mail %d to %s", mails, email), func() bool {
		var links [][]string
		for _, m := range s.Mails(email) {
			if link := invitationLink.FindStringSubmatch(m["text"].(string)); link != nil {
				links = append(links, link)
			}
		}
		if len(links) < mails {
			return false
		}
		token = links[0][1]
		return true
	})
	s.secrets.note(token)
	return token
}

// Join creates an account, adds it to a team, and returns its token and id.
func (s *Server) Join(o Owner, name, email, role string) (token string, id int64) {
	s.T.Helper()
	token = s.RegisterAlone(name, email)
	_, invitation := s.Invite(o, email, role)
	s.Call("POST", "/api/v1/invitations/"+invitation+"/accept", token, nil).Want(200)
	return token, s.UserID(token)
}

// RoleID returns the id of the role with a name.
func (s *Server) RoleID(o Owner, name string) int64 {
	s.T.Helper()
	list, _ := s.Call("GET", o.Path("/roles"), o.Token, nil).Want(200).At("data").([]any)
	for _, r := range list {
		if r := r.(map[string]any); r["name"] == name {
			return int64(r["id"].(float64))
		}
	}
	s.T.Fatalf("no role %q", name)
	return 0
}

// CreateRole creates a custom role of the tenant.
func (s *Server) CreateRole(o Owner, name string, permissions ...string) int64 {
	s.T.Helper()
	if permissions == nil {
		permissions = []string{}
	}
	a := s.Call("POST", o.Path("/roles"), o.Token, map[string]any{"name": name, "permissions": permissions}).Want(201)
	return int64(a.At("data.id").(float64))
}
