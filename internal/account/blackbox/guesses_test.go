package blackbox_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// countsGuesses enables only the rate limits that apply to an account.
func countsGuesses(s *settings.Settings) {
	s.RateLimits = map[string]int{limit.LoginAccount: 10, limit.AccountMail: 1}
}

// Wrong passwords are counted per account, regardless of their source, even if the account does not
// exist. The limit also rejects the correct password, but not a delegated login. A reset clears the
// count.
func TestWrongPasswords(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		try := func(email, password string) apptest.Reply {
			return s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": password})
		}
		wait := func(a apptest.Reply) int {
			seconds, _ := strconv.Atoi(a.Want(429).Header.Get("Retry-After"))
			return seconds
		}
		for _, email := range []string{"ada@example.com", "nobody@example.com"} {
			for range 9 {
				try(email, "wrong password").WantRefused(401, "INVALID_CREDENTIALS")
			}
		}
		for range 3 { // correct passwords are not counted
			try("ADA@example.com", "correct horse").Want(200)
		}
		for _, email := range []string{"ada@example.com", "nobody@example.com"} {
			try(email, "wrong password").Want(401)
			if got := wait(try(email, "correct horse")); got < 50 || got > 60 {
				t.Errorf("%s: wait %d s", email, got)
			}
		}
		want := []int{120, 240, 480, 900, 900}
		for _, most := range want { // each further wrong password doubles the wait, up to 15 minutes
			s.Advance(time.Duration(wait(try("ada@example.com", "x"))) * time.Second)
			try("ada@example.com", "wrong password").Want(401)
			if got := wait(try("ada@example.com", "correct horse")); got > most || got < most-10 {
				t.Errorf("wait %d s, want %d", got, most)
			}
		}
		newCookieBrowser(s).logInAtSandbox("nobody@example.com", "Nobody") // not affected by the limit
		resetPassword(s, "ada@example.com", resetToken(s, "ada@example.com"), "a new password").Want(200)
		try("ada@example.com", "a new password").Want(200)

		// Concurrent guesses are limited like sequential ones.
		var checked atomic.Int64
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				if try("bob@example.com", "wrong password").Status == 401 {
					checked.Add(1)
				}
			})
		}
		wg.Wait()
		if n := checked.Load(); n != 10 {
			t.Errorf("%d of 30 concurrent guesses were checked", n)
		}
	}, countsGuesses)
}

// If the clock was set back, an account without guesses stays open, and an account with guesses is
// not closed for longer than the usual maximum.
func TestWrongPasswordsAndAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for email, guessed := range map[string]bool{"ada@example.com": false, "bob@example.com": true} {
			s.Register(email, false)
			s.LogIn(email)
			for range 10 {
				if guessed {
					s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": "wrong"}).Want(401)
				}
			}
			for _, ahead := range []time.Duration{10 * apptest.Day, time.Minute} {
				login := apptest.Object{"email": email, "password": "correct horse"}
				apptest.Exec(t, s.DB(), `UPDATE wrong_passwords SET began_at = $1, closed_until = $1`, s.Now().Add(ahead))
				want := 200
				if guessed && ahead == time.Minute {
					want = 429
				}
				if a := s.Call("POST", "/api/v1/auth/login", "", login); a.Status != want {
					t.Errorf("%s, %s back: %d %s", email, ahead, a.Status, a.Text)
				}
				if guessed {
					apptest.Exec(t, s.DB(), `UPDATE wrong_passwords SET count = 10`)
				}
			}
			apptest.Exec(t, s.DB(), `DELETE FROM wrong_passwords`)
		}
	}, countsGuesses)
}

// Without rate limits, wrong passwords are not counted.
func TestWrongPasswordsWithoutLimits(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		for range 15 {
			s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "ada@example.com", "password": "wrong password"}).Want(401)
		}
		s.LogIn("ada@example.com")
	})
}

// An address gets at most one reset mail per minute, and the response stays the same.
func TestResetMailsAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		first := s.Call("POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": "ada@example.com"}).Want(200)
		for range 20 {
			a := s.Call("POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": "ADA@example.com"}).Want(200)
			if a.Text != first.Text {
				t.Errorf("%s, and %s", first.Text, a.Text)
			}
		}
		s.Register("bob@example.com", false)
		resetToken(s, "bob@example.com") // Bob's mail is sent after the mails to Ada
		// Two mails are possible if the minute changes during the test.
		if n := len(s.Mails("ada@example.com")); n > 2 {
			t.Errorf("%d mails", n)
		}
	}, countsGuesses)
}

// Common passwords are rejected everywhere.
func TestCommonPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for _, p := range []string{"Password1", "qwertyuiop", "ILOVEYOU"} {
			s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("eve@example.com", apptest.Object{
				"password": p, "password_confirmation": p,
			})).WantInvalid("password")
		}
		resetPassword(s, "ada@example.com", resetToken(s, "ada@example.com"), "trustno1").WantInvalid("password")
		_, token := s.Invite(ada, "bob@example.com", "member")
		s.Call("POST", "/api/v1/invitations/"+token+"/accept-with-registration", "", apptest.Registration("bob@example.com", apptest.Object{
			"password": "football", "password_confirmation": "football",
		})).WantInvalid("password")
		s.Call("PATCH", "/api/v1/admin/tenants/"+ada.Tenant+"/members/"+apptest.IDText(float64(s.UserID(ada.Token))), s.Admin(),
			apptest.Object{"password": "princess"}).WantInvalid("password")
	})
}

// A login with the correct password that its caller aborts is not counted as a wrong one.
func TestAbortedLoginsAreNotCounted(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		login := apptest.Object{"email": "ada@example.com", "password": "correct horse"}
		try := func() int { return s.Call("POST", "/api/v1/auth/login", "", login).Status }
		began := clock.System().Now()
		if status := try(); status != 200 {
			t.Fatal(status)
		}
		took := clock.System().Now().Sub(began)
		for i := range 60 {
			ctx, cancel := context.WithTimeout(t.Context(), took*time.Duration(i%20+1)/20)
			if answer, err := http.DefaultClient.Do(s.NewRequest("POST", "/api/v1/auth/login", "", login).WithContext(ctx)); err == nil {
				answer.Body.Close()
			}
			cancel()
		}
		began = clock.System().Now()
		apptest.Eventually(t, "a login after the aborted ones", func() bool { return try() == 200 })
		if waited := clock.System().Now().Sub(began); waited > 50*time.Second {
			t.Errorf("the account was closed: waited %s", waited)
		}
	}, countsGuesses)
}
