package psp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/sandbox/clock"
)

const (
	oldSecret = "whsec_old"
	newSecret = "whsec_new"
)

// mailbox is a receiver with its own database.
type mailbox struct {
	*inbox.Receiver
	db    *sqldb.DB
	queue *jobs.Queue
	clock *clock.Adjustable
}

func newInbox(t *testing.T, db *sqldb.DB, client *psp.Client) *mailbox {
	t.Helper()
	if client == nil {
		var err error
		if client, err = psp.NewClient(psp.Config{SecretKey: testKey}); err != nil {
			t.Fatal(err)
		}
	}
	c := clock.NewAdjustable(clock.System(), 0)
	queue := jobs.New(jobs.Deps{DB: db, Clock: c, Lease: clock.System()})
	receiver, err := inbox.NewReceiver(inbox.ReceiverDeps{
		DB: db, Jobs: queue, Client: client, Clock: c, Secrets: []string{oldSecret, newSecret},
	})
	if err != nil {
		t.Fatal(err)
	}
	queue.Lane(inbox.Lane).Handle(inbox.JobEvent, receiver.HandleEvent)
	return &mailbox{receiver, db, queue, c}
}

// run processes jobs until the test ends.
func (i *mailbox) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- i.queue.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("jobs: %v", err)
		}
	})
}

// count runs a query that returns one number.
func (i *mailbox) count(t *testing.T, query string) int {
	t.Helper()
	var n int
	if err := i.db.Conn(t.Context()).QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (i *mailbox) stored(t *testing.T) int {
	t.Helper()
	return i.count(t, "SELECT count(*) FROM psp_events")
}

func (i *mailbox) waiting(t *testing.T) int {
	t.Helper()
	return i.count(t, "SELECT count(*) FROM jobs WHERE kind = 'psp.event'")
}

func (i *mailbox) handled(t *testing.T) int {
	t.Helper()
	return i.count(t, "SELECT count(*) FROM psp_events WHERE handled_at IS NOT NULL")
}

func (i *mailbox) deliver(ctx context.Context, body, signature string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/webhooks/stripe", strings.NewReader(body))
	if signature != "" {
		r.Header.Set("Stripe-Signature", signature)
	}
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w
}

func sign(body, secret string, age time.Duration) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{
		Payload: []byte(body), Secret: secret, Timestamp: clock.System().Now().Add(-age),
	}).Header
}

func eventJSON(id, kind, objectID string) string {
	return fmt.Sprintf(`{"id": %q, "object": "event", "api_version": "2020-08-27", "type": %q,
		"data": {"object": {"id": %q, "object": "subscription"}}}`, id, kind, objectID)
}

