package blackbox_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The Standard Webhooks library accepts our messages and rejects modified ones.
func TestStandardLibraryVerifiesTokens(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		verified := make(chan error, 10)
		var secret atomic.Value
		r := newReceiver(t, nil)
		r.answer = func(_ http.ResponseWriter, req *http.Request) {
			verifier, err := standardwebhooks.NewWebhook(secret.Load().(string))
			if err == nil {
				m := r.got()[len(r.got())-1]
				if err = verifier.Verify(m.body, req.Header); err == nil && verifier.Verify(append(m.body, ' '), req.Header) == nil {
					err = fmt.Errorf("another body is accepted as well")
				}
			}
			verified <- err
		}
		path, first := endpoint(s, ada, r.url, "*")
		secret.Store(first)
		send := func() {
			t.Helper()
			s.Call("POST", path+"/test", ada.Token, nil).Want(202)
			select {
			case err := <-verified:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(long):
				t.Fatal("no message was received")
			}
		}
		send()
		next := s.Call("POST", path+"/rotate-secret", ada.Token, nil).Want(200).Str("data.secret")
		send() // signed with the old secret too
		secret.Store(next)
		send()
	})
}

// A failing delivery is attempted ten times on the documented schedule, always with the same ID.
func TestRetries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		r := newReceiver(t, answers(500))
		path, _ := endpoint(s, ada, r.url, "*")
		s.Call("POST", path+"/test", ada.Token, nil).Want(202)
		delays := []time.Duration{
			5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
		}
		for i, delay := range delays {
			list := awaitAttempts(s, path, i+1)
			// Single-digit indexes are enough: there are at most nine.
			last := "data.0.attempts." + strconv.Itoa(i)
			list.WantAt("data.0.status", "pending").WantAt(last+".status_code", float64(500)).WantAt(last+".error", nil)
			at, next := list.TimeAt(last+".at"), list.TimeAt("data.0.next_attempt_at")
			if got := next.Sub(at); got < delay*8/10 || got > delay*12/10 {
				t.Errorf("after attempt %d it waits %s, want %s", i+1, got, delay)
			}
			s.AdvanceTo(next.Add(time.Second))
		}
		awaitAttempts(s, path, 10).WantAt("data.0.status", "failed").WantAt("data.0.next_attempt_at", nil)
		all := r.got()
		for _, m := range all {
			if len(all) != 10 || m.id != all[0].id || string(m.body) != string(all[0].body) {
				t.Errorf("%d messages, one is %s: %s", len(all), m.id, m.body)
			}
		}
		// Resending restarts the schedule.
		token := s.LogIn("ada@example.com")
		r.answer = answers(204)
		delivery := deliveries(s, token, path, "").Str("data.0.id")
		s.Call("POST", path+"/deliveries/"+delivery+"/resend", token, nil).Want(202).WantAt("data.id", delivery).WantAt("data.status", "pending")
		again := awaitAttempts(s, path, 11).WantAt("data.0.status", "delivered")
		if last := again.At("data.0.attempts").([]any)[10].(map[string]any); last["status_code"] != float64(204) {
			t.Errorf("the last attempt is %v", last)
		}
		s.Call("POST", path+"/deliveries/"+delivery+"/resend", token, nil).Want(202)
		awaitAttempts(s, path, 12)
		s.Call("POST", path+"/deliveries/"+apptest.NoSuchID+"/resend", token, nil).WantRefused(404, "")
		// The delivery is deleted after a month.
		s.Advance(31 * apptest.Day)
		token = s.LogIn("ada@example.com")
		apptest.Eventually(t, "the end of the delivery", func() bool {
			return deliveries(s, token, path, "").At("meta.total") == float64(0)
		})
	})
}

// awaitAttempts waits until the only delivery of Ada's endpoint has n attempts.
func awaitAttempts(s *apptest.Server, path string, n int) apptest.Reply {
	s.T.Helper()
	token := s.LogIn("ada@example.com")
	var list apptest.Reply
	apptest.Eventually(s.T, fmt.Sprint(n, " attempts"), func() bool {
		list = deliveries(s, token, path, "")
		made, _ := list.At("data.0.attempts").([]any)
		return len(made) == n
	})
	return list
}

