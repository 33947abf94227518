package usage_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// site serves the usage endpoints of a world. A bearer token is the ID of the caller's tenant.
type site struct {
	*usagetest.World
	api *rest.API
}

func newSite(t testing.TB, w *usagetest.World) *site {
	t.Helper()
	messages, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	h := usage.NewHTTP(w.Service)
	const base = "/api/v1/tenant/{tenantId}/usage"
	return &site{World: w, api: rest.New(rest.Config{
		Messages: messages,
		Log:      slog.New(slog.DiscardHandler),
		Clock:    clock.System(),
		Authenticate: func(_ context.Context, token string) (*authz.Caller, error) {
			tenantID, err := uuid.Parse(token)
			if err != nil {
				return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
			}
			return &authz.Caller{UserID: 1, Tenant: &authz.Membership{TenantID: tenantID, Role: "member", OnboardingComplete: true}}, nil
		},
		Limiter:          limit.New(limit.Config{Log: slog.New(slog.DiscardHandler)}),
		ClientIP:         func(*http.Request) string { return "127.0.0.1" },
		FirstPartyOrigin: func(string) bool { return false },
	}, []rest.Route{
		{Method: http.MethodGet, Path: base + "/{meterCode}", Scope: rest.Tenant, Handler: rest.Handle(h.Meter)},
		{Method: http.MethodGet, Path: base + "/quotas", Scope: rest.Tenant, Handler: rest.Handle(h.Quotas)},
		{Method: http.MethodGet, Path: base, Scope: rest.Tenant, Handler: rest.Handle(h.Summary)},
		{Method: http.MethodPost, Path: base + "/batch", Scope: rest.Tenant, Handler: rest.Handle(h.Batch)},
		{Method: http.MethodPost, Path: base, Scope: rest.Tenant, Handler: rest.Handle(h.Record, rest.Status(http.StatusCreated))},
	})}
}

// ask sends a request as a member of the tenant and returns the status and the body, with IDs
// masked.
func (s *site) ask(t testing.TB, tenantID uuid.UUID, method, path, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, "/api/v1/tenant/"+tenantID.String()+"/usage"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+tenantID.String())
	recorder := httptest.NewRecorder()
	s.api.ServeHTTP(recorder, r)
	answer, err := io.ReadAll(recorder.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	masked := strings.ReplaceAll(string(answer), tenantID.String(), "TENANT")
	return recorder.Code, strings.TrimSpace(ids.ReplaceAllString(masked, "ID"))
}

var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// recordCase is a recording with the expected response.
type recordCase struct {
	name, body string
	status     int
	want       string
}

// recordCases returns the cases in the order to send them, for the site and tenant of
// newRecordSite.
func recordCases() []recordCase {
	const (
		notFound  = `{"message":"There is no active meter with this code."}`
		duplicate = `{"message":"Usage with this idempotency key has already been recorded for this meter."}`
		exceeded  = `{"code":"QUOTA_EXCEEDED","current_usage":4.500001,"grants_remaining":0,"limit":10,"limited_by":"plan","message":"This would exceed your usage limit.","meter_code":"calls"}`
	)
	invalid := func(field, message string) string {
		return `{"errors":{"` + field + `":["` + message + `"]},"message":"` + message + `"}`
	}
	created := func(quantity, at string) string {
		return `{"data":{"id":"ID","meter_code":"calls","quantity":` + quantity + `,"recorded_at":"` + at + `"},"message":"usage.recorded"}`
	}
	return []recordCase{
		{"only a meter", `{"meter_code":"calls"}`, 201, created("1", "2026-11-21T12:00:00.000000Z")},
		{
			"everything", `{"meter_code":" calls ","quantity":2.5,"idempotency_key":"k","recorded_at":"2026-11-21T11:30:00.1234567+01:00","metadata":{"b":1,"a":[null]}}`,
			201, created("2.5", "2026-11-21T10:30:00.123456Z"),
		},
		{"nulls", `{"meter_code":"calls","idempotency_key":null,"metadata":null}`, 201, created("1", "2026-11-21T12:00:00.000000Z")},
		{"zero", `{"meter_code":"calls","quantity":0}`, 201, created("0", "2026-11-21T12:00:00.000000Z")},
		{"an empty key is ignored", `{"meter_code":"calls","quantity":0,"idempotency_key":" "}`, 201, created("0", "2026-11-21T12:00:00.000000Z")},
		{"the same empty key again", `{"meter_code":"calls","quantity":0,"idempotency_key":""}`, 201, created("0", "2026-11-21T12:00:00.000000Z")},
		{"exact to the millionth", `{"meter_code":"calls","quantity":0.000001}`, 201, created("0.000001", "2026-11-21T12:00:00.000000Z")},
		{"unknown meter", `{"meter_code":"nowhere"}`, 404, notFound},
		{"inactive meter", `{"meter_code":"off"}`, 404, notFound},
		{"duplicate", `{"meter_code":"calls","quantity":100,"idempotency_key":"k"}`, 409, duplicate},
		{"same key on another meter", `{"meter_code":"bytes","quantity":0,"idempotency_key":"k"}`, 201, strings.Replace(created("0", "2026-11-21T12:00:00.000000Z"), "calls", "bytes", 1)},
		{"over the quota", `{"meter_code":"calls","quantity":5.5}`, 429, exceeded},
		{"no meter", `{}`, 422, invalid("meter_code", "This field is required.")},
		{"validation comes before the meter", `{"meter_code":"nowhere","quantity":-1}`, 422, invalid("quantity", "This must be at least 0.")},
		{"too many decimals", `{"meter_code":"calls","quantity":0.0000001}`, 422, invalid("quantity", "This must have at most 6 decimals.")},
		{"too large", `{"meter_code":"calls","quantity":1000000000000.1}`, 422, invalid("quantity", "This must be at most 1,000,000,000,000.")},
		{"a quantity as text", `{"meter_code":"calls","quantity":"1"}`, 422, invalid("quantity", "This must be a number.")},
		{"a quantity of null", `{"meter_code":"calls","quantity":null}`, 422, invalid("quantity", "This field must not be null.")},
		{"a key too long", `{"meter_code":"calls","idempotency_key":"` + strings.Repeat("k", 256) + `"}`, 422, invalid("idempotency_key", "This must have at most 255 characters.")},
		{"a time too far ahead", `{"meter_code":"calls","recorded_at":"2026-11-21T12:05:00.000001Z"}`, 422, invalid("recorded_at", "This must not be in the future.")},
		{"a time of no form", `{"meter_code":"calls","recorded_at":"yesterday"}`, 422, invalid("recorded_at", "This must be a date and time such as 2026-01-31T08:15:30Z.")},
		{"metadata that is a list", `{"meter_code":"calls","metadata":[]}`, 422, invalid("metadata", "This must be an object.")},
		{"a total that does not fit", `{"meter_code":"bytes","quantity":1e12}`, 422, invalid("quantity", "This event would make the meter’s total too large.")},
	}
}

