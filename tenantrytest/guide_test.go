package tenantrytest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
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

// The following code is part of docs/go-client.md and docs/testing.md. TestGuides checks that.

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
		return "There is no such thing."
	}
	return err.Error()
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

// Each Go code block in the guides is in this file.
func TestGuides(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("guide_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for page, least := range map[string]int{"go-client.md": 5, "testing.md": 1} {
		text, err := os.ReadFile("../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := strings.Split(string(text), "```go\n")[1:]
		if len(blocks) < least {
			t.Errorf("%s has %d pieces of Go, want %d or more", page, len(blocks), least)
		}
		for _, block := range blocks {
			code, _, _ := strings.Cut(block, "```")
			if !strings.Contains(string(source), code) {
				t.Errorf("%s has what guide_test.go does not:\n%s", page, code)
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
	if got := explain(err); got != "There is no such thing." {
		t.Errorf("what is missing reads %q", got)
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
		t.Errorf("used are %s calls and %s GB", calls, gigabytes)
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
		t.Errorf("received is the invoice %+v", invoice)
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