// These responses count as failures, and these addresses are rejected.
func TestFailures(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		elsewhere := newReceiver(t, nil)
		large := strings.Repeat("x", 1<<20)
		r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
			switch req.URL.Path {
			case "/redirect":
				http.Redirect(w, req, elsewhere.url, http.StatusTemporaryRedirect)
			case "/large":
				_, _ = w.Write([]byte(large))
			case "/broken":
				panic(http.ErrAbortHandler)
			}
		})
		for path, want := range map[string]struct {
			status string
			code   any
			error  any
		}{
			r.url + "/redirect":                        {"pending", float64(307), nil},
			r.url + "/large":                           {"delivered", float64(200), nil},
			r.url + "/broken":                          {"pending", nil, "connection_failed"},
			"http://127.0.0.1:1/":                      {"pending", nil, "connection_failed"},
			"http://nowhere.invalid/":                  {"pending", nil, "address_not_allowed"},
			strings.Replace(r.url, "http", "https", 1): {"pending", nil, "tls_failed"},
		} {
			one, _ := endpoint(s, ada, path, "invoice.paid")
			s.Call("POST", one+"/test", ada.Token, nil).Want(202)
			var list apptest.Reply
			apptest.Eventually(t, path, func() bool {
				list = deliveries(s, ada.Token, one, "")
				return list.At("data.0.attempts.0") != nil
			})
			list.As(path).WantAt("data.0.status", want.status).WantAt("data.0.attempts.0.status_code", want.code).WantAt("data.0.attempts.0.error", want.error)
			s.Call("DELETE", one, ada.Token, nil).Want(204)
		}
		if n := len(elsewhere.got()); n != 0 {
			t.Errorf("%d redirects were followed", n)
		}
		if n := s.CountRows(`SELECT count(*) FROM webhook_deliveries`); n != 0 {
			t.Errorf("%d deliveries are left of deleted endpoints", n)
		}
	})
}

// An endpoint that answers 410 receives nothing more until it is enabled again.
func TestGone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		r := newReceiver(t, answers(http.StatusGone))
		path, _ := endpoint(s, ada, r.url, "*")
		since := s.Now().Add(-time.Minute)
		s.Call("POST", path+"/test", ada.Token, nil).Want(202)
		awaitStatus(s, ada.Token, path, "failed", 1).WantAt("data.0.next_attempt_at", nil)
		s.Call("GET", path, ada.Token, nil).Want(200).WantAt("data.enabled", false).WantAt("data.disabled_reason", "gone")
		if len(s.Mails("ada@example.com")) != 0 {
			t.Error("owner got a mail although the endpoint asked to be disabled")
		}
		// New events, test events and resends fail immediately.
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": "Other"}).Want(200)
		s.Call("POST", path+"/test", ada.Token, nil).Want(202).WantAt("data.status", "failed")
		list := deliveries(s, ada.Token, path, "?status=failed")
		list.WantAt("meta.total", float64(3)).WantAt("data.1.type", "tenant.updated").WantAt("data.1.attempts", []any{})
		s.Call("POST", path+"/deliveries/"+list.Str("data.1.id")+"/resend", ada.Token, nil).Want(202).WantAt("data.status", "failed")
		replay := func() apptest.Reply {
			return s.Call("POST", path+"/replay", ada.Token, apptest.Object{"since": since}).Want(202)
		}
		replay().WantAt("data.deliveries", float64(0))
		r.answer = nil
		s.Call("PATCH", path, ada.Token, apptest.Object{"enabled": true}).Want(200).WantAt("data.disabled_reason", nil)
		deliveries(s, ada.Token, path, "?status=failed").WantAt("meta.total", float64(3))
		replay().WantAt("data.deliveries", float64(3))
		r.await(4)
		apptest.Eventually(t, "the replay", func() bool { return deliveries(s, ada.Token, path, "?status=delivered").At("meta.total") == float64(3) })
		replay().WantAt("data.deliveries", float64(0))

		// The list can be filtered and paginated.
		deliveries(s, ada.Token, path, "?type=webhook.test").WantAt("meta.total", float64(2))
		part := deliveries(s, ada.Token, path, "?type=webhook.test&status=delivered&per_page=1&page=2")
		part.WantAt("meta.last_page", float64(2)).WantAt("links.next", nil)
		if prev := part.Str("links.prev"); !strings.HasPrefix(prev, s.URL+path+"/deliveries?") || !strings.Contains(prev, "type=webhook.test") {
			t.Errorf("the link is %s", prev)
		}
		for query, field := range map[string]string{"?status=lost": "status", "?type=lost": "type", "?page=0": "page", "?per_page=101": "per_page"} {
			s.Call("GET", path+"/deliveries"+query, ada.Token, nil).As(query).WantInvalid(field)
		}
		for what, since := range map[string]any{"too long ago": s.Now().Add(-31 * apptest.Day), "no time": "yesterday", "null": nil, "none": apptest.Absent} {
			s.Call("POST", path+"/replay", ada.Token, apptest.WithChanges(apptest.Object{"since": since})).As(what).WantInvalid("since")
		}
		s.Call("POST", path+"/replay", ada.Token, apptest.Object{"since": s.Now().Add(-30 * apptest.Day)}).Want(202)
	})
}