// newRecordSite returns a site with a tenant whose meter "bytes" has room for less than a trillion
// units.
func newRecordSite(t *testing.T, db *sqldb.DB) (*site, uuid.UUID) {
	t.Helper()
	s := newSite(t, usagetest.New(t, db, "2026-11-21 12:00"))
	s.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), usagetest.Meter("bytes", usage.Sum, usage.ResetMonthly, usage.EnforcementUnenforced), usage.Meter{Code: "off", Aggregation: usage.Sum, Reset: usage.ResetNever, Enforcement: usage.EnforcementHard})
	tenantID := s.NewTenant(t)
	s.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 10}})
	if _, err := s.Record(t.Context(), tenantID, usagetest.Recording("bytes", "1")); err != nil {
		t.Fatal(err)
	}
	// Set the counter directly, because a test cannot record this much.
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE usage_counters SET units = $1`, int64(money.MaxTotal-1000)); err != nil {
		t.Fatal(err)
	}
	return s, tenantID
}

func TestRecordOverHTTP(t *testing.T) {
	t.Parallel()
	s, tenantID := newRecordSite(t, dbtest.New(t, sqldb.SQLite))
	for _, tt := range recordCases() {
		status, body := s.ask(t, tenantID, http.MethodPost, "", tt.body)
		if status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, status, tt.status)
		}
		if diff := cmp.Diff(tt.want, body); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
}

func TestReadOverHTTP(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, usagetest.New(t, db, "2026-11-21 12:00"))
		calls := usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard)
		calls.Name, calls.UnitLabel = "API calls", new("calls")
		s.Apply(t, calls, usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementSoft), usage.Meter{Code: "off", Name: "Off", Aggregation: usage.Count, Reset: usage.ResetDaily, Enforcement: usage.EnforcementUnenforced})
		tenantID := s.NewTenant(t)
		s.Plans.Grant(tenantID, usage.Allowance{Billing: usagetest.Billing("2026-11-10 08:00", usage.Month, 1, "2026-11-10 08:00", "2026-12-10 08:00"), Limits: map[string]int64{"calls": 3}})
		for _, body := range []string{
			`{"meter_code":"calls","quantity":1.5,"recorded_at":"2026-11-20T00:00:00Z","metadata":{"by":"x"}}`,
			`{"meter_code":"calls","quantity":1}`,
			`{"meter_code":"calls","quantity":1,"recorded_at":"2026-11-10T07:59:59Z"}`,
			`{"meter_code":"disk","quantity":12}`,
		} {
			if status, answer := s.ask(t, tenantID, http.MethodPost, "", body); status != http.StatusCreated {
				t.Fatalf("%s: %d %s", body, status, answer)
			}
		}

		const (
			callsHead    = `{"meter_id":"ID","meter_code":"calls","meter_name":"API calls","current_usage":2.5,"reserved":0,"quota_limit":3,"usage_percent":83.33,`
			callsSummary = callsHead + `"aggregation_type":"sum","reset_interval":"monthly","quota_enforcement":"hard","unit_label":"calls"`
			diskHead     = `{"meter_id":"ID","meter_code":"disk","meter_name":"disk","current_usage":12,"reserved":0,"quota_limit":null,"usage_percent":null,`
			diskSummary  = diskHead + `"aggregation_type":"last_value","reset_interval":"none","quota_enforcement":"soft","unit_label":null`
			offSummary   = `{"meter_id":"ID","meter_code":"off","meter_name":"Off","current_usage":0,"reserved":0,"quota_limit":null,"usage_percent":null,` +
				`"aggregation_type":"count","reset_interval":"daily","quota_enforcement":"none","unit_label":null`
			unbilled = `"unit_price_cents":null,"currency":null,`
			november = `"period_start":"2026-11-10T08:00:00.000000Z","period_end":"2026-12-10T08:00:00.000000Z"`
		)
		tests := []struct {
			path   string
			status int
			want   string
		}{
			{"", 200, `{"data":{"tenant_id":"TENANT",` + november + `,"meters":[` + callsSummary + `},` + diskSummary + `}]}}`},
			{
				"/quotas", 200, `{"data":{"tenant_id":"TENANT","meters":[` + callsHead + `"status":"warning","quota_enforcement":"hard","unit_label":"calls","grants_remaining":0,"cap":null,"cap_by":null,"resets_at":"2026-12-10T08:00:00.000000Z",` +
					unbilled + `"rejected":0,"alerts":[{"percent":80,"sent_at":"2026-11-21T12:00:00.000000Z"},{"percent":100,"sent_at":null}]},` +
					diskHead + `"status":"ok","quota_enforcement":"soft","unit_label":null,"grants_remaining":0,"cap":null,"cap_by":null,"resets_at":null,` + unbilled + `"rejected":0,"alerts":[]}]}}`,
			},
			{
				"/calls", 200, `{"data":` + callsSummary + `,` + november + `,"recent_events":[` +
					`{"id":"ID","quantity":1,"recorded_at":"2026-11-21T12:00:00.000000Z","metadata":null},` +
					`{"id":"ID","quantity":1.5,"recorded_at":"2026-11-20T00:00:00.000000Z","metadata":{"by":"x"}}]}}`,
			},
			{
				"/disk", 200, `{"data":` + diskSummary + `,"period_start":null,"period_end":null,"recent_events":[` +
					`{"id":"ID","quantity":12,"recorded_at":"2026-11-21T12:00:00.000000Z","metadata":null}]}}`,
			},
			{
				"/off", 200, `{"data":` + offSummary + `,"period_start":"2026-11-21T00:00:00.000000Z","period_end":"2026-11-22T00:00:00.000000Z","recent_events":[]}}`,
			},
			{"/nowhere", 404, `{"message":"Not found."}`},
			{"/a%00b", 404, `{"message":"Not found."}`},
		}
		for _, tt := range tests {
			status, body := s.ask(t, tenantID, http.MethodGet, tt.path, "")
			if status != tt.status {
				t.Errorf("%s: status %d, want %d", tt.path, status, tt.status)
			}
			// PostgreSQL reformats stored JSON objects.
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(body, `{"by": "x"}`, `{"by":"x"}`)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.path, diff)
			}
		}
	})
}

func TestReadOverHTTPWithoutMeters(t *testing.T) {
	t.Parallel()
	s := newSite(t, usagetest.New(t, dbtest.New(t, sqldb.SQLite), "2026-11-21 12:00"))
	tenantID := s.NewTenant(t)
	want := `{"data":{"tenant_id":"TENANT","period_start":"2026-11-01T00:00:00.000000Z","period_end":"2026-12-01T00:00:00.000000Z","meters":[]}}`
	if _, body := s.ask(t, tenantID, http.MethodGet, "", ""); body != want {
		t.Errorf("summary: %s", body)
	}
	if _, body := s.ask(t, tenantID, http.MethodGet, "/quotas", ""); body != `{"data":{"tenant_id":"TENANT","meters":[]}}` {
		t.Errorf("quotas: %s", body)
	}
}

// Recording returns 503 with Retry-After once the service stops.
func TestRecordOverHTTPWhenStopping(t *testing.T) {
	t.Parallel()
	w := usagetest.New(t, dbtest.New(t, sqldb.SQLite), "2026-11-21 12:00")
	w.Service = usage.NewService(w.Deps())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, w)
	status, body := s.ask(t, s.NewTenant(t), http.MethodPost, "", `{"meter_code":"calls"}`)
	if status != http.StatusServiceUnavailable || body != `{"message":"The service is busy. Please try again shortly."}` {
		t.Errorf("got %d %s", status, body)
	}
}
