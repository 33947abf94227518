package blackbox_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

const secret = "whsec_test"

// sent is a webhook request.
type sent struct {
	header    http.Header
	body, url string
}

// receiver receives webhooks without a network. It responds with the statuses from answers.
type receiver struct {
	sent    chan sent
	answers chan int
}

func (r receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.sent <- sent{req.Header, string(body), req.URL.String()}
	select {
	case status := <-r.answers:
		return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Body: http.NoBody, Request: req}, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// receiving returns a running world that sends its webhooks to the receiver.
func receiving(t *testing.T) (*stripetest.World, receiver) {
	t.Helper()
	r := receiver{sent: make(chan sent, 100), answers: make(chan int, 100)}
	w := stripetest.New(t, func(c *stripe.Config) {
		c.WebhookURL, c.WebhookSecret, c.HTTPClient = "http://service.example.test/hooks", secret, &http.Client{Transport: r}
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return w, r
}

// next waits for the next webhook.
func (r receiver) next(t *testing.T) sent {
	t.Helper()
	select {
	case s := <-r.sent:
		return s
	case <-time.After(time.Minute):
		t.Fatal("no webhook received")
		return sent{}
	}
}

// deliveries waits until the queue has the wanted state.
func deliveries(t *testing.T, w *stripetest.World, want string) {
	t.Helper()
	var got string
	testkit.Eventually(t, "a queue with "+want, func() bool {
		if err := w.DB.QueryRowContext(t.Context(), `SELECT count(*) || ' left, tried ' || coalesce(max(attempts), 0) FROM stripe_deliveries`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got == want
	})
}

// TestAWebhookIsSignedAndRetried delivers an event to a receiver that fails twice.
func TestAWebhookIsSignedAndRetried(t *testing.T) {
	t.Parallel()
	w, r := receiving(t)
	w.Real.Set(time.Date(2027, time.May, 1, 0, 0, 0, 0, time.UTC)) // signatures use the real clock
	w.Customer()
	first := ""
	for _, c := range []struct {
		answer int
		wait   time.Duration // until the next attempt
		queue  string
	}{
		{500, 200 * time.Millisecond, "1 left, tried 1"},
		{301, time.Second, "1 left, tried 2"},
		{204, 0, "0 left, tried 0"},
	} {
		got := r.next(t)
		stamp := fmt.Sprint(w.Real.Now().Unix())
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(stamp + "." + got.body))
		if want := "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil)); got.header.Get("Stripe-Signature") != want {
			t.Errorf("signature %s, want %s", got.header.Get("Stripe-Signature"), want)
		}
		if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
			t.Errorf("content type %s", kind)
		}
		if first == "" {
			first = got.body
		}
		if got.body != first {
			t.Errorf("sent %s, first %s", got.body, first)
		}
		r.answers <- c.answer
		deliveries(t, w, c.queue)
		w.Real.Set(w.Real.Now().Add(c.wait - time.Millisecond))
		w.Server.Wake()
		if c.wait > 0 && len(r.sent) > 0 {
			t.Errorf("after a %d the event is sent again immediately", c.answer)
		}
		w.Real.Set(w.Real.Now().Add(time.Millisecond))
		w.Server.Wake()
	}
	var e struct {
		ID      string
		Type    string
		Pending int `json:"pending_webhooks"`
	}
	if err := json.Unmarshal([]byte(first), &e); err != nil || e.Type != "customer.created" || e.Pending != 1 {
		t.Errorf("sent %s (%v)", first, err)
	}
	w.Get("/v1/events/"+e.ID).CheckValues(t, "once it is taken", "pending_webhooks", "0")
}

// TestEventIsAbandonedAfterRetries fails all attempts until Stripe would stop, after three days.
func TestEventIsAbandonedAfterRetries(t *testing.T) {
	t.Parallel()
	w, r := receiving(t)
	w.Customer()
	begin, attempts := w.Real.Now(), 0
	for left := 1; left > 0; {
		r.next(t)
		r.answers <- http.StatusServiceUnavailable
		attempts++
		testkit.Eventually(t, "the next attempt", func() bool {
			var tried int
			if err := w.DB.QueryRowContext(t.Context(), `SELECT count(*), coalesce(max(attempts), 0) FROM stripe_deliveries`).Scan(&left, &tried); err != nil {
				t.Fatal(err)
			}
			return left == 0 || tried == attempts
		})
		var next int64
		if err := w.DB.QueryRowContext(t.Context(), `SELECT coalesce(max(next_at), 0) FROM stripe_deliveries`).Scan(&next); err != nil {
			t.Fatal(err)
		}
		if left > 0 {
			w.Real.Set(time.UnixMilli(next).UTC())
			w.Server.Wake()
		}
	}
	if tried := w.Real.Now().Sub(begin); tried > 72*time.Hour || tried < 68*time.Hour || attempts < 25 {
		t.Errorf("given up after %d attempts and %s", attempts, tried)
	}
	w.Get("/v1/events").CheckValues(t, "an event without a receiver", "data.0.pending_webhooks", "1")
}

// TestOneObjectsEventsWaitForEachOther delays the first event. The next event about the same object
// waits for its first attempt; an event about another object does not.
func TestOneObjectsEventsWaitForEachOther(t *testing.T) {
	t.Parallel()
	w, r := receiving(t)
	customer := w.Customer()
	if got := r.next(t); !strings.Contains(got.body, "customer.created") {
		t.Fatalf("first event = %s", got.body)
	}
	w.Post("/v1/customers/"+customer, "name=Grace")
	w.Post("/v1/products", "name=Starter")
	if got := r.next(t); !strings.Contains(got.body, "product.created") {
		t.Errorf("the event about another object does not overtake: %s", got.body)
	}
	r.answers <- http.StatusOK
	r.answers <- http.StatusOK
	if got := r.next(t); !strings.Contains(got.body, "customer.updated") {
		t.Errorf("next event = %s", got.body)
	}
	r.answers <- http.StatusOK
	deliveries(t, w, "0 left, tried 0")
}
