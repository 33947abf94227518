package tenantrytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/client/usage"
	"github.com/tenantry/tenantry/client/webhook"
	"github.com/tenantry/tenantry/tenantrytest"
)

// The following code is part of docs/go-client.md, docs/testing.md and docs/verify-tokens.md.
// TestGuides checks that.

func listInvoices(ctx context.Context, url, key, tenant string) error {
	c, err := client.New(url, client.WithAPIKey(key))
	if err != nil {
		return err
	}
	for invoice, err := range c.ListInvoicesAll(ctx, tenant, nil) {
		if err != nil {
			return err
		}
		fmt.Println(invoice.Number, invoice.Total.AmountCents, invoice.Total.Currency)
	}
	return nil
}

func explain(err error) string {
	var refusal *client.Error
	switch {
	case errors.Is(err, client.ErrSeatLimitReached):
		return "Your plan has no more seats."
	case errors.As(err, &refusal) && len(refusal.Fields) > 0:
		return fmt.Sprint(refusal.Fields) // by the names of the fields
	case client.StatusOf(err) == http.StatusNotFound:
		return "It does not exist."
	}
	return err.Error()
}

func requireUser(c *client.Client, next func(http.ResponseWriter, *http.Request, *client.Claims)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		claims, err := c.VerifyToken(r.Context(), token)
		switch {
		case errors.Is(err, client.ErrInvalidToken):
			http.Error(w, "Log in again.", http.StatusUnauthorized)
		case err != nil: // the key set could not be loaded
			http.Error(w, "Try again later.", http.StatusServiceUnavailable)
		default:
			next(w, r, claims)
		}
	}
}

func newRecorder(c *client.Client, folder string) (*usage.Recorder, error) {
	return usage.NewRecorder(c, usage.Options{
		Journal: filepath.Join(folder, "usage.journal"),
		OnRefused: func(e usage.Event, err error) {
			if errors.Is(err, client.ErrQuotaExceeded) {
				fmt.Println(e.Tenant, "has used up its plan")
			}
		},
	})
}

func meterSome(ctx context.Context, recorder *usage.Recorder, tenant string) error {
	if err := recorder.Record(ctx, usage.Event{Tenant: tenant, Meter: "api-calls"}); err != nil {
		return err
	}
	return recorder.Record(ctx, usage.Event{Tenant: tenant, Meter: "storage-gb", Quantity: "0.25"})
}

func receiveInvoices(secret string, send func(api.Invoice) error) (http.Handler, error) {
	return webhook.NewHandler(secret, func(_ context.Context, e webhook.Event) error {
		if e.Type != api.WebhookEventTypeInvoicePaid {
			return nil
		}
		var invoice api.Invoice
		if err := e.Decode(&invoice); err != nil {
			return err
		}
		return send(invoice)
	})
}

func TestCustomerPaysEachMonth(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	ada := s.Register("ada@example.com")
	s.Subscribe(ada, "starter")
	s.Advance(32 * 24 * time.Hour)

	var paid int
	for invoice, err := range ada.ListInvoicesAll(t.Context(), ada.Tenant, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if invoice.Status == api.InvoiceStatusPaid {
			paid++
		}
	}
	if paid != 2 {
		t.Errorf("%d invoices are paid, want 2", paid)
	}
}

// Each Go code block in the guides is in this file or in the example.
func TestGuides(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("guide_test.go")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../examples/go/meter/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for page, least := range map[string]int{"go-client.md": 6, "testing.md": 1, "verify-tokens.md": 1} {
		text, err := os.ReadFile("../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := strings.Split(string(text), "```go\n")[1:]
		if len(blocks) < least {
			t.Errorf("%s has %d blocks of Go, want %d or more", page, len(blocks), least)
		}
		for _, block := range blocks {
			code, _, _ := strings.Cut(block, "```")
			if !strings.Contains(string(source), code) && code != string(example) {
				t.Errorf("%s has code that guide_test.go and the example do not have:\n%s", page, code)
			}
		}
	}
}

