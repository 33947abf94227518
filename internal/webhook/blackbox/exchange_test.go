package blackbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// anyDelivery is the path of a delivery to any endpoint.
func anyDelivery(id string) string { return "/api/v1/admin/webhook-deliveries/" + id }

// sendTest sends a test event to an endpoint and returns the path of the delivery after its first
// attempt.
func sendTest(s *apptest.Server, token, path string) (delivery, id string) {
	s.T.Helper()
	id = s.Call("POST", path+"/test", token, nil).Want(202).Str("data.id")
	delivery = path + "/deliveries/" + id
	apptest.Eventually(s.T, "an attempt", func() bool {
		return s.Call("GET", delivery, token, nil).Want(200).At("data.attempts.0") != nil
	})
	return delivery, id
}

// A delivery shows the request of its last attempt, byte for byte, and the response.
func TestDeliveryShowsItsMessages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		var sent atomic.Pointer[http.Request]
		r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
			sent.Store(req)
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Set-Cookie", "session=secret")
			w.Header().Set("Authorization", "Bearer secret")
			w.Header().Add("X-Many", "one")
			w.Header().Add("X-Many", "two")
			w.WriteHeader(201)
			_, _ = w.Write([]byte("thank \xff you\x00"))
		})
		path, secret := endpoint(s, ada, r.url+"/in?shop=1", "*")
		delivery, id := sendTest(s, ada.Token, path)
		one := s.Call("GET", delivery, ada.Token, nil).Want(200).
			WantAt("data.id", id).WantAt("data.status", "delivered").WantAt("data.type", "webhook.test").WantAt("data.next_attempt_at", nil).
			WantAt("data.request.url", r.url+"/in?shop=1").WantAt("data.attempts.0.status_code", float64(201)).
			WantAt("data.attempts.0.response.body", "thank \ufffd you\x00").WantAt("data.attempts.0.response.truncated", false).
			WantAt("data.attempts.0.response.headers.content-type", "text/plain").WantAt("data.attempts.0.response.headers.x-many", "one, two").
			WantAt("data.attempts.0.response.headers.set-cookie", nil).WantAt("data.attempts.0.response.headers.authorization", nil)
		m := r.got()[0]
		if got := one.Str("data.request.body"); got != string(m.body) {
			t.Errorf("the body was\n%s, not\n%s", m.body, got)
		}
		headers := one.At("data.request.headers").(map[string]any)
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature", "content-type", "user-agent"} {
			if headers[name] == nil || headers[name] != sent.Load().Header.Get(name) {
				t.Errorf("%s was %q, want %v", name, sent.Load().Header.Get(name), headers[name])
			}
		}
		if at, _ := time.Parse(time.RFC3339, m.event["timestamp"].(string)); at.IsZero() || secret == "" {
			t.Errorf("%v", m.event)
		}
		list := deliveries(s, ada.Token, path, "")
		if list.At("data.0.request") != nil || list.At("data.0.attempts.0.response") != nil {
			t.Errorf("the list has messages: %v", list.At("data.0"))
		}

		admin := s.Admin()
		s.Call("GET", anyDelivery(id), admin, nil).Want(200).
			WantAt("data.request.body", string(m.body)).WantAt("data.attempts.0.response.truncated", false).
			WantAt("data.tenant.id", ada.Tenant).WantAt("data.endpoint.url", r.url+"/in?shop=1")
		s.Call("POST", anyDelivery(id)+"/resend", admin, nil).Want(202).WantAt("data.id", id).WantAt("data.status", "pending")
		r.await(2)
		s.Call("GET", "/api/v1/admin/audit-logs?filter[action]=webhook_endpoint.resent", admin, nil).Want(200).
			WantAt("data.0.tenant_id", ada.Tenant).WantAt("data.0.after.delivery", id)
	})
}

// The first 16 KiB of a body and at most 8 KiB of headers are stored.
func TestResponsesAreTruncated(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		const full = 16 << 10
		for name, tt := range map[string]struct {
			body      string
			header    int // length of a header's value
			want      string
			truncated bool
		}{
			"exactly":      {strings.Repeat("x", full), 0, strings.Repeat("x", full), false},
			"one more":     {strings.Repeat("x", full+1), 0, strings.Repeat("x", full), true},
			"split":        {strings.Repeat("x", full-1) + "é", 0, strings.Repeat("x", full-1), true},
			"very long":    {strings.Repeat("y", 1<<20), 0, strings.Repeat("y", full), true},
			"empty":        {"", 0, "", false},
			"long header":  {"", 7000, "", false},
			"large header": {"", 9000, "", true},
		} {
			r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
				if tt.header > 0 {
					w.Header().Set("X-Long", strings.Repeat("h", tt.header))
				}
				_, _ = w.Write([]byte(tt.body))
			})
			path, _ := endpoint(s, ada, r.url, "*")
			delivery, _ := sendTest(s, ada.Token, path)
			one := s.Call("GET", delivery, ada.Token, nil).Want(200)
			if got := one.Str("data.attempts.0.response.body"); got != tt.want || one.At("data.attempts.0.response.truncated") != tt.truncated {
				t.Errorf("%s: %d bytes, truncated is %v", name, len(got), one.At("data.attempts.0.response.truncated"))
			}
			if stored := one.At("data.attempts.0.response.headers.x-long") != nil; stored != (tt.header > 0 && tt.header < 8<<10) {
				t.Errorf("%s: the header is stored: %t", name, stored)
			}
			s.Call("DELETE", path, ada.Token, nil).Want(204)
		}
		if n := s.CountRows(`SELECT count(*) FROM webhook_exchanges`); n != 0 {
			t.Errorf("%d exchanges have no endpoint", n)
		}
	})
}

