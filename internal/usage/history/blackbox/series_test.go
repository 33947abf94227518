package blackbox_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history"
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// meter creates a meter whose code is its aggregation.
func meter(s *apptest.Server, admin, way string) {
	s.T.Helper()
	s.Call("POST", "/api/v1/admin/meters", admin, apptest.Object{
		"code": way, "name": way, "aggregation_type": way, "reset_interval": "none", "quota_enforcement": "none", "unit_label": "GB",
	}).Want(201)
}

func record(s *apptest.Server, o apptest.Owner, code string, quantity float64, at time.Time) {
	s.T.Helper()
	s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{
		"meter_code": code, "quantity": quantity, "recorded_at": at.Format(time.RFC3339Nano),
	}).Want(201)
}

func ask(s *apptest.Server, o apptest.Owner, what string, query url.Values) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", o.Path("/usage/"+what+"?"+query.Encode()), o.Token, nil).As(query.Encode())
}

// values returns the values of a series.
func values(s *apptest.Server, o apptest.Owner, code, interval string, from, to time.Time) []float64 {
	s.T.Helper()
	a := ask(s, o, "series", url.Values{
		"meter_code": {code}, "interval": {interval}, "from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)},
	}).Want(200)
	var got []float64
	for _, v := range a.At("data.points").([]any) {
		got = append(got, v.(apptest.Object)["value"].(float64))
	}
	return got
}

var ways = []string{"sum", "max", "count", "last_value"}

// A series is the same before and after its hours are summed, with late and deleted events, for
// every aggregation.
func TestSeries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, admin := s.Register("ada@example.com", true), s.Admin()
		db := s.DB()
		today := s.Now().UTC().Truncate(24 * time.Hour)
		m := monthsOfUsage{s: s, o: ada, today: today}
		m.recordEvents(admin)
		m.want(t, "before", sumsAtFirst, cutAtFirst)
		sums := history.NewSums(db, clock.System())
		// Half of the meters are summed, up to the middle of an hour.
		for _, way := range ways {
			if err := sums.AddUntil(t.Context(), []usage.StreamKey{m.stream(way)}, m.at(-40, 10*time.Hour+30*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		m.want(t, "half summed", sumsAtFirst, cutAtFirst)
		if err := sums.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.CountRows("SELECT count(*) FROM usage_hours WHERE tenant_id = $1", ada.Tenant); n != 4*6 {
			t.Errorf("%d hours", n)
		}
		m.want(t, "summed", sumsAtFirst, cutAtFirst)

		// Late events appear immediately.
		for _, way := range ways {
			record(s, ada, way, 5, m.at(-39, 5*time.Hour))
			record(s, ada, way, 1, m.at(-40, time.Hour))
		}
		late := map[string][]float64{
			"sum": {0, 8.5, 5, 3.000001, 8}, "max": {0, 4, 5, 3, 8}, "count": {0, 4, 1, 2, 1}, "last_value": {9, 4, 5, 0.000001, 8},
		}
		cut := map[string][]float64{"sum": {5.5, 5, 3}, "max": {4, 5, 3}, "count": {2, 1, 1}, "last_value": {4, 5, 3}}
		m.want(t, "late", late, cut)
		m.correctHours(t)
		m.want(t, "corrected", late, cut)
		m.deleteEvents(t, late)
	})
}

// monthsOfUsage are events of the last months, in a meter for each aggregation.
type monthsOfUsage struct {
	s     *apptest.Server
	o     apptest.Owner
	today time.Time
}

// Expected values by day, and in a range that starts within an hour and ends before the last event.
var (
	sumsAtFirst = map[string][]float64{
		"sum": {0, 7.5, 0, 3.000001, 8}, "max": {0, 4, 0, 3, 8}, "count": {0, 3, 0, 2, 1}, "last_value": {9, 4, 4, 0.000001, 8},
	}
	cutAtFirst = map[string][]float64{"sum": {5.5, 0, 3}, "max": {4, 0, 3}, "count": {2, 0, 1}, "last_value": {4, 4, 3}}
)

func (m monthsOfUsage) at(days int, d time.Duration) time.Time {
	return m.today.AddDate(0, 0, days).Add(d)
}

func (m monthsOfUsage) recordEvents(admin string) {
	at := m.at
	for _, way := range ways {
		meter(m.s, admin, way)
		for _, e := range []struct {
			quantity float64
			at       time.Time
		}{
			{9, at(-70, 0)},
			{2, at(-40, 10*time.Hour)},
			{1.5, at(-40, 10*time.Hour+59*time.Minute+59*time.Second)},
			{4, at(-40, 11*time.Hour)},
			{3, at(-38, 0)},
			{0.000001, at(-38, 24*time.Hour-time.Microsecond)},
			{8, at(-37, 0)},
		} {
			record(m.s, m.o, way, e.quantity, e.at)
		}
	}
}

