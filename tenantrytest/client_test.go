package tenantrytest_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/client/usage"
	"github.com/tenantry/tenantry/client/webhook"
	"github.com/tenantry/tenantry/tenantrytest"
)

// The client's tests against the real service are in this package, so that the client's module does
// not depend on the service's modules.

// store is a client.TokenStore.
type store struct {
	mu     sync.Mutex
	tokens client.Tokens
	saved  int
}

func (s *store) Load(context.Context) (client.Tokens, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens, nil
}

func (s *store) Save(_ context.Context, t client.Tokens) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens, s.saved = t, s.saved+1
	return nil
}

// If the access token has expired, concurrent requests refresh it once: reuse of the refresh token
// would end the session.
func TestOneRefresh(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	acme := s.Owner()
	login, err := s.Client().Login(t.Context(), api.LoginRequest{Email: acme.Email, Password: acme.Password})
	if err != nil {
		t.Fatal(err)
	}
	kept := &store{tokens: client.Tokens{Access: *login.AccessToken, Refresh: *login.RefreshToken}}
	c := s.Client(client.WithTokenStore(kept))
	for round := 1; round <= 3; round++ {
		s.Advance(time.Hour)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := c.ShowProfile(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if kept.saved != round {
			t.Fatalf("after %d hours %d pairs were saved", round, kept.saved)
		}
	}
	if _, err := s.Client(client.WithTokenStore(kept)).ShowProfile(t.Context()); err != nil {
		t.Errorf("another client continues with %v", err)
	}
}

// Refused requests return the codes, fields and statuses of the real service.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	acme := s.Owner()
	_, err := s.Client(client.WithLogin(acme.Email, "wrong password")).ShowProfile(t.Context())
	if !errors.Is(err, client.ErrInvalidCredentials) {
		t.Errorf("wrong password: %v", err)
	}
	_, err = s.Client(client.WithAPIKey(s.APIKey(acme, api.APIKeyScopeUsageRead))).ListMembers(t.Context(), acme.Tenant, nil)
	if !errors.Is(err, client.ErrInsufficientScope) {
		t.Errorf("key without the scope: %v", err)
	}
	_, err = acme.RecordUsage(t.Context(), acme.Tenant, api.UsageEventInput{MeterCode: "api-calls", Quantity: new(usage.Whole(1001))})
	if e, ok := errors.AsType[*client.Error](err); !ok || !errors.Is(err, client.ErrQuotaExceeded) || e.Status != 429 || e.Message == "" || e.RequestID == "" {
		t.Errorf("usage over the limit: %#v", err)
	}
	_, err = s.Client(client.WithLocale("fr")).Register(t.Context(), api.RegisterRequest{})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != 422 || len(e.Fields["email"]) != 1 || !strings.Contains(e.Fields["email"][0], "obligatoire") {
		t.Errorf("without an email: %v", err)
	}
}