func TestNotificationsThatAreAnswered(t *testing.T) {
	t.Parallel()
	valid := eventJSON("evt_1", "customer.subscription.updated", "sub_1")
	live := strings.Replace(valid, `"object": "event"`, `"object": "event", "livemode": true`, 1)
	large := strings.Repeat(" ", 1<<20) + valid
	const upcoming = `{"id": "evt_1", "object": "event", "type": "invoice.upcoming",
		"data": {"object": {"object": "invoice", "amount_due": 2000, "billing_reason": "upcoming", "customer": "cus_1", "status": "draft"}}}`
	preview := eventJSON("evt_1", "invoice.upcoming", "upcoming_in_1")
	tests := map[string]struct {
		body, signature string
		status          int
		stored          int
	}{
		"signed":                       {valid, sign(valid, oldSecret, 0), 200, 1},
		"signed by the second secret":  {valid, sign(valid, newSecret, 0), 200, 1},
		"signed two minutes ago":       {valid, sign(valid, oldSecret, 2*time.Minute), 200, 1},
		"signed six minutes ago":       {valid, sign(valid, oldSecret, 6*time.Minute), 400, 0},
		"signed in four minutes":       {valid, sign(valid, oldSecret, -4*time.Minute), 200, 1},
		"signed in ten minutes":        {valid, sign(valid, oldSecret, -10*time.Minute), 400, 0},
		"signed in a thousand years":   {valid, sign(valid, oldSecret, -290*365*24*time.Hour), 400, 0},
		"of live mode":                 {live, sign(live, oldSecret, 0), 400, 0},
		"signed by a stranger":         {valid, sign(valid, "whsec_other", 0), 400, 0},
		"signed by the empty secret":   {valid, sign(valid, "", 0), 400, 0},
		"signed for another body":      {valid, sign(valid+" ", oldSecret, 0), 400, 0},
		"not signed":                   {valid, "", 400, 0},
		"a signature of another form":  {valid, "t=now", 400, 0},
		"too large":                    {large, sign(large, oldSecret, 0), 413, 0},
		"not JSON":                     {"hello", sign("hello", oldSecret, 0), 400, 0},
		"not an event":                 {`{"object": "invoice"}`, sign(`{"object": "invoice"}`, oldSecret, 0), 400, 0},
		"an event without data":        {`{"object": "event", "id": "evt_1", "type": "a.b"}`, sign(`{"object": "event", "id": "evt_1", "type": "a.b"}`, oldSecret, 0), 400, 0},
		"an event without an id":       {eventJSON("", "a.b", "x"), sign(eventJSON("", "a.b", "x"), oldSecret, 0), 400, 0},
		"about an object without id":   {eventJSON("evt_1", "balance.available", ""), sign(eventJSON("evt_1", "balance.available", ""), oldSecret, 0), 200, 0},
		"about an invoice to come":     {upcoming, sign(upcoming, oldSecret, 0), 200, 0},
		"about the preview of one":     {preview, sign(preview, oldSecret, 0), 200, 0},
		"an empty body, though signed": {"", sign("", oldSecret, 0), 400, 0},
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				i := newInbox(t, db, nil)
				i.reset(t)
				w := i.deliver(t.Context(), tt.body, tt.signature)
				if w.Code != tt.status {
					t.Errorf("status %d, want %d: %s", w.Code, tt.status, w.Body)
				}
				checkBody(t, w)
				if got := i.stored(t); got != tt.stored {
					t.Errorf("%d events stored, want %d", got, tt.stored)
				}
				if got := i.waiting(t); got != tt.stored {
					t.Errorf("%d jobs, want %d", got, tt.stored)
				}
			})
		}
	})
}

// reset empties the inbox for the next test case.
func (i *mailbox) reset(t *testing.T) {
	t.Helper()
	for _, table := range []string{"psp_events", "jobs"} {
		if _, err := i.db.Conn(t.Context()).ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
}

// checkBody checks the form of the response: {received: true}, or only {message}.
func checkBody(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if w.Code == http.StatusOK {
		if diff := cmp.Diff(map[string]any{"received": true}, body); diff != "" {
			t.Error(diff)
		}
		return
	}
	if message, _ := body["message"].(string); message == "" || len(body) != 1 {
		t.Errorf("body %s", w.Body)
	}
}

func TestDuplicatesAreOneJob(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		i := newInbox(t, db, nil)
		body := eventJSON("evt_1", "invoice.paid", "in_1")
		signature := sign(body, oldSecret, 0)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if w := i.deliver(t.Context(), body, signature); w.Code != 200 {
					t.Errorf("status %d: %s", w.Code, w.Body)
				}
			})
		}
		wg.Wait()
		if got := i.stored(t); got != 1 {
			t.Errorf("%d events", got)
		}
		if got := i.waiting(t); got != 1 {
			t.Errorf("%d jobs", got)
		}
	})
}

// The backlog is the number of stored but unhandled notifications, with the age of the oldest.
func TestBacklog(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		i := newInbox(t, db, nil)
		want := func(waiting int64, atLeast, below time.Duration) {
			t.Helper()
			n, lag, err := i.Backlog(t.Context())
			if err != nil || n != waiting || lag < atLeast || lag >= below {
				t.Errorf("%d wait, for %s (%v)", n, lag, err)
			}
		}
		want(0, 0, 1)
		for n, object := range []string{"in_2", "in_1"} {
			body := eventJSON(fmt.Sprint("evt_", n), "invoice.paid", object)
			if w := i.deliver(t.Context(), body, sign(body, newSecret, 0)); w.Code != 200 {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			i.clock.Advance(time.Hour)
		}
		want(2, 2*time.Hour, 3*time.Hour)
		i.run(t)
		testkit.Eventually(t, "the handling", func() bool { return i.handled(t) == 2 })
		want(0, 0, 1)
	})
}

