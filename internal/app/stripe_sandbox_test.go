package app_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// text is a buffer that can be read during writes.
type text struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *text) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *text) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// runStripe runs the payment provider alone. It returns its URL, key and output, and a function
// that stops it.
func runStripe(t *testing.T, s settings.StripeSandbox) (url, key, printed string, stop func()) {
	t.Helper()
	var out, log text
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- app.StripeSandbox(ctx, s, &out, &log) }()
	stop = func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the provider ended with %v: %s", err, log.String())
		}
	}
	testkit.Eventually(t, "the start", func() bool { return strings.Contains(out.String(), "Ctrl-C") })
	printed = out.String()
	call := regexp.MustCompile(`curl (http://[^/]+)/v1/customers -u (\S+):`).FindStringSubmatch(printed)
	if call == nil {
		t.Fatalf("it prints no call: %s", printed)
	}
	return call[1], call[2], printed, stop
}

// create creates a customer as the banner shows, and returns the response.
func create(t *testing.T, url, key string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/customers", strings.NewReader("email=ada@example.test"))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(key, "")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the printed call returns %d %s (%v)", answer.StatusCode, body, err)
	}
	return string(body)
}

// TestTheStripeSandboxRuns starts the payment provider alone, calls it as its banner shows, and
// starts it again. The key, the secret and the data are the same.
func TestTheStripeSandboxRuns(t *testing.T) {
	t.Parallel()
	s := settings.StripeSandbox{Addr: "127.0.0.1:0", Data: t.TempDir(), Webhook: "http://127.0.0.1:9/hooks"}
	url, key, printed, stop := runStripe(t, s)
	if !strings.HasPrefix(key, "sk_test_sandbox_") || !strings.Contains(printed, url+"/sandbox/dashboard") || !strings.Contains(printed, "Signing secret  whsec_") ||
		!regexp.MustCompile(`TENANTRY_STRIPE_SECRET_KEY=sk_test_sandbox_\w+ TENANTRY_STRIPE_WEBHOOK_SECRET=whsec_\w+ tenantry init --stripe-url `+url+"\n").MatchString(printed) {
		t.Errorf("it prints %s", printed)
	}
	if body := create(t, url, key); !strings.Contains(body, `"object":"customer"`) {
		t.Errorf("created %s", body)
	}
	stop()
	again, sameKey, printedAgain, stop := runStripe(t, s)
	defer stop()
	secret := regexp.MustCompile(`whsec_\w+`)
	if sameKey != key || secret.FindString(printed) != secret.FindString(printedAgain) {
		t.Errorf("started again, the key is %s after %s", sameKey, key)
	}
	answer, err := http.Get(again + "/sandbox/dashboard/customers")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(body), "ada@example.test") {
		t.Errorf("the data is lost after a restart (%v): %s", err, body)
	}
}

// TestStripeSandboxUsesConfiguredKey uses a key from the settings and no webhooks. A second
// start at the same address fails.
func TestStripeSandboxUsesConfiguredKey(t *testing.T) {
	t.Parallel()
	url, key, printed, stop := runStripe(t, settings.StripeSandbox{Addr: "127.0.0.1:0", Data: t.TempDir(), Key: "sk_test_given"})
	defer stop()
	if key != "sk_test_given" || !strings.Contains(printed, "POST /v1/webhook_endpoints") || strings.Contains(printed, "tenantry init") {
		t.Errorf("it prints %s", printed)
	}
	create(t, url, key)
	err := app.StripeSandbox(t.Context(), settings.StripeSandbox{Addr: strings.TrimPrefix(url, "http://"), Data: t.TempDir()}, io.Discard, io.Discard)
	if err == nil {
		t.Error("two providers listen on the same address")
	}
}

// TestTheDashboardOfDev checks that the dashboard shows the URL and key of dev's provider, and that
// they work.
func TestTheDashboardOfDev(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite)
	page := s.Call("GET", "/sandbox/dashboard", "", nil).Want(200).Text
	found := regexp.MustCompile(`<span id="key">([^<]+)</span>`).FindStringSubmatch(page)
	if found == nil || !strings.Contains(page, `<span id="api">`+s.URL+"/sandbox/stripe</span>") || !strings.Contains(page, `<span id="secret">whsec_`) {
		t.Fatalf("got %s", page)
	}
	if body := create(t, s.URL+"/sandbox/stripe", found[1]); !strings.Contains(body, `"object":"customer"`) {
		t.Errorf("printed key: %s", body)
	}
	start := s.Call("GET", "/sandbox", "", nil).Want(200).Text
	for _, part := range []string{`<a href="/sandbox/dashboard">`, `<code id="key">` + found[1] + "<", `<code id="secret">whsec_`, "curl " + s.URL + "/sandbox/stripe/v1/customers -u " + found[1] + ":<"} {
		if !strings.Contains(start, part) {
			t.Errorf("the start page lacks %q", part)
		}
	}
	if list := s.Call("GET", "/sandbox/dashboard/customers", "", nil).Want(200).Text; !strings.Contains(list, "ada@example.test") {
		t.Errorf("the customer is not shown: %s", list)
	}
}