// Responses are decoded completely: nullable fields, exact numbers, pages, files.
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	acme := s.Owner()
	const exact = "999999999999.999999"
	if _, err := acme.RecordUsage(t.Context(), acme.Tenant, api.UsageEventInput{
		MeterCode: "storage-gb", Quantity: new(usage.Whole(0)), IdempotencyKey: nullable.NewNullableWithValue("a"),
	}); err != nil {
		t.Fatal(err)
	}
	answer, err := acme.RecordUsage(t.Context(), acme.Tenant, api.UsageEventInput{MeterCode: "storage-gb", Quantity: new(usage.Event{Quantity: exact}.Quantity)})
	if err != nil || answer.Data.Quantity != exact {
		t.Errorf("%s became %v, %v", exact, answer, err)
	}
	admin := s.Admin()
	for i := range 7 {
		if _, err := admin.AdminCreateProduct(t.Context(), api.AdminCreateProductRequest{Slug: fmt.Sprintf("p%d", i), Name: api.TranslatedName{En: "P"}}); err != nil {
			t.Fatal(err)
		}
	}
	slugs := map[string]bool{}
	for product, err := range admin.AdminListProductsAll(t.Context(), &api.AdminListProductsParams{PerPage: new(3)}) {
		if err != nil {
			t.Fatal(err)
		}
		slugs[product.Slug] = true
	}
	if len(slugs) != 8 { // including the demo product
		t.Errorf("%d products over pages of 3", len(slugs))
	}
	var entries int
	for _, err := range admin.ListActivityAll(t.Context(), &api.ListActivityParams{PerPage: new(2)}) {
		if err != nil {
			t.Fatal(err)
		}
		entries++
	}
	if entries < 8 {
		t.Errorf("%d entries over pages of 2", entries)
	}
	file, err := acme.ExportUsage(t.Context(), acme.Tenant, &api.ExportUsageParams{MeterCode: "storage-gb"})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Body.Close()
	if rows, err := csv.NewReader(file.Body).ReadAll(); err != nil || len(rows) != 3 {
		t.Errorf("the export has %v, %v", rows, err)
	}
	ada := s.Register("ada@example.com")
	s.Subscribe(ada, "starter")
	for name, one := range map[string]*tenantrytest.Customer{"Acme": acme, "Ada": ada} {
		invoices := 0
		for invoice, err := range one.ListInvoicesAll(t.Context(), one.Tenant, nil) {
			if err != nil {
				t.Fatal(err)
			}
			invoices++
			pdf, err := one.DownloadInvoice(t.Context(), one.Tenant, invoice.ID)
			if err != nil {
				t.Fatal(err)
			}
			begin := make([]byte, 5)
			if _, err := io.ReadFull(pdf.Body, begin); err != nil || !bytes.Equal(begin, []byte("%PDF-")) {
				t.Errorf("the document begins with %q, %v", begin, err)
			}
			_ = pdf.Body.Close()
		}
		if invoices == 0 {
			t.Errorf("no invoices of %s", name)
		}
	}
}

// unreliable loses requests and responses.
type unreliable struct{ n atomic.Int64 }

