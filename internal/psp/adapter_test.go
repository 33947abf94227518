package psp_test

import (
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/psp"
	sandbox "github.com/tenantry/tenantry/sandbox/stripe"
)

func TestAPIVersionIsTheLibrarys(t *testing.T) {
	t.Parallel()
	if psp.APIVersion != stripe.APIVersion {
		t.Fatalf("psp is written for API version %s, the library speaks %s", psp.APIVersion, stripe.APIVersion)
	}
}

// counterpart is a provider that the adapter is tested against.
type counterpart struct {
	*psp.Client
	base, key string
	// remembers means that the provider stores objects. Stripe's mock only validates requests
	// against the published API description and returns examples.
	remembers bool
}

// Every request that the service can make matches the provider's API description, and the sandbox
// responds as the adapter expects.
func TestAdapter(t *testing.T) {
	t.Parallel()
	t.Run("stripe-mock", func(t *testing.T) {
		t.Parallel()
		adapterWorks(t, newCounterpart(t, counterpart{base: stripeMock(t), key: "sk_test_123"}))
	})
	t.Run("sandbox", func(t *testing.T) {
		t.Parallel()
		adapterWorks(t, newCounterpart(t, counterpart{base: startSandbox(t, testKey), key: testKey, remembers: true}))
	})
}

func newCounterpart(t *testing.T, p counterpart) counterpart {
	t.Helper()
	var err error
	p.Client, err = psp.NewClient(psp.Config{SecretKey: p.key, BaseURL: p.base})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startSandbox serves the sandbox provider and returns its base URL.
func startSandbox(t *testing.T, key string) string { return startSandboxAt(t, key, clock.System()) }

func startSandboxAt(t *testing.T, key string, now clock.Clock) string {
	t.Helper()
	db, err := dbfile.Open(dbfile.DSN(filepath.Join(t.TempDir(), "sandbox.db"), "_txlock=immediate&_pragma=busy_timeout(5000)&_dqs=0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var handler http.Handler
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(web.Close)
	server, err := sandbox.New(sandbox.Config{DB: db, Clock: now, PublicURL: web.URL, SecretKey: key})
	if err != nil {
		t.Fatal(err)
	}
	handler = server.Handler()
	return web.URL + "/sandbox/stripe"
}

// meteredPrice creates a price that bills the usage of a meter, as the provider's dashboard does.
// The service only links such prices.
func (p counterpart) meteredPrice(t *testing.T, meter string) string {
	t.Helper()
	form := url.Values{
		"product": {"prod_1"}, "currency": {"eur"}, "unit_amount": {"2"}, "recurring[interval]": {"month"},
		"recurring[interval_count]": {"3"}, "recurring[usage_type]": {"metered"}, "recurring[meter]": {meter},
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"/v1/prices", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+p.key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var price struct{ ID string }
	if err := json.NewDecoder(resp.Body).Decode(&price); err != nil || price.ID == "" {
		t.Fatalf("a metered price: %s, %v", resp.Status, err)
	}
	return price.ID
}

// pay submits the form of a hosted checkout.
func pay(t *testing.T, page string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, page, strings.NewReader("card_number=4242424242424242"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("paying: %s", resp.Status)
	}
}

// count reads a list to its end.
func count[T any](list iter.Seq2[T, error]) (n int, err error) {
	for _, err := range list {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
