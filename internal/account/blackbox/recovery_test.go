package blackbox_test

import (
	"context"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// resetToken requests a reset and returns the token from the mailed link.
func resetToken(s *apptest.Server, email string) string {
	s.T.Helper()
	links := func() (tokens []string) { // newest first; other mails may come in between
		for _, mail := range s.Mails(email) {
			if link := regexp.MustCompile(`/reset-password\?\S*token=([A-Za-z0-9]+)`).FindStringSubmatch(mail["text"].(string)); link != nil {
				tokens = append(tokens, link[1])
			}
		}
		return tokens
	}
	before := len(links())
	s.Call("POST", "/api/v1/auth/forgot-password", "", map[string]any{"email": email}).Want(200)
	var token string
	apptest.Eventually(s.T, "the mail", func() bool {
		tokens := links()
		if len(tokens) == before {
			return false
		}
		token = tokens[0]
		return true
	})
	return token
}

func resetPassword(s *apptest.Server, email, token, password string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/reset-password", "", map[string]any{
		"email": email, "token": token, "password": password, "password_confirmation": password,
	})
}

func TestPasswordReset(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", false)
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		f.Send("POST", "/api/v1/auth/login", apptest.AdaLogin).Want(200)

		first := resetToken(s, "ada@example.com")
		second := resetToken(s, "ada@example.com")
		resetPassword(s, "ada@example.com", first, "new password").Want(400) // only the newest token is valid
		resetPassword(s, "eve@example.com", second, "new password").Want(400)
		resetPassword(s, "ada@example.com", second, "short").Want(422)
		resetPassword(s, "ADA@example.com", second, "new password").Want(200)
		resetPassword(s, "ada@example.com", second, "newer password").Want(400) // a token works once

		// A reset revokes all earlier credentials.
		s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(401)
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(401)
		s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(401)
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "ada@example.com", "password": "new password"}).Want(200)
		apptest.Eventually(t, "the mail about the change", func() bool { return len(s.Mails("ada@example.com")) == 3 })

		expired := resetToken(s, "ada@example.com")
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "60m"}).Want(200)
		resetPassword(s, "ada@example.com", expired, "newest password").Want(400)
	})
}

// The response does not reveal whether an account exists.
func TestForgotPasswordHidesAccounts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		ask := func(email string) apptest.Reply {
			return s.Call("POST", "/api/v1/auth/forgot-password", "", map[string]any{"email": email})
		}
		known, unknown := ask("ada@example.com").Want(200), ask("nobody@example.com").Want(200)
		if known.Text != unknown.Text {
			t.Errorf("%s with an account, %s without", known.Text, unknown.Text)
		}
		ask("nonsense").Want(422)
		apptest.Eventually(t, "the mail", func() bool { return len(s.Mails("ada@example.com")) == 1 })
		if n := len(s.Mails("nobody@example.com")); n != 0 {
			t.Errorf("%d mails to an unknown address, want 0", n)
		}
	})
}

// A link is not mailed to an address that the account gives up meanwhile.
func TestForgotPasswordDuringAnEmailChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", false)
		ada := s.UserID(o.Token)
		var asking sync.WaitGroup
		err := s.DB().Tx(t.Context(), func(ctx context.Context) error {
			if _, err := s.DB().Conn(ctx).ExecContext(ctx, "UPDATE users SET email = 'new@example.com' WHERE id = $1", ada); err != nil {
				return err
			}
			asking.Go(func() {
				s.Call("POST", "/api/v1/auth/forgot-password", "", map[string]any{"email": "ada@example.com"}).Want(200)
			})
			time.Sleep(2 * time.Second) // the job finds the account and waits for its lock
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		asking.Wait()
		s.AwaitJobs()
		if n := s.CountRows("SELECT count(*) FROM password_resets"); n != 0 || len(s.Mails("ada@example.com")) != 0 {
			t.Errorf("%d tokens, mails %v", n, s.Mails("ada@example.com"))
		}
	})
}

// If a reset token is used concurrently, exactly one request sets the password.
func TestResetTokenWorksOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		token := resetToken(s, "ada@example.com")
		statuses := make([]int, 10)
		var wg sync.WaitGroup
		for i := range statuses {
			wg.Go(func() { statuses[i] = resetPassword(s, "ada@example.com", token, "new password").Status })
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
