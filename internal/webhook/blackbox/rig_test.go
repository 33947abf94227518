package blackbox_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/webhook"
)

// platform is the path of the platform's endpoints.
const platform = "/api/v1/admin/webhook-endpoints"

// message is a message received by a receiver.
type message struct {
	path, id, timestamp, signature string
	body                           []byte
	event                          apptest.Object
}

func (m message) kind() string { kind, _ := m.event["type"].(string); return kind }

// data returns a field of the event's resource.
func (m message) data(key string) any {
	data, _ := m.event["data"].(map[string]any)
	return data[key]
}

// receiver is an external endpoint.
type receiver struct {
	t      testing.TB
	url    string
	answer func(w http.ResponseWriter, r *http.Request)

	mu       sync.Mutex
	messages []message
}

// newReceiver starts a receiver. A nil answer responds with 200.
func newReceiver(t testing.TB, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer}
	web := httptest.NewServer(r)
	r.url = web.URL
	t.Cleanup(web.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	m := message{path: req.URL.Path, id: req.Header.Get("webhook-id"), timestamp: req.Header.Get("webhook-timestamp"), signature: req.Header.Get("webhook-signature"), body: body}
	if err := json.Unmarshal(body, &m.event); err != nil {
		r.t.Errorf("%s: %v", body, err)
	}
	if err := checkDescribed(m.event); err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	r.messages = append(r.messages, m)
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, req)
	}
}

// got returns the messages received so far, optionally filtered by type.
func (r *receiver) got(kinds ...string) []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []message
	for _, m := range r.messages {
		if len(kinds) == 0 || slices.Contains(kinds, m.kind()) {
			list = append(list, m)
		}
	}
	return list
}

// await waits for n messages of the given types and returns all of them.
func (r *receiver) await(n int, kinds ...string) []message {
	r.t.Helper()
	apptest.Eventually(r.t, strings.Join(kinds, ", "), func() bool { return len(r.got(kinds...)) >= n })
	return r.got(kinds...)
}

// find waits for a message of a type that satisfies wanted, and returns the first one.
func (r *receiver) find(kind string, wanted func(m message) bool) (found message) {
	r.t.Helper()
	apptest.Eventually(r.t, kind, func() bool {
		for _, m := range r.got(kind) {
			if wanted(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// wantKinds waits for the expected number of messages of each type, and fails if there are more.
func (r *receiver) wantKinds(want map[string]int) {
	r.t.Helper()
	for kind, n := range want {
		r.await(n, kind)
	}
	if diff := cmp.Diff(want, kinds(r.got())); diff != "" {
		r.t.Error(diff)
	}
}

// endpoint creates an endpoint of a tenant and returns its path and secret.
func endpoint(s *apptest.Server, o apptest.Owner, url string, events ...string) (path, secret string) {
	s.T.Helper()
	a := s.Call("POST", o.Path("/webhook-endpoints"), o.Token, apptest.Object{"url": url, "events": events}).Want(201)
	return o.Path("/webhook-endpoints/") + a.Str("data.id"), a.Str("data.secret")
}

// signed reports whether secret signed the message.
func (m message) signed(secret string, at int64) bool {
	return slices.Contains(strings.Fields(m.signature), webhook.Signature(secret, m.id, at, m.body))
}

// deliveries lists the deliveries of an endpoint.
func deliveries(s *apptest.Server, token, path, query string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", path+"/deliveries"+query, token, nil).Want(200)
}

// awaitStatus waits until the newest delivery of an endpoint has the status and number of attempts.
func awaitStatus(s *apptest.Server, token, path, status string, attempts int) apptest.Reply {
	s.T.Helper()
	var list apptest.Reply
	apptest.Eventually(s.T, status, func() bool {
		list = deliveries(s, token, path, "")
		made, _ := list.At("data.0.attempts").([]any)
		return list.At("data.0.status") == status && len(made) == attempts
	})
	return list
}

// answers returns a handler that responds with the status.
func answers(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// long exceeds the duration of any test.
const long = time.Minute
