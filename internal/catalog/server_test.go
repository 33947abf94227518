package catalog_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const publicURL = "https://api.example.com"

// server is the catalog service behind the real HTTP layer.
type server struct {
	db    *sqldb.DB
	svc   *catalog.Service
	list  *pricelist.Service
	http  *catalog.HTTP
	clock *clock.Fixed
	api   *rest.API
}

// unsold reports that plans do not have subscribers.
type unsold struct{}

func (unsold) HasSubscribers(context.Context, []uuid.UUID) (bool, error) { return false, nil }

// newServer returns a server on db. The token "admin" belongs to a platform admin with all
// permissions, "clerk" to a platform admin without any.
func newServer(t testing.TB, db *sqldb.DB) *server {
	t.Helper()
	messages, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	at := clock.NewFixed(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	svc := catalog.New(catalog.Deps{DB: db, Clock: at, Subscriptions: unsold{}, Audit: audit.New(audit.Deps{DB: db, Clock: at})})
	h := catalog.NewHTTP(svc, publicURL+"/")
	api := rest.New(rest.Config{
		Messages:         messages,
		Log:              slog.New(slog.DiscardHandler),
		Clock:            clock.System(),
		Authenticate:     authenticate,
		Limiter:          limit.New(limit.Config{}),
		ClientIP:         func(*http.Request) string { return "127.0.0.1" },
		FirstPartyOrigin: func(string) bool { return false },
		PublicURL:        publicURL,
	}, []rest.Route{
		{Method: "GET", Path: "/api/v1/catalog/products", Scope: rest.Public, Rate: limit.Catalog, Handler: rest.Handle(h.Products)},
		{Method: "GET", Path: "/api/v1/catalog/plans", Scope: rest.Public, Rate: limit.Catalog, Handler: rest.Handle(h.Plans)},
		{Method: "GET", Path: "/api/v1/catalog/features", Scope: rest.Public, Rate: limit.Catalog, Handler: rest.Handle(h.Features)},
		{Method: "GET", Path: "/api/v1/currencies", Scope: rest.Public, Rate: limit.Catalog, Handler: rest.Handle(h.Currencies)},
		{Method: "GET", Path: "/api/v1/admin/products", Scope: rest.Admin, Permission: "products.view", Handler: rest.Handle(h.AdminProducts)},
		{Method: "GET", Path: "/api/v1/admin/products/{product}", Scope: rest.Admin, Permission: "products.view", Handler: rest.Handle(h.AdminProduct)},
		{Method: "GET", Path: "/api/v1/admin/plans", Scope: rest.Admin, Permission: "plans.view", Handler: rest.Handle(h.AdminPlans)},
		{Method: "GET", Path: "/api/v1/admin/features", Scope: rest.Admin, Permission: "features.view", Handler: rest.Handle(h.AdminFeatures)},
	})
	list := pricelist.New(pricelist.Deps{DB: db, Catalog: svc})
	return &server{db: db, svc: svc, list: list, http: h, clock: at, api: api}
}

func authenticate(_ context.Context, token string) (*authz.Caller, error) {
	switch token {
	case "admin":
		return &authz.Caller{UserID: 1, IsPlatformAdmin: true, PlatformPermissions: authz.PlatformPermissions()}, nil
	case "clerk":
		return &authz.Caller{UserID: 2, IsPlatformAdmin: true}, nil
	default:
		return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
	}
}

// get requests a path. headers alternates between names and values.
func (s *server) get(t testing.TB, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	return w
}

// admin requests a path of the admin API and checks the status.
func (s *server) admin(t testing.TB, path string, status int) string {
	t.Helper()
	return body(t, s.get(t, path, "Authorization", "Bearer admin"), status)
}

func body(t testing.TB, r *httptest.ResponseRecorder, status int) string {
	t.Helper()
	if r.Code != status {
		t.Fatalf("status = %d, want %d: %s", r.Code, status, r.Body)
	}
	return r.Body.String()
}

// record is a JSON object.
type record = map[string]any

// data decodes the data of a response.
func data(t testing.TB, text string) []record {
	t.Helper()
	var answer struct{ Data []record }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return answer.Data
}

// column returns one field of each record.
func column(records []record, field string) []any {
	out := []any{}
	for _, r := range records {
		out = append(out, r[field])
	}
	return out
}

// apply imports a catalog in YAML.
func (s *server) apply(t testing.TB, text string) {
	t.Helper()
	s.applyIn(t.Context(), t, text)
}

func (s *server) applyIn(ctx context.Context, t testing.TB, text string) {
	t.Helper()
	c, err := pricelist.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.list.Apply(ctx, c, false); err != nil {
		t.Fatal(err)
	}
}

// exec changes the database directly, bypassing the service.
func exec(t testing.TB, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}