func TestNotificationThatCannotBeStoredIsSentAgain(t *testing.T) {
	t.Parallel()
	i := newInbox(t, dbtest.New(t, sqldb.SQLite), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := eventJSON("evt_1", "invoice.paid", "in_1")
	w := i.deliver(ctx, body, sign(body, oldSecret, 0))
	if w.Code != 500 {
		t.Errorf("status %d", w.Code)
	}
	checkBody(t, w)
	if got := i.stored(t); got != 0 {
		t.Errorf("%d events", got)
	}
}

func TestHandlersByKind(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		i := newInbox(t, db, nil)
		var mu sync.Mutex
		got := map[string][]psp.Event{}
		note := func(name string) inbox.Handler {
			return func(_ context.Context, e psp.Event) error {
				mu.Lock()
				defer mu.Unlock()
				got[name] = append(got[name], e)
				return nil
			}
		}
		i.HandleKind("customer.subscription.", note("prefix"))
		i.HandleKind("invoice.paid", note("exact"))
		i.HandleKind("invoice.paid", note("second"))
		for _, e := range [][3]string{
			{"evt_1", "customer.subscription.updated", "sub_1"},
			{"evt_2", "invoice.paid", "in_2"},
			{"evt_3", "invoice.paid_out", "in_3"}, // an exact type is not a prefix
			{"evt_4", "customer.subscription", "sub_4"},
			{"evt_5", "unknown.kind", "x_5"},
		} {
			body := eventJSON(e[0], e[1], e[2])
			if w := i.deliver(t.Context(), body, sign(body, newSecret, 0)); w.Code != 200 {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
		}
		i.run(t)
		testkit.Eventually(t, "all five are handled", func() bool { return i.handled(t) == 5 })
		mu.Lock()
		defer mu.Unlock()
		paid := []psp.Event{{ID: "evt_2", Type: "invoice.paid", ObjectID: "in_2"}}
		want := map[string][]psp.Event{
			"prefix": {{ID: "evt_1", Type: "customer.subscription.updated", ObjectID: "sub_1"}},
			"exact":  paid,
			"second": paid,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHandlerThatFailsRunsAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		i := newInbox(t, db, nil)
		var mu sync.Mutex
		attempts := 0
		i.HandleKind("invoice.paid", func(context.Context, psp.Event) error {
			mu.Lock()
			defer mu.Unlock()
			attempts++
			if attempts == 1 {
				return psp.ErrUnavailable
			}
			return nil
		})
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return attempts
		}
		body := eventJSON("evt_1", "invoice.paid", "in_1")
		i.deliver(t.Context(), body, sign(body, oldSecret, 0))
		i.run(t)
		testkit.Eventually(t, "the first attempt", func() bool { return count() == 1 })
		if got := i.handled(t); got != 0 {
			t.Error("an event whose handler failed counts as handled")
		}
		testkit.Eventually(t, "the second attempt", func() bool {
			i.clock.Advance(time.Minute)
			i.queue.Wake()
			return count() == 2 && i.handled(t) == 1
		})
	})
}

func TestNewReceiverRefusesToWorkWithoutSecrets(t *testing.T) {
	t.Parallel()
	for name, secrets := range map[string][]string{
		"none": nil, "an empty list": {}, "an empty one": {""}, "a blank one": {" \n"}, "one of two": {oldSecret, ""},
	} {
		if _, err := inbox.NewReceiver(inbox.ReceiverDeps{Secrets: secrets}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// While the database is unavailable a notification is rejected, and it is accepted once the
// database is back.
func TestNotificationsWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	line, address := dbtest.NewLine(t, dbtest.URL(t, sqldb.Postgres))
	box := newInbox(t, dbtest.Open(t, address), nil)
	body := `{"id":"evt_away","object":"event","type":"invoice.paid","data":{"object":{"id":"in_1","object":"invoice"}}}`
	line.Cut()
	if w := box.deliver(t.Context(), body, sign(body, newSecret, 0)); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d, retry after %q: %s", w.Code, w.Header().Get("Retry-After"), w.Body)
	}
	line.Restore()
	var w *httptest.ResponseRecorder
	testkit.Eventually(t, "a stored notification", func() bool {
		w = box.deliver(t.Context(), body, sign(body, newSecret, 0))
		return w.Code == http.StatusOK
	})
	if w.Code != http.StatusOK || box.stored(t) != 1 {
		t.Errorf("%d, %d stored: %s", w.Code, box.stored(t), w.Body)
	}
}
