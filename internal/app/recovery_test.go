package app

import (
	"regexp"
	"sync"
	"testing"
)

// mails are what the sandbox's mailbox has for an address, newest first.
func (s *server) mails(to string) []map[string]any {
	s.t.Helper()
	all, _ := s.call("GET", "/sandbox/mail/messages", "", nil).want(200).at("data").([]any)
	var own []map[string]any
	for _, m := range all {
		if m := m.(map[string]any); m["to"] == to {
			own = append(own, m)
		}
	}
	return own
}

// resetToken asks for a reset and reads the token from the mail's link.
func (s *server) resetToken(email string) string {
	s.t.Helper()
	before := len(s.mails(email))
	s.call("POST", "/api/v1/auth/forgot-password", "", map[string]any{"email": email}).want(200)
	var token string
	eventually(s.t, "the mail", func() bool {
		mails := s.mails(email)
		if len(mails) == before {
			return false
		}
		link := regexp.MustCompile(`/reset-password\?\S*token=([A-Za-z0-9]+)`).FindStringSubmatch(mails[0]["text"].(string))
		if link == nil {
			s.t.Fatalf("no link in %s", mails[0]["text"])
		}
		token = link[1]
		return true
	})
	return token
}

func (s *server) reset(email, token, password string) reply {
	s.t.Helper()
	return s.call("POST", "/api/v1/auth/reset-password", "", map[string]any{
		"email": email, "token": token, "password": password, "password_confirmation": password,
	})
}

func TestPasswordReset(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", false)
		f := s.frontend()
		f.fetch("GET", "/csrf-cookie", "", nil).want(204)
		f.send("POST", "/api/v1/auth/login", adaLogin).want(200)

		first := s.resetToken("ada@example.com")
		second := s.resetToken("ada@example.com")
		s.reset("ada@example.com", first, "new password").want(400) // only the newest is valid
		s.reset("eve@example.com", second, "new password").want(400)
		s.reset("ada@example.com", second, "short").want(422)
		s.reset("ADA@example.com", second, "new password").want(200)
		s.reset("ada@example.com", second, "newer password").want(400) // works once

		// Every credential from before is dead.
		s.call("GET", "/api/v1/auth/me", o.token, nil).want(401)
		f.fetch("GET", "/api/v1/auth/me", "", nil).want(401)
		s.call("POST", "/api/v1/auth/login", "", adaLogin).want(401)
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "ada@example.com", "password": "new password"}).want(200)
		eventually(t, "the mail about the change", func() bool { return len(s.mails("ada@example.com")) == 3 })

		expired := s.resetToken("ada@example.com")
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "60m"}).want(200)
		s.reset("ada@example.com", expired, "newest password").want(400)
	})
}

// Nobody learns from the answer whether an email has an account.
func TestForgotPasswordTellsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.register("ada@example.com", false)
		ask := func(email string) reply {
			return s.call("POST", "/api/v1/auth/forgot-password", "", map[string]any{"email": email})
		}
		known, unknown := ask("ada@example.com").want(200), ask("nobody@example.com").want(200)
		if known.text != unknown.text {
			t.Errorf("%s for an account, %s for none", known.text, unknown.text)
		}
		ask("nonsense").want(422)
		eventually(t, "the mail", func() bool { return len(s.mails("ada@example.com")) == 1 })
		if n := len(s.mails("nobody@example.com")); n != 0 {
			t.Errorf("%d mails to nobody", n)
		}
	})
}

// Of many uses of one reset token at once one sets the password.
func TestResetTokenWorksOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.register("ada@example.com", false)
		token := s.resetToken("ada@example.com")
		statuses := make([]int, 10)
		var wg sync.WaitGroup
		for i := range statuses {
			wg.Go(func() { statuses[i] = s.reset("ada@example.com", token, "new password").status })
		}
		wg.Wait()
		done := 0
		for _, status := range statuses {
			if status == 200 {
				done++
			} else if status != 400 {
				t.Errorf("status %d", status)
			}
		}
		if done != 1 {
			t.Errorf("%d resets succeeded", done)
		}
	})
}
