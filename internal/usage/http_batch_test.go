package usage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// Each event of a batch gets the same status, code and messages as it would alone, even if they
// depend on earlier events in the batch.
func TestBatchResponsesEqualSingleResponses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, tenantID := newRecordSite(t, db)
		var events []string
		want := []map[string]any{}
		for i, tt := range recordCases() {
			events = append(events, tt.body)
			alone := map[string]any{}
			if err := json.Unmarshal([]byte(tt.want), &alone); err != nil {
				t.Fatal(err)
			}
			result := map[string]any{"index": float64(i), "status": float64(tt.status)}
			if tt.status == http.StatusCreated {
				result["id"] = "ID"
			} else {
				for key, value := range alone {
					result[key] = value
				}
			}
			want = append(want, result)
		}
		status, body := s.ask(t, tenantID, http.MethodPost, "/batch", `{"events":[`+strings.Join(events, ",")+`]}`)
		var got struct{ Data []map[string]any }
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		for i, tt := range recordCases() {
			if diff := cmp.Diff(want[i], got.Data[i]); diff != "" {
				t.Errorf("%s (-single +batch)\n%s", tt.name, diff)
			}
		}
	})
}

func TestBatchIsRejectedAsAWhole(t *testing.T) {
	t.Parallel()
	s, tenantID := newRecordSite(t, dbtest.New(t, sqldb.SQLite))
	events := func(n int) string {
		return `{"events":[` + strings.TrimSuffix(strings.Repeat(`{"meter_code":"calls","quantity":0},`, n), ",") + `]}`
	}
	before := s.Count(t, tenantID)
	for _, tt := range []struct {
		name, body string
		status     int
		message    string
	}{
		{"no events", `{}`, 422, "This field is required."},
		{"null", `{"events":null}`, 422, "This field must not be null."},
		{"none", `{"events":[]}`, 422, "The list must not be empty."},
		{"an object", `{"events":{}}`, 422, "This must be a list."},
		{"too many", events(1001), 422, "The list must have at most 1,000 entries."},
		{"too large", `{"events":[],"more":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "The request body is too large."},
		{"no JSON", `{"events":[`, 400, "The request body is not valid JSON."},
	} {
		status, body := s.ask(t, tenantID, http.MethodPost, "/batch", tt.body)
		if status != tt.status || !strings.Contains(body, tt.message) {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
	}
	if after := s.Count(t, tenantID); after != before {
		t.Errorf("%d events were stored", after-before)
	}
	status, body := s.ask(t, tenantID, http.MethodPost, "/batch", events(1000))
	if status != http.StatusOK || strings.Count(body, `"status":201`) != 1000 || s.Count(t, tenantID) != before+1000 {
		t.Errorf("1000 events: %d, %d stored: %.300s", status, s.Count(t, tenantID)-before, body)
	}
}

// Items that are not event objects are rejected individually.
func TestBatchOfInvalidEvents(t *testing.T) {
	t.Parallel()
	s, tenantID := newRecordSite(t, dbtest.New(t, sqldb.SQLite))
	status, body := s.ask(t, tenantID, http.MethodPost, "/batch",
		`{"events":[null,1,"calls",[],{"meter_code":"calls","meter_code":"bytes","unknown":{}},{"meter_code":"","quantity":"x"}]}`)
	const noObject = `"status":422,"message":"The request body must be a JSON object."}`
	want := `{"data":[{"index":0,` + noObject + `,{"index":1,` + noObject + `,{"index":2,` + noObject + `,{"index":3,` + noObject + `,` +
		`{"index":4,"status":201,"id":"ID"},{"index":5,"status":422,"message":"This field is required.",` +
		`"errors":{"meter_code":["This field is required."],"quantity":["This must be a number."]}}]}`
	if status != http.StatusOK || body != want {
		t.Errorf("%d\ngot  %s\nwant %s", status, body, want)
	}
}

// The events of a batch count in the order of the batch.
func TestBatchKeepsItsOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("level", usage.LastValue, usage.ResetMonthly, usage.EnforcementHard), usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 40}})
		var batch []usage.Recording
		for i := range 100 {
			batch = append(batch, usagetest.Recording("level", fmt.Sprint(i)), usagetest.WithKey(usagetest.Recording("calls", "1"), fmt.Sprint(i%50)))
		}
		outcomes, err := w.RecordBatch(t.Context(), tenantID, batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range outcomes {
			var want error
			if n := i / 2; i%2 == 1 && n >= 50 && n-50 < 40 {
				want = usage.ErrDuplicate
			} else if i%2 == 1 && n >= 40 {
				want = usage.ErrQuotaExceeded
			}
			if o.Err != want && !errors.Is(o.Err, want) { //nolint:errorlint // want can be nil
				t.Fatalf("event %d: got %v, want %v", i, o.Err, want)
			}
		}
		if got := w.Detail(t, tenantID, "level"); got.Current != usagetest.Total("99") || got.Events[19].Quantity != usagetest.Quantity("80") {
			t.Errorf("shows %s, and %v", got.Current, got.Events[19])
		}
		if got := w.Detail(t, tenantID, "calls").Current; got != usagetest.Total("40") {
			t.Errorf("shows %s", got)
		}
	})
}