// The code in the guides works as described.
func TestGuidesWork(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	acme := s.Owner()
	key := s.PlatformKey(api.APIKeyScopeUsageWrite, api.APIKeyScopeInvoicesRead)
	if err := listInvoices(t.Context(), s.URL, key, acme.Tenant); err != nil {
		t.Error(err)
	}
	_, err := s.Client().Register(t.Context(), api.RegisterRequest{Name: "Ada", Email: "no address"})
	if got := explain(err); !strings.Contains(got, "email:[") || !strings.Contains(got, "password:[") {
		t.Errorf("invalid fields read %q", got)
	}
	_, err = acme.ShowInvoice(t.Context(), acme.Tenant, "nothing")
	if got := explain(err); got != "It does not exist." {
		t.Errorf("missing invoice: %q", got)
	}
	recorder, err := newRecorder(s.Client(client.WithAPIKey(key)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := meterSome(t.Context(), recorder, acme.Tenant); err != nil {
		t.Error(err)
	}
	if err := recorder.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if calls, gigabytes := used(t, acme, "api-calls"), used(t, acme, "storage-gb"); calls != "1" || gigabytes != "0.25" {
		t.Errorf("usage is %s calls and %s GB", calls, gigabytes)
	}

	received := make(chan api.Invoice, 10)
	var handler http.Handler
	var known sync.WaitGroup
	known.Add(1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { known.Wait(); handler.ServeHTTP(w, r) }))
	defer server.Close()
	if handler, err = receiveInvoices(s.Endpoint(server.URL), func(i api.Invoice) error { received <- i; return nil }); err != nil {
		t.Fatal(err)
	}
	known.Done()
	ada := s.Register("ada@example.com")
	s.Subscribe(ada, "starter")
	if invoice := <-received; invoice.TenantID != ada.Tenant {
		t.Errorf("received invoice: %+v", invoice)
	}
}

// The first program of the guide records an event.
func TestFirstProgram(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	acme := s.Owner()
	program := exec.CommandContext(t.Context(), "go", "run", "./meter")
	program.Dir = "../examples/go"
	program.Env = append(os.Environ(), "TENANTRY_URL="+s.URL, "TENANTRY_KEY="+s.PlatformKey(api.APIKeyScopeUsageWrite), "TENANT="+acme.Tenant)
	out, err := program.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "recorded 1 at ") {
		t.Errorf("%v: %s", err, out)
	}
	if calls := used(t, acme, "api-calls"); calls != "1" {
		t.Errorf("%s calls are recorded", calls)
	}
}

// used returns the current usage of a customer's meter.
func used(t *testing.T, c *tenantrytest.Customer, meter string) string {
	t.Helper()
	quotas, err := c.ListQuotas(t.Context(), c.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range quotas.Data.Meters {
		if q.MeterCode == meter {
			return q.CurrentUsage.String()
		}
	}
	t.Fatalf("no meter %s", meter)
	return ""
}

// A backend verifies the tokens of users.
func TestTokensOfUsers(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	acme := s.Owner()
	login, err := s.Client().Login(t.Context(), api.LoginRequest{Email: acme.Email, Password: acme.Password})
	if err != nil {
		t.Fatal(err)
	}
	token := issueToken(t, s.URL, *login.AccessToken)
	c, err := client.New(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	call := func(token string) (status int, tenant string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		requireUser(c, func(_ http.ResponseWriter, _ *http.Request, claims *client.Claims) { tenant = claims.TenantID })(w, r)
		return w.Code, tenant
	}
	if status, tenant := call(token); status != 200 || tenant != acme.Tenant {
		t.Errorf("%d, tenant %s", status, tenant)
	}
	if status, _ := call(*login.AccessToken); status != 401 {
		t.Errorf("an access token: %d", status)
	}
}

// issueToken returns a token for the backend, as the frontend of a user gets it.
func issueToken(t *testing.T, url, login string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1/auth/token", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+login)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Data struct {
			Token string `json:"token"`
		} `json:"data"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d: %v", resp.StatusCode, err)
	}
	return answer.Data.Token
}