func (u *unreliable) RoundTrip(r *http.Request) (*http.Response, error) {
	n := u.n.Add(1)
	if n%3 == 1 {
		return nil, errors.New("the request was lost")
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && n%3 == 2 {
		_ = resp.Body.Close()
		return nil, errors.New("the answer was lost")
	}
	return resp, err
}

// Whatever requests and responses are lost, recorded events count once, in every tenant. Events
// over the quota are reported individually.
func TestRecorder(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	acme, ada := s.Owner(), s.Register("ada@example.com") // the default plan of Ada includes 100 calls
	var refused atomic.Int64
	recorder, err := usage.NewRecorder(
		s.Client(client.WithAPIKey(s.PlatformKey(api.APIKeyScopeUsageWrite)), client.WithHTTPClient(&http.Client{Transport: &unreliable{}}), client.WithAttempts(2)),
		usage.Options{Journal: filepath.Join(t.TempDir(), "journal"), Interval: 20 * time.Millisecond, OnRefused: func(e usage.Event, err error) {
			if e.Tenant != ada.Tenant || !errors.Is(err, client.ErrQuotaExceeded) {
				t.Errorf("refused event %+v: %v", e, err)
			}
			refused.Add(1)
		}})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 15 {
				for _, tenant := range []string{acme.Tenant, ada.Tenant} {
					if err := recorder.Record(t.Context(), usage.Event{Tenant: tenant, Meter: "api-calls"}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if err := recorder.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := used(t, acme, "api-calls"); got != "150" {
		t.Errorf("Acme has used %s, want 150", got)
	}
	if got := used(t, ada, "api-calls"); got != "100" || refused.Load() != 50 {
		t.Errorf("Ada has used %s and was refused %d, want 100 and 50", got, refused.Load())
	}
}

// A message is accepted if it has a valid, recent signature. It is delivered again if the handler
// failed.
func TestWebhookHandler(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	type message struct {
		header http.Header
		body   []byte
	}
	seen := make(chan message, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- message{r.Header.Clone(), body}
	}))
	defer server.Close()
	secret := s.Endpoint(server.URL, api.WebhookEventTypeTenantCreated)
	ada := s.Register("ada@example.com")
	m := <-seen
	var handled []webhook.Event
	failing := false
	handler, err := webhook.NewHandler(secret, func(_ context.Context, e webhook.Event) error {
		if failing {
			return errors.New("not now")
		}
		handled = append(handled, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	post := func(h http.Handler, method string, header http.Header, body []byte) int {
		r := httptest.NewRequestWithContext(t.Context(), method, "/hooks", bytes.NewReader(body))
		r.Header = header
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if got := post(handler, "POST", m.header, m.body); got != 204 || len(handled) != 1 {
		t.Fatalf("a message returns %d", got)
	}
	var tenant api.Tenant
	err = handled[0].Decode(&tenant)
	if e := handled[0]; err != nil || e.Type != api.WebhookEventTypeTenantCreated || e.Tenant != ada.Tenant || tenant.ID != ada.Tenant || e.ID != m.header.Get("webhook-id") || e.Time.IsZero() {
		t.Errorf("got %+v, %v", e, err)
	}
	changed := bytes.Replace(m.body, []byte("tenant.created"), []byte("tenant.deleted"), 1)
	later, err := webhook.NewHandler(secret, func(context.Context, webhook.Event) error { return nil },
		webhook.WithClock(func() time.Time { return time.Now().Add(webhook.Tolerance + time.Second) }))
	if err != nil {
		t.Fatal(err)
	}
	other, err := webhook.NewHandler("whsec_"+strings.Repeat("A", 32), func(context.Context, webhook.Event) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ got, want int }{
		"changed":   {post(handler, "POST", m.header, changed), 401},
		"unsigned":  {post(handler, "POST", http.Header{}, m.body), 401},
		"old":       {post(later, "POST", m.header, m.body), 401},
		"of others": {post(other, "POST", m.header, m.body), 401},
		"read":      {post(handler, "GET", m.header, nil), 405},
		"huge":      {post(handler, "POST", m.header, make([]byte, webhook.MaxBody+1)), 413},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", name, tt.got, tt.want)
		}
	}
	if failing = true; post(handler, "POST", m.header, m.body) != 500 || len(handled) != 1 {
		t.Errorf("failed message was not retried, or %d were handled", len(handled))
	}
	for _, bad := range []string{"", "whsec_***"} {
		if _, err := webhook.NewVerifier(bad); err == nil {
			t.Errorf("the secret %q is accepted", bad)
		}
	}
}

// BenchmarkRecord compares the time per event of several ways to record usage durably. It starts
// its own service.
func BenchmarkRecord(b *testing.B) {
	for _, tt := range []struct {
		name    string
		callers int
		single  bool
		journal bool
	}{
		{"single/1", 1, true, false},
		{"single/16", 16, true, false},
		{"recorder", 1, false, false},
		{"recorder/journal/1", 1, false, true},
		{"recorder/journal/64", 64, false, true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			s := tenantrytest.Start(b)
			acme := s.Owner()
			c := s.Client(client.WithAPIKey(s.PlatformKey(api.APIKeyScopeUsageWrite)))
			o := usage.Options{Queue: 1 << 20}
			if tt.journal {
				o.Journal = filepath.Join(b.TempDir(), "journal")
			}
			r, err := usage.NewRecorder(c, o)
			if err != nil {
				b.Fatal(err)
			}
			var next atomic.Int64
			b.ResetTimer()
			var all sync.WaitGroup
			for range tt.callers {
				all.Go(func() {
					for next.Add(1) <= int64(b.N) {
						var err error
						if tt.single {
							_, err = c.RecordUsage(b.Context(), acme.Tenant, api.UsageEventInput{MeterCode: "storage-gb"})
						} else {
							err = r.Record(b.Context(), usage.Event{Tenant: acme.Tenant, Meter: "storage-gb"})
						}
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			if err := r.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// The client has few dependencies and does not depend on the service's modules. Importing the
// client adds exactly the modules listed here.
func TestClientModules(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile("../client/go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sums)) {
		module, _, _ := strings.Cut(line, " ")
		if module != "github.com/oapi-codegen/nullable" && module != "github.com/standard-webhooks/standard-webhooks/libraries" {
			t.Errorf("unexpected dependency %s", module)
		}
	}
	text, err := os.ReadFile("../client/go.mod")
	if err != nil || strings.Contains(string(text), "replace") || strings.Count(string(text), "\n\tgithub.com/") != 2 {
		t.Errorf("go.mod of the client: %s, %v", text, err)
	}
}
