package blackbox_test

import (
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// together calls f concurrently with 0 to n-1, and counts the statuses that f returns.
func together(n int, f func(i int) int) map[int]int {
	results := make([]int, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { results[i] = f(i) })
	}
	group.Wait()
	statuses := map[int]int{}
	for _, status := range results {
		statuses[status]++
	}
	return statuses
}

// Of concurrent logins with one code, one succeeds.
func TestEmailCodeWorksOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for _, verify := range []bool{false, true} { // the first login also claims the account
			if verify {
				s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(401)
			}
			request, code := requestCode(s, "ada@example.com")
			got := together(5, func(int) int { return enterCode(s, request, code).Status })
			if got[200] != 1 || got[401] != 4 {
				t.Errorf("%v", got)
			}
		}
	}, allMethods)
}

// Concurrent attempts share the limit of five: after five attempts, even the correct code is not
// checked.
func TestAttemptsAtACodeAreLimitedTogether(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", true)
		request, code := requestCode(s, "ada@example.com")
		got := together(12, func(int) int { return enterCode(s, request, otherThan(code)).Status })
		if got[401] != 12 {
			t.Errorf("%v", got)
		}
		if n := s.CountRows("SELECT attempts FROM email_codes WHERE code_hash IS NOT NULL"); n != 5 {
			t.Errorf("%d attempts", n)
		}
		enterCode(s, request, code).WantRefused(401, "INVALID_CREDENTIALS")
	}, allMethods)
}

// Of concurrent requests for an address, only one leads to a mail, and the code in the mail works.
func TestConcurrentRequestsOfCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		s.Register(email, true)
		requests := make([]string, 8)
		together(len(requests), func(i int) int {
			a := askForCode(s, email)
			requests[i] = a.Str("data.request_id")
			return a.Status
		})
		code := awaitCode(s, email, 1)
		works := 0
		for _, request := range requests {
			if enterCode(s, request, code).Status == 200 {
				works++
			}
		}
		if n := len(mailedCodes(s, email)); n != 1 || works != 1 {
			t.Errorf("%d mails, %d logins", n, works)
		}
	}, allMethods, withLimits)
}

// A login with a code during a password change is ended by the change, or is rejected.
func TestEmailCodeDuringAPasswordChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "ada@example.com"
		ada := s.Register(email, true)
		s.VerifyEmail(ada.Token, email)
		password := apptest.AdaLogin["password"]
		for range 4 {
			request, code := requestCode(s, email)
			token := s.LogIn(email)
			var login apptest.Reply
			together(2, func(i int) int {
				if i == 0 {
					login = enterCode(s, request, code)
					return login.Status
				}
				return s.Call("PUT", "/api/v1/user/password", token, apptest.Object{"current_password": password, "password": password, "password_confirmation": password}).Status
			})
			if login.Status == 200 {
				s.Call("GET", "/api/v1/auth/me", login.Str("accessToken"), nil).WantRefused(401, "")
			} else {
				login.WantRefused(401, "INVALID_CREDENTIALS")
			}
		}
	}, allMethods)
}

// Expired requests are deleted an hour later, when they no longer count.
func TestOldEmailCodesAreDeleted(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", true)
		requestCode(s, "ada@example.com")
		askForCode(s, "unknown@example.com").Want(202)
		if n := s.CountRows("SELECT count(*) FROM email_codes"); n != 2 {
			t.Errorf("%d rows", n)
		}
		s.Advance(3 * time.Hour)
		apptest.Eventually(t, "the deletion", func() bool { return s.CountRows("SELECT count(*) FROM email_codes") == 0 })
	}, allMethods)
}
