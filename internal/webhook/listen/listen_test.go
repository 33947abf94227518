package listen_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/webhook"
	"github.com/tenantry/tenantry/internal/webhook/listen"
)

const (
	ours   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	others = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx"
	paid   = `{"type":"invoice.paid","timestamp":"2026-01-01T00:00:00.000000Z","tenant_id":"t1","data":{"number":"A-1"}}`
)

// signedBy returns a message as the service would send it, signed with secret at the given time.
func signedBy(secret, id, body string, at time.Time) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/any/path", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("Webhook-Signature", webhook.Signature(secret, id, at.Unix(), []byte(body)))
	return r
}

// fixed is a clock that stands still.
type fixed time.Time

func (f fixed) Now() time.Time { return time.Time(f) }

// take sends messages to a listener and returns the response statuses and the output.
func take(t *testing.T, c listen.Config, messages ...*http.Request) ([]int, string) {
	t.Helper()
	var out bytes.Buffer
	c.Out, c.Clock = &out, fixed(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	l, err := listen.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var statuses []int
	for _, m := range messages {
		answer := httptest.NewRecorder()
		l.ServeHTTP(answer, m)
		statuses = append(statuses, answer.Code)
	}
	return statuses, out.String()
}

func TestMessagesAreVerifiedAndPrinted(t *testing.T) {
	t.Parallel()
	now := clock.System().Now()
	noHeaders := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(paid))
	statuses, out := take(t, listen.Config{Secrets: []string{others, ours}},
		signedBy(ours, "m1", paid, now), signedBy(ours, "m1", paid, now), signedBy("whsec_AAAA", "m1", paid, now),
		signedBy(ours, "m2", paid, now.Add(-time.Hour)), noHeaders, signedBy(ours, "m3", "no JSON\x1b[2J", now))
	if got, want := fmt.Sprint(statuses), "[204 204 401 401 401 204]"; got != want {
		t.Errorf("statuses %s, want %s", got, want)
	}
	for _, want := range []string{
		"2026-01-02T03:04:05Z  invoice.paid  id m1  tenant t1  signature valid  answered 204\n  {\n    \"type\": \"invoice.paid\",",
		"id m1  tenant t1  signature valid  a repetition, seen 2 times  answered 204\n",
		"id m1  tenant t1  signature invalid (no signature matches the secret)  answered 401\n",
		"id m2  tenant t1  signature invalid (webhook-timestamp differs from this machine's clock by more than five minutes)  answered 401\n",
		"id -  tenant t1  signature invalid (a header is missing: webhook-id, webhook-timestamp or webhook-signature)  answered 401\n",
		"  -  id m3  no tenant  signature valid  answered 204\n  \"no JSON\\x1b[2J\"\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("not printed: %q\nin: %s", want, out)
		}
	}
}

func TestMessagesAsJSON(t *testing.T) {
	t.Parallel()
	_, out := take(t, listen.Config{JSON: true}, signedBy(ours, "m1", paid, clock.System().Now()))
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("%q: %v", out, err)
	}
	body, _ := got["body"].(map[string]any)
	delete(got, "body")
	want := map[string]any{
		"received_at": "2026-01-02T03:04:05Z", "id": "m1", "type": "invoice.paid", "tenant_id": "t1", "signature": "not checked",
		"seen": 1.0, "answer": 204.0,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || body["type"] != "invoice.paid" {
		t.Errorf("got %v with %v, want %v", got, body, want)
	}
}

// A forwarded message has the original body and headers, so that the program can verify it too. The
// program's response becomes the listener's response.
func TestMessagesAreForwarded(t *testing.T) {
	t.Parallel()
	var got http.Header
	var body []byte
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		body, _ = io.ReadAll(r.Body)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	to, err := url.Parse(program.URL + "/webhooks")
	if err != nil {
		t.Fatal(err)
	}
	config := listen.Config{Secrets: []string{ours}, Forward: to}
	message := signedBy(ours, "m1", paid, clock.System().Now())
	sent := message.Header.Clone()
	statuses, _ := take(t, config, message)
	if statuses[0] != http.StatusTemporaryRedirect || string(body) != paid {
		t.Errorf("status %d, body %q", statuses[0], body)
	}
	for name := range sent {
		if got.Get(name) != sent.Get(name) {
			t.Errorf("%s is %q, want %q", name, got.Get(name), sent.Get(name))
		}
	}
	got = nil
	if statuses, _ = take(t, config, signedBy(others, "m2", paid, clock.System().Now())); statuses[0] != http.StatusUnauthorized || got != nil {
		t.Errorf("unsigned message was forwarded: status = %d", statuses[0])
	}
	program.Close()
	statuses, out := take(t, config, signedBy(ours, "m3", paid, clock.System().Now()))
	if statuses[0] != http.StatusBadGateway || !strings.Contains(out, "answered 502 (Post ") {
		t.Errorf("status %d without a program: %s", statuses[0], out)
	}
}

func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	get := httptest.NewRequest(http.MethodGet, "/", nil)
	long := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 1<<20+1)))
	statuses, out := take(t, listen.Config{}, get, long)
	if fmt.Sprint(statuses) != "[405 413]" || out != "" {
		t.Errorf("statuses %v, printed %q", statuses, out)
	}
	for _, secret := range []string{"", "whsec_no base64"} {
		if _, err := listen.New(listen.Config{Secrets: []string{secret}}); err == nil {
			t.Errorf("%q is accepted as a secret", secret)
		}
	}
}

func TestListeningEndsWithItsContext(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	l, err := listen.New(listen.Config{Secrets: []string{ours}, Out: write, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx, "127.0.0.1:0") }()
	lines := bufio.NewReader(read)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://\S+`).FindString(line)
	if !strings.Contains(line, "signatures are checked") || address == "" {
		t.Fatalf("printed %q", line)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	message := signedBy(ours, "m1", paid, clock.System().Now())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, message.Body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = message.Header
	// The default client is unsuitable, because other tests close its idle connections when they
	// stop their servers.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	cancel()
	if err := <-ended; err != nil || resp.StatusCode != http.StatusNoContent {
		t.Errorf("status %d, end %v", resp.StatusCode, err)
	}
}