// want checks the values by day, in the cut range and by hour.
func (m monthsOfUsage) want(t *testing.T, when string, days, cut map[string][]float64) {
	t.Helper()
	s, o, at := m.s, m.o, m.at
	for _, way := range ways {
		if diff := cmp.Diff(days[way], values(s, o, way, "day", at(-41, 0), at(-36, 0))); diff != "" {
			t.Errorf("%s: %s by day: %s", when, way, diff)
		}
		if diff := cmp.Diff(cut[way], values(s, o, way, "day", at(-40, 10*time.Hour+30*time.Minute), at(-37, -time.Microsecond))); diff != "" {
			t.Errorf("%s: %s cut: %s", when, way, diff)
		}
		hours := map[string][]float64{"sum": {3.5, 4}, "max": {2, 4}, "count": {2, 1}, "last_value": {1.5, 4}}
		if diff := cmp.Diff(hours[way], values(s, o, way, "hour", at(-40, 10*time.Hour), at(-40, 12*time.Hour))); diff != "" {
			t.Errorf("%s: %s by hour: %s", when, way, diff)
		}
	}
}

func (m monthsOfUsage) stream(way string) usage.StreamKey {
	m.s.T.Helper()
	k := usage.StreamKey{TenantID: uuid.MustParse(m.o.Tenant)}
	err := m.s.DB().Conn(m.s.T.Context()).QueryRowContext(m.s.T.Context(), "SELECT id FROM meters WHERE code = $1", way).Scan(&k.MeterID)
	if err != nil {
		m.s.T.Fatal(err)
	}
	return k
}

// A recount finds no difference, and corrects hours that were changed.
func (m monthsOfUsage) correctHours(t *testing.T) {
	db := m.s.DB()
	recount := func(fix bool) int {
		t.Helper()
		found, err := retention.NewRecounter(db, clock.System()).Recount(t.Context(), retention.Recount{Fix: fix, Wrong: func(retention.WrongCounter) {}})
		if err != nil {
			t.Fatal(err)
		}
		return found.Wrong
	}
	if n := recount(false); n != 0 {
		t.Errorf("%d are wrong", n)
	}
	apptest.Exec(t, db, "UPDATE usage_hours SET units = units + 7, last = 1 WHERE hour = $1", usage.HourOf(m.at(-37, 0)))
	apptest.Exec(t, db, "DELETE FROM usage_hours WHERE hour = $1", usage.HourOf(m.at(-38, 0)))
	if n := recount(true); n != 8 {
		t.Errorf("%d are wrong, want 8", n)
	}
}

// After the events are deleted, the values are exact to the hour. The values by month stay.
func (m monthsOfUsage) deleteEvents(t *testing.T, days map[string][]float64) {
	s, db := m.s, m.s.DB()
	month := time.Date(m.today.Year(), m.today.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, -3, 0)
	before := values(s, m.o, "sum", "month", month, m.today)
	pruner := retention.New(retention.Deps{DB: db, Clock: clock.System(), Log: nil, Keep: 36 * apptest.Day})
	if err := pruner.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.CountRows("SELECT count(*) FROM usage_events WHERE tenant_id = $1", m.o.Tenant); n != 0 {
		t.Errorf("%d events are left", n)
	}
	cut := map[string][]float64{"sum": {7.5, 5, 3.000001}, "max": {4, 5, 3}, "count": {3, 1, 2}, "last_value": {4, 5, 0.000001}}
	m.want(t, "deleted", days, cut)
	if diff := cmp.Diff(before, values(s, m.o, "sum", "month", month, m.today)); diff != "" {
		t.Error(diff)
	}
}

func TestSeriesRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		a := ask(s, ada, "series", url.Values{"meter_code": {"api-calls"}}).Want(200).
			WantAt("data.meter_code", "api-calls").WantAt("data.interval", "day")
		if n := len(a.At("data.points").([]any)); n != 31 {
			t.Errorf("%d points in 30 days", n)
		}
		s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 3}).Want(201)
		points := ask(s, ada, "series", url.Values{"meter_code": {"api-calls"}}).Want(200).At("data.points").([]any)
		if last := points[len(points)-1].(apptest.Object); last["value"] != 3.0 {
			t.Errorf("now: %v", last)
		}
		for what, query := range map[string]url.Values{
			"meter_code": {}, "interval": {"meter_code": {"api-calls"}, "interval": {"week"}},
			"from": {"meter_code": {"api-calls"}, "from": {"yesterday"}}, "to": {"meter_code": {"api-calls"}, "to": {"2026-13-01"}},
		} {
			ask(s, ada, "series", query).WantInvalid(what)
		}
		many := url.Values{"meter_code": {"api-calls"}, "from": {"2025-01-01"}, "to": {"2026-02-05"}}
		if n := len(ask(s, ada, "series", many).Want(200).At("data.points").([]any)); n != 400 {
			t.Errorf("%d points", n)
		}
		many.Set("to", "2026-02-06")
		ask(s, ada, "series", many).WantInvalid("from")
		many.Set("to", "2025-01-01")
		ask(s, ada, "series", many).As("no time").WantInvalid("from")
		for interval, want := range map[string]int{"hour": 169, "month": 13} { // a partial period at both ends
			a := ask(s, ada, "series", url.Values{"meter_code": {"api-calls"}, "interval": {interval}}).Want(200)
			if n := len(a.At("data.points").([]any)); n != want && n != want-1 {
				t.Errorf("%d points by %s", n, interval)
			}
		}
		for _, what := range []string{"series", "export"} {
			ask(s, ada, what, url.Values{"meter_code": {"nowhere"}}).WantRefused(404, "")
		}
		ask(s, ada, "export", url.Values{"meter_code": {"api-calls"}, "format": {"xml"}}).WantInvalid("format")
		secret := func(scope string) string {
			return s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "K", "scopes": []string{scope}}).Want(201).Str("data.secret")
		}
		reader, writer := secret("usage.read"), secret("usage.write")
		for _, what := range []string{"series", "export"} {
			s.Call("GET", ada.Path("/usage/"+what+"?meter_code=api-calls"), reader, nil).Want(200)
			s.Call("GET", ada.Path("/usage/"+what+"?meter_code=api-calls"), writer, nil).WantRefused(403, "insufficient_scope")
		}
	})
}

func TestExport(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		const events = 1203 // more than two pages
		var batch []apptest.Object
		day := s.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -3)
		for i := range events {
			at := day.Add(time.Duration(i/7) * time.Second) // several events with the same time
			batch = append(batch, apptest.Object{"meter_code": "storage-gb", "quantity": 1.5, "recorded_at": at.Format(time.RFC3339), "idempotency_key": fmt.Sprintf("=%d", i)})
		}
		batch[0]["metadata"] = apptest.Object{"by": "a,\"b\"\nc"}
		for len(batch) > 0 {
			n := min(len(batch), 1000)
			s.Call("POST", ada.Path("/usage/batch"), ada.Token, apptest.Object{"events": batch[:n]}).Want(200)
			batch = batch[n:]
		}
		s.Call("POST", other.Path("/usage"), other.Token, apptest.Object{"meter_code": "storage-gb"}).Want(201)
		a := ask(s, ada, "export", url.Values{"meter_code": {"storage-gb"}}).Want(200)
		if got := a.Header.Get("Content-Disposition") + a.Header.Get("Content-Type"); got != `attachment; filename="usage-storage-gb.csv"text/csv; charset=utf-8` {
			t.Errorf("%s", got)
		}
		rows, err := csv.NewReader(strings.NewReader(a.Text)).ReadAll()
		if err != nil || len(rows) != events+1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if diff := cmp.Diff([]string{"id", "meter_code", "quantity", "recorded_at", "idempotency_key", "metadata"}, rows[0]); diff != "" {
			t.Error(diff)
		}
		ids := map[string]bool{}
		for _, row := range rows[1:] {
			ids[row[0]] = true
			if row[1] != "storage-gb" || row[2] != "1.5" || !strings.HasPrefix(row[4], "'=") || len(row[3]) != len("2026-01-31T08:15:30.123456Z") {
				t.Fatalf("%q", row)
			}
		}
		if len(ids) != events || rows[1][5] != `{"by":"a,\"b\"\nc"}` {
			t.Errorf("%d events, metadata %q", len(ids), rows[1][5])
		}
		a = ask(s, ada, "export", url.Values{"meter_code": {"storage-gb"}, "format": {"jsonl"}, "to": {day.Add(time.Second).Format(time.RFC3339)}}).Want(200)
		lines := strings.Split(strings.TrimSpace(a.Text), "\n")
		if len(lines) != 7 {
			t.Fatalf("%d lines: %s", len(lines), a.Text)
		}
		var first apptest.Object
		if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first["quantity"] != 1.5 || first["idempotency_key"] != "=0" || len(first) != 6 {
			t.Errorf("%v %v", first, err)
		}
		empty := ask(s, ada, "export", url.Values{"meter_code": {"api-calls"}}).Want(200)
		if empty.Text != `"id","meter_code","quantity","recorded_at","idempotency_key","metadata"`+"\n" {
			t.Errorf("%q", empty.Text)
		}
	})
}