// The last ten attempts have responses. An attempt without a response has null. The request has the
// URL that the last attempt used.
func TestLastTenResponses(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		var n atomic.Int32
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "answer ", n.Add(1)) })
		path, _ := endpoint(s, ada, r.url, "*")
		delivery, _ := sendTest(s, ada.Token, path)
		for i := 2; i <= 11; i++ {
			s.Call("POST", delivery+"/resend", ada.Token, nil).Want(202)
			awaitAttempts(s, path, i)
		}
		s.Call("PATCH", path, ada.Token, apptest.Object{"url": "http://127.0.0.1:1/closed"}).Want(200)
		s.Call("GET", delivery, ada.Token, nil).Want(200).WantAt("data.request.url", r.url)
		s.Call("POST", delivery+"/resend", ada.Token, nil).Want(202)
		awaitAttempts(s, path, 12)
		one := s.Call("GET", delivery, ada.Token, nil).Want(200).
			WantAt("data.request.url", "http://127.0.0.1:1/closed").WantAt("data.attempts.11.response", nil).WantAt("data.attempts.11.error", "connection_failed")
		for i, a := range one.At("data.attempts").([]any)[:11] {
			got, _ := a.(map[string]any)["response"].(map[string]any)
			if i < 2 && got != nil || i >= 2 && got["body"] != fmt.Sprint("answer ", i+1) {
				t.Errorf("attempt %d: %v", i+1, got)
			}
		}
		if n := s.CountRows(`SELECT count(*) FROM webhook_exchanges`); n != 10 {
			t.Errorf("%d exchanges are stored", n)
		}
	})
}

// Without an attempt, request is null. Deliveries of other tenants are not found.
func TestDeliveryWithoutAttempt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		admin := s.Admin()
		path, _ := endpoint(s, ada, "http://127.0.0.1:1", "*")
		s.Call("PATCH", path, ada.Token, apptest.Object{"enabled": false}).Want(200)
		id := s.Call("POST", path+"/test", ada.Token, nil).Want(202).Str("data.id")
		s.Call("GET", path+"/deliveries/"+id, ada.Token, nil).Want(200).WantAt("data.request", nil).WantAt("data.status", "failed")
		s.Call("GET", anyDelivery(id), admin, nil).Want(200).WantAt("data.request", nil)
		other, _ := endpoint(s, bob, "http://127.0.0.1:1", "*")
		for _, stranger := range []string{other + "/deliveries/" + id, other + "/deliveries/x"} {
			s.Call("GET", stranger, bob.Token, nil).Want(404)
		}
		s.Call("GET", path+"/deliveries/"+id, bob.Token, nil).Want(403)
		for _, unknown := range []string{"x", "00000000-0000-7000-8000-000000000000"} {
			s.Call("GET", anyDelivery(unknown), admin, nil).Want(404)
			s.Call("POST", anyDelivery(unknown)+"/resend", admin, nil).Want(404)
		}
		s.Call("GET", anyDelivery(id), ada.Token, nil).Want(403)
		own := s.Call("POST", platform, admin, apptest.Object{"url": "http://127.0.0.1:1", "events": []string{"*"}, "description": nil}).Want(201).Str("data.id")
		s.Call("PATCH", platform+"/"+own, admin, apptest.Object{"enabled": false}).Want(200)
		id = s.Call("POST", platform+"/"+own+"/test", admin, nil).Want(202).Str("data.id")
		s.Call("GET", platform+"/"+own+"/deliveries/"+id, admin, nil).Want(200).WantAt("data.id", id)
		s.Call("GET", anyDelivery(id), admin, nil).Want(200).WantAt("data.tenant", nil).WantAt("data.endpoint.id", own)
		s.Call("POST", anyDelivery(id)+"/resend", admin, nil).Want(202)
	})
}

// With the setting off, no response is stored. Deleting a delivery also deletes its exchanges.
func TestResponsesAreOff(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		r := newReceiver(t, nil)
		path, _ := endpoint(s, ada, r.url, "*")
		delivery, id := sendTest(s, ada.Token, path)
		s.Call("GET", delivery, ada.Token, nil).Want(200).
			WantAt("data.request.body", string(r.got()[0].body)).WantAt("data.attempts.0.response", nil).WantAt("data.attempts.0.status_code", float64(200))
		s.Advance(31 * apptest.Day)
		apptest.Eventually(t, "the end of the delivery", func() bool {
			return s.CountRows(`SELECT count(*) FROM webhook_deliveries WHERE id = $1`, id) == 0
		})
		if n := s.CountRows(`SELECT count(*) FROM webhook_exchanges WHERE delivery_id = $1`, id); n != 0 {
			t.Errorf("%d exchanges are left", n)
		}
	}, func(s *settings.Settings) { s.NoWebhookResponses = true })
}
