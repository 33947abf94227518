package tenantrytest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/client/webhook"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Now returns the time of the service: the system time plus the durations of all [Server.Advance]
// calls.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clock.System().Now().Add(s.ahead)
}

// Advance moves the service's clock forward and waits until all due work is done: renewals,
// payments and their retries, emails. Sessions expire; clients log in again.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	s.move(d)
	s.settle()
}

// move moves the clock. Callers of Now wait until the move is complete.
func (s *Server) move(d time.Duration) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sandboxCall(http.MethodPost, "/sandbox/clock", map[string]string{"advance": d.String()}, nil)
	s.ahead += d
}

// settle waits until the payment provider has done all due work and the service has handled its
// notifications.
func (s *Server) settle() {
	s.t.Helper()
	now := s.Now().Unix()
	s.eventually("the due work at the payment provider", func() bool {
		return s.count(s.sandbox, `SELECT count(*) FROM stripe_timers WHERE at <= $1`, now) == 0
	})
	s.eventually("the end of its notifications", func() bool {
		var told struct {
			Data struct {
				Pending int `json:"pending"`
			} `json:"data"`
		}
		s.sandboxCall(http.MethodGet, "/sandbox/stripe/replay", nil, &told)
		return told.Data.Pending == 0 && s.count(s.db, `SELECT count(*) FROM psp_events WHERE handled_at IS NULL`) == 0
	})
}

// Mail is an email that the service has sent.
type Mail struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// Mail returns the emails to an address, newest first. Emails are sent in the background: see
// [Server.AwaitMail].
func (s *Server) Mail(to string) []Mail {
	s.t.Helper()
	var answer struct {
		Data []Mail `json:"data"`
	}
	s.sandboxCall(http.MethodGet, "/sandbox/mail/messages", nil, &answer)
	return slices.DeleteFunc(answer.Data, func(m Mail) bool { return m.To != to })
}

// AwaitMail waits until wanted returns true for an email to the address. It returns the newest such
// email.
func (s *Server) AwaitMail(to string, wanted func(Mail) bool) Mail {
	s.t.Helper()
	var found Mail
	s.eventually("a mail to "+to, func() bool {
		mails := s.Mail(to)
		i := slices.IndexFunc(mails, wanted)
		if i >= 0 {
			found = mails[i]
		}
		return i >= 0
	})
	return found
}

// Endpoint creates a webhook endpoint of the platform, which receives the events of all tenants,
// and returns its secret. url can be the URL of a server in the test. If types is empty, the
// endpoint receives all types.
func (s *Server) Endpoint(url string, types ...api.WebhookEventType) (secret string) {
	s.t.Helper()
	events := []string{"*"}
	if len(types) > 0 {
		events = nil
	}
	for _, one := range types {
		events = append(events, string(one))
	}
	answer, err := s.Admin().CreatePlatformWebhookEndpoint(s.context(), api.CreatePlatformWebhookEndpointRequest{URL: url, Events: events})
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.Data.Secret
}

// Webhooks collects the events that an endpoint has received.
type Webhooks struct {
	s *Server

	mu     sync.Mutex
	events []webhook.Event
}

// Webhooks starts to receive the events of all tenants. If types is empty, it receives all types.
// It verifies the signatures.
func (s *Server) Webhooks(types ...api.WebhookEventType) *Webhooks {
	s.t.Helper()
	w := &Webhooks{s: s}
	secret := make(chan string, 1) // the first event can arrive before the secret is known
	receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		known := <-secret
		secret <- known
		receive, err := webhook.NewHandler(known, w.take)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		receive.ServeHTTP(rw, r)
	}))
	s.t.Cleanup(receiver.Close)
	secret <- s.Endpoint(receiver.URL, types...)
	return w
}

func (w *Webhooks) take(_ context.Context, e webhook.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.ContainsFunc(w.events, func(other webhook.Event) bool { return other.ID == e.ID }) {
		w.events = append(w.events, e)
	}
	return nil
}

// All returns the received events, each once, in the order of arrival.
func (w *Webhooks) All() []webhook.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// Await waits for an event of the type for the tenant with the id. It returns the first such event.
func (w *Webhooks) Await(kind api.WebhookEventType, tenant string) webhook.Event {
	w.s.t.Helper()
	var found webhook.Event
	w.s.eventually("the webhook "+string(kind), func() bool {
		all := w.All()
		i := slices.IndexFunc(all, func(e webhook.Event) bool { return e.Type == kind && e.Tenant == tenant })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// sandboxCall sends a request to the sandbox and decodes the response into out, unless out is nil.
func (s *Server) sandboxCall(method, path string, in, out any) {
	s.t.Helper()
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			s.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(s.context(), method, s.URL+path, &body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := noRedirects.Do(r)
	text := s.want(resp, err, http.StatusOK)
	if out == nil {
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		s.t.Fatalf("tenantrytest: %s: %v", path, err)
	}
}

// eventually waits up to a minute, because test machines are often busy.
func (s *Server) eventually(what string, look func() bool) {
	s.t.Helper()
	pause := 2 * time.Millisecond
	for waited := time.Duration(0); waited < time.Minute; waited += pause {
		if look() {
			return
		}
		time.Sleep(pause)
		pause = min(pause*5/4, 40*time.Millisecond)
	}
	s.t.Fatalf("tenantrytest: timed out waiting for %s", what)
}

func (s *Server) count(db *sqldb.DB, query string, args ...any) int {
	s.t.Helper()
	var n int
	if err := db.Conn(s.context()).QueryRowContext(s.context(), query, args...).Scan(&n); err != nil {
		s.t.Fatalf("tenantrytest: %v", err)
	}
	return n
}