// An endpoint without a successful delivery for five days is disabled and its owner is mailed. An
// endpoint that is idle or had a success stays enabled.
func TestFiveDays(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"settings": apptest.Object{"locale": "it"}}).Want(200)
		bad, fine := newReceiver(t, answers(503)), newReceiver(t, nil)
		failing, _ := endpoint(s, ada, bad.url, "member.joined")
		idle, _ := endpoint(s, ada, fine.url+"/idle", "member.joined")
		mended, _ := endpoint(s, ada, bad.url+"/mended", "member.joined")
		for _, path := range []string{failing, mended} {
			s.Call("POST", path+"/test", ada.Token, nil).Want(202)
			awaitAttempts(s, path, 1)
		}
		s.Call("PATCH", mended, ada.Token, apptest.Object{"url": fine.url + "/mended"}).Want(200)
		s.Advance(119 * time.Hour)
		ada.Token = s.LogIn("ada@example.com")
		awaitStatus(s, ada.Token, mended, "delivered", 2)
		awaitAttempts(s, failing, 2).WantAt("data.0.status", "pending")
		s.Call("GET", failing, ada.Token, nil).Want(200).WantAt("data.enabled", true)
		s.Advance(2 * time.Hour)
		ada.Token = s.LogIn("ada@example.com")
		apptest.Eventually(t, "the end", func() bool {
			return s.Call("GET", failing, ada.Token, nil).Want(200).At("data.enabled") == false
		})
		s.Call("GET", failing, ada.Token, nil).WantAt("data.disabled_reason", "failing")
		deliveries(s, ada.Token, failing, "").WantAt("data.0.status", "failed").WantAt("data.0.next_attempt_at", nil)
		apptest.Eventually(t, "the mail", func() bool { return len(s.Mails("ada@example.com")) == 1 })
		if subject := s.Mails("ada@example.com")[0]["subject"]; subject != "Un endpoint webhook è stato disattivato" {
			t.Errorf("the mail is %q", subject)
		}
		for _, path := range []string{idle, mended} {
			s.Call("GET", path, ada.Token, nil).Want(200).WantAt("data.enabled", true)
		}
	})
}

// A hanging endpoint with a long queue does not delay other endpoints.
func TestHangingEndpointsDelayNoOthers(t *testing.T) {
	t.Parallel()
	apptest.OneInstance(t, "each instance limits its own deliveries")
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		end := make(chan struct{})
		hanging := newReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
			select {
			case <-end:
			case <-req.Context().Done():
			}
		})
		t.Cleanup(func() { close(end) })
		fine := newReceiver(t, nil)
		slow, _ := endpoint(s, ada, hanging.url, "tenant.updated")
		began := clock.System().Now()
		for i := range 40 {
			s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": fmt.Sprint("Acme ", i)}).Want(200)
		}
		hanging.await(16)
		path, _ := endpoint(s, ada, fine.url, "tenant.updated")
		for range 3 {
			s.Call("POST", path+"/test", ada.Token, nil).Want(202)
		}
		fine.await(3)
		// After 15 seconds on an overloaded machine, the first attempts time out and are retried.
		if n := len(hanging.got()); n != 16 && clock.System().Now().Sub(began) < 15*time.Second {
			t.Errorf("%d attempts to the hanging endpoint are running", n)
		}
		if got := deliveries(s, ada.Token, slow, "?status=pending").At("meta.total"); got != float64(40) {
			t.Errorf("%v deliveries are pending", got)
		}
	})
}
