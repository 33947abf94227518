package app

import (
	"fmt"
	"regexp"
)

// team is the base of a tenant's team routes.
func (o owner) team() string { return "/api/v1/tenant/" + o.tenant + "/team" }

// roles is the base of a tenant's role routes.
func (o owner) roles() string { return "/api/v1/tenant/" + o.tenant + "/roles" }

// admin logs the sandbox's platform administrator in.
func (s *server) admin() string {
	s.t.Helper()
	return s.call("POST", "/api/v1/auth/login", "", map[string]any{
		"email": "admin@tenantry.test", "password": "sandbox-admin",
	}).want(200).str("accessToken")
}

// alone makes an account without a tenant and logs it in.
func (s *server) alone(name, email string) string {
	s.t.Helper()
	return s.call("POST", "/api/v1/auth/register", "", registration(email, map[string]any{"name": name, "create_tenant": false})).
		want(201).str("accessToken")
}

// invite makes an invitation and returns its id and the token of its mail.
func (s *server) invite(o owner, email, role string) (id, token string) {
	s.t.Helper()
	id = s.call("POST", o.team()+"/invitations", o.token, map[string]any{"email": email, "role": role}).want(201).str("data.id")
	return id, s.invitationToken(email, 1)
}

var invitationLink = regexp.MustCompile(`/invitations/([A-Za-z0-9]{64})\b`)

// invitationToken waits until so many invitations were mailed to an address, and
// returns the token of the newest.
func (s *server) invitationToken(email string, mails int) string {
	s.t.Helper()
	var token string
	eventually(s.t, fmt.Sprintf("mail %d to %s", mails, email), func() bool {
		var links [][]string
		for _, m := range s.mails(email) {
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

// join makes an account and a member of it, and returns the member's token and id.
func (s *server) join(o owner, name, email, role string) (token string, id int64) {
	s.t.Helper()
	token = s.alone(name, email)
	_, invitation := s.invite(o, email, role)
	s.call("POST", "/api/v1/invitations/"+invitation+"/accept", token, nil).want(200)
	return token, s.userID(token)
}

func (s *server) userID(token string) int64 {
	s.t.Helper()
	return int64(s.call("GET", "/api/v1/auth/me", token, nil).want(200).at("user.id").(float64))
}

// role finds the id of a role by its name.
func (s *server) role(o owner, name string) int64 {
	s.t.Helper()
	list, _ := s.call("GET", o.roles(), o.token, nil).want(200).at("data").([]any)
	for _, r := range list {
		if r := r.(map[string]any); r["name"] == name {
			return int64(r["id"].(float64))
		}
	}
	s.t.Fatalf("no role %q", name)
	return 0
}

// makeRole makes a role of the tenant's own.
func (s *server) makeRole(o owner, name string, permissions ...string) int64 {
	s.t.Helper()
	if permissions == nil {
		permissions = []string{}
	}
	a := s.call("POST", o.roles(), o.token, map[string]any{"name": name, "permissions": permissions}).want(201)
	return int64(a.at("data.id").(float64))
}

// column reads one key of every entry of data.
func (a reply) column(key string) []any {
	a.t.Helper()
	list, ok := a.at("data").([]any)
	if !ok {
		a.t.Fatalf("no list in %s", a.text)
	}
	values := make([]any, len(list))
	for i, entry := range list {
		values[i] = entry.(map[string]any)[key]
	}
	return values
}

// refused fails the test unless the answer is a refusal with that status and
// code, "" for none.
func (a reply) refused(status int, code string) {
	a.t.Helper()
	got, _ := a.at("code").(string)
	if a.status != status || got != code || a.at("message") == nil {
		a.t.Errorf("%d %s, want %d with code %q", a.status, a.text, status, code)
	}
}

// invalid fails the test unless the answer is a 422 on one field alone.
func (a reply) invalid(field string) {
	a.t.Helper()
	errs, _ := a.at("errors").(map[string]any)
	if a.status != 422 || errs[field] == nil || len(errs) != 1 {
		a.t.Errorf("%d %s, want 422 on %s alone", a.status, a.text, field)
	}
}
