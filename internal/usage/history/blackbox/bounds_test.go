package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// happened is an event to record on each meter of [ways].
type happened struct {
	quantity float64
	at       time.Time
}

// recordAll creates a meter for each aggregation, and records the same events on each in one batch.
func recordAll(s *apptest.Server, o apptest.Owner, events ...happened) {
	s.T.Helper()
	admin := s.Admin()
	var batch []apptest.Object
	for _, way := range ways {
		meter(s, admin, way)
		for _, e := range events {
			batch = append(batch, apptest.Object{"meter_code": way, "quantity": e.quantity, "recorded_at": e.at.Format(time.RFC3339Nano)})
		}
	}
	sendBatch(s, o, batch)
}

// sendBatch records events and fails unless all are stored.
func sendBatch(s *apptest.Server, o apptest.Owner, batch []apptest.Object) {
	s.T.Helper()
	a := s.Call("POST", o.Path("/usage/batch"), o.Token, apptest.Object{"events": batch}).Want(200)
	for i, status := range a.Column("status") {
		if status != 201.0 {
			s.T.Fatalf("event %d: %v", i, a.At("data").([]any)[i])
		}
	}
}

// wantValues compares the series of each aggregation.
func wantValues(s *apptest.Server, o apptest.Owner, interval string, from, to time.Time, want map[string][]float64) {
	s.T.Helper()
	for way, points := range want {
		if diff := cmp.Diff(points, values(s, o, way, interval, from, to)); diff != "" {
			s.T.Errorf("%s by %s from %s to %s: %s", way, interval, from, to, diff)
		}
	}
}

// begins returns the start times of the periods of a series, to the minute.
func begins(a apptest.Reply) []string {
	a.T.Helper()
	var got []string
	for _, p := range a.Want(200).At("data.points").([]any) {
		at, ok := strings.CutSuffix(p.(apptest.Object)["at"].(string), ":00.000000Z")
		if !ok {
			a.T.Errorf("a period begins at %v", p)
		}
		got = append(got, at)
	}
	return got
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// A series includes an event at its start and excludes an event at its end, to the microsecond. A
// last_value from before the start carries over until the next event.
func TestSeriesAtItsBoundaries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		const moment = time.Microsecond
		from := s.Now().UTC().Truncate(apptest.Day).AddDate(0, 0, -2).Add(10*time.Hour + 15*time.Minute)
		to := from.Add(2 * time.Hour)
		recordAll(s, ada, happened{64, from.Add(-moment)}, happened{2, from}, happened{4, to.Add(-moment)}, happened{8, to})
		wantValues(s, ada, "hour", from, to, map[string][]float64{
			"sum": {2, 0, 4}, "max": {2, 0, 4}, "count": {1, 0, 1}, "last_value": {2, 2, 4},
		})
		wantValues(s, ada, "hour", from.Add(moment), to.Add(moment), map[string][]float64{
			"sum": {0, 0, 12}, "max": {0, 0, 8}, "count": {0, 0, 2}, "last_value": {2, 2, 8},
		})
		wantValues(s, ada, "day", from.Add(-moment), from, map[string][]float64{
			"sum": {64}, "max": {64}, "count": {1}, "last_value": {64},
		})
		wantValues(s, ada, "day", from.Add(-2*moment), from.Add(-moment), map[string][]float64{
			"sum": {0}, "max": {0}, "count": {0}, "last_value": {0},
		})
		wantValues(s, ada, "day", to.Add(apptest.Day), to.Add(apptest.Day+moment), map[string][]float64{
			"sum": {0}, "max": {0}, "count": {0}, "last_value": {8},
		})
	})
}

// Months have calendar length. If only a part of a period is requested, the point has the regular
// start of the period but only counts the requested part.
func TestSeriesByTheCalendar(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		const moment = time.Microsecond
		recordAll(s, ada,
			happened{1, date(2024, 1, 1).Add(-moment)}, happened{2, date(2024, 2, 1).Add(-moment)}, happened{4, date(2024, 2, 1)},
			happened{8, date(2024, 3, 1).Add(-moment)}, happened{16, date(2024, 3, 1)}, happened{32, date(2024, 5, 1).Add(-moment)},
			happened{64, date(2025, 3, 1).Add(-moment)}, happened{128, date(2025, 3, 1)},
		)
		wantValues(s, ada, "month", date(2024, 1, 1), date(2024, 7, 1), map[string][]float64{
			"sum": {2, 12, 16, 32, 0, 0}, "max": {2, 8, 16, 32, 0, 0}, "count": {1, 2, 1, 1, 0, 0}, "last_value": {2, 8, 16, 32, 32, 32},
		})
		wantValues(s, ada, "day", date(2024, 2, 28), date(2024, 3, 2), map[string][]float64{
			"sum": {0, 8, 16}, "max": {0, 8, 16}, "count": {0, 1, 1}, "last_value": {4, 8, 16},
		})
		wantValues(s, ada, "day", date(2025, 2, 28), date(2025, 3, 2), map[string][]float64{
			"sum": {64, 128}, "max": {64, 128}, "count": {1, 1}, "last_value": {64, 128},
		})
		wantValues(s, ada, "month", date(2024, 2, 2), date(2024, 3, 2), map[string][]float64{
			"sum": {8, 16}, "max": {8, 16}, "count": {1, 1}, "last_value": {8, 16},
		})
		for _, tt := range []struct{ interval, from, to, want string }{
			{"month", "2023-12-31", "2024-03-01T00:00:00.000001Z", "2023-12-01T00:00 2024-01-01T00:00 2024-02-01T00:00 2024-03-01T00:00"},
			{"day", "2024-02-28", "2024-03-02", "2024-02-28T00:00 2024-02-29T00:00 2024-03-01T00:00"},
			{"hour", "2024-02-29T23:30:00+01:00", "2024-03-01T01:00:00+01:00", "2024-02-29T22:00 2024-02-29T23:00"},
			{"hour", "2023-12-31T23:00:00Z", "2024-01-01T01:00:00Z", "2023-12-31T23:00 2024-01-01T00:00"},
		} {
			a := ask(s, ada, "series", url.Values{"meter_code": {"sum"}, "interval": {tt.interval}, "from": {tt.from}, "to": {tt.to}})
			if diff := cmp.Diff(strings.Fields(tt.want), begins(a)); diff != "" {
				t.Errorf("%s from %s: %s", tt.interval, tt.from, diff)
			}
		}
		// Without from, the range is the 30 days before to.
		april := begins(ask(s, ada, "series", url.Values{"meter_code": {"sum"}, "to": {"2024-05-01"}}))
		if len(april) != 30 || april[0] != "2024-04-01T00:00" {
			t.Errorf("30 days are %v", april)
		}
	})
}

func TestSeriesOfWrongTimes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for _, tt := range []struct{ interval, from, to, wrong string }{
			{"day", "2025-01-02", "2025-01-01", "from"},
			{"day", "2025-01-01T00:00:00+01:00", "2024-12-31T23:00:00Z", "from"},
			{"day", "2025-02-29", "2025-03-01", "from"},
			{"day", "2025-01-01", "1767225600", "to"},
			{"day", "2025-01-01", "2025-01-02T00:00:00", "to"},
			{"day", "0000-01-01", "10000-01-01", "from to"},
			{"hour", "2025-01-01", "2025-01-17T16:00:00Z", ""}, // 400 points
			{"hour", "2025-01-01", "2025-01-17T16:00:00.000001Z", "from"},
			{"month", "1992-01-31", "2025-05-01", ""}, // 400 points
			{"month", "1991-12-31", "2025-05-01", "from"},
			{"Day", "2025-01-01", "2025-01-02", "interval"},
			{"hour", "2025-01-01", "", "from"}, // up to now
		} {
			a := ask(s, ada, "series", url.Values{"meter_code": {"api-calls"}, "interval": {tt.interval}, "from": {tt.from}, "to": {tt.to}})
			if tt.wrong != "" {
				a.WantInvalid(strings.Fields(tt.wrong)...)
			} else if n := len(begins(a)); n != 400 {
				t.Errorf("%s: %d points", tt.interval, n)
			}
		}
		for _, what := range []string{"series", "export"} {
			ask(s, ada, what, url.Values{"meter_code": {""}}).As(what + " without a meter").WantInvalid("meter_code")
			ask(s, ada, what, url.Values{"meter_code": {strings.Repeat("x", 256)}}).As(what + " of a long meter").WantInvalid("meter_code")
		}
		for field, query := range map[string]url.Values{
			"meter_code": {"format": {"csv"}}, "format": {"meter_code": {"api-calls"}, "format": {"CSV"}},
			"from": {"meter_code": {"api-calls"}, "from": {"2025-01-01"}, "to": {"2025-01-01"}},
			"to":   {"meter_code": {"api-calls"}, "to": {"tomorrow"}},
		} {
			ask(s, ada, "export", query).WantInvalid(field)
		}
	})
}

// A series is exact to the last fraction, uses the newer of two values with the same time, and
// includes events of a meter that is now inactive, under its current name.
func TestSeriesIsExact(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, admin := s.Register("ada@example.com", true), s.Admin()
		query := func(code string) url.Values {
			return url.Values{"meter_code": {code}, "from": {"2025-06-01"}, "to": {"2025-06-02"}}
		}
		var batch []apptest.Object
		meters := map[string]string{}
		for _, way := range ways {
			meters[way] = s.Call("POST", "/api/v1/admin/meters", admin, apptest.Object{
				"code": way, "name": way, "aggregation_type": way, "reset_interval": "none", "quota_enforcement": "none",
			}).Want(201).Str("data.id")
			for _, quantity := range []string{"900719925.474099", "0.1", "0.2", "0.000001", "900719925.474098"} {
				batch = append(batch, apptest.Object{"meter_code": way, "quantity": json.Number(quantity), "recorded_at": "2025-06-01T12:00:00Z"})
			}
			batch = append(batch, apptest.Object{"meter_code": way, "quantity": 5, "recorded_at": "2025-06-01T11:59:59.999999Z"}) // a late event
		}
		sendBatch(s, ada, batch)
		for way, want := range map[string]string{"sum": "1801439856.248198", "max": "900719925.474099", "count": "6", "last_value": "900719925.474098"} {
			a := ask(s, ada, "series", query(way)).Want(200).WantAt("data.unit_label", nil)
			if !strings.Contains(a.Text, `"points":[{"at":"2025-06-01T00:00:00.000000Z","value":`+want+`}]`) {
				t.Errorf("%s, want %s: %s", way, want, a.Text)
			}
		}
		s.Call("PATCH", "/api/v1/admin/meters/"+meters["sum"], admin, apptest.Object{"is_active": false, "unit_label": "TB"}).Want(200)
		s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "sum"}).WantRefused(404, "")
		ask(s, ada, "series", query("sum")).Want(200).WantAt("data.unit_label", "TB").WantAt("data.points.0.value", 1801439856.248198)
		if lines := strings.Count(ask(s, ada, "export", query("sum")).Want(200).Text, "\n"); lines != 7 {
			t.Errorf("%d lines of an inactive meter", lines)
		}
	})
}

// A caller needs the permission to read usage, and gets only the usage of their tenant.
func TestHistoryIsOfOneTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		member, _ := s.Join(ada, "Member", "member@example.com", "member")
		record(s, ada, "api-calls", 3, date(2025, 6, 1))
		record(s, bob, "api-calls", 5, date(2025, 6, 1))
		key := func(path, token string) string {
			return s.Call("POST", path+"/api-keys", token, apptest.Object{"name": "K", "scopes": []string{"usage.read"}}).Want(201).Str("data.secret")
		}
		platform, foreign := key("/api/v1/admin", s.Admin()), key(bob.Path(""), bob.Token)
		const query = "?meter_code=api-calls&from=2025-06-01&to=2025-06-02"
		for _, tt := range []struct {
			o        apptest.Owner
			token    string
			quantity float64
		}{{ada, ada.Token, 3}, {ada, member, 3}, {ada, platform, 3}, {bob, platform, 5}, {bob, foreign, 5}} {
			s.Call("GET", tt.o.Path("/usage/series"+query), tt.token, nil).Want(200).WantAt("data.points.0.value", tt.quantity)
			a := s.Call("GET", tt.o.Path("/usage/export"+query), tt.token, nil).Want(200)
			if rows := readCSV(a); len(rows) != 1 || rows[0][2] != fmt.Sprint(tt.quantity) {
				t.Errorf("%q, want one of %v", rows, tt.quantity)
			}
		}
		for _, what := range []string{"/usage/series", "/usage/export"} {
			s.Call("GET", ada.Path(what+query), bob.Token, nil).As(what+" of another").WantRefused(403, "")
			s.Call("GET", ada.Path(what+query), foreign, nil).As(what+" with another's key").WantRefused(403, "")
		}
	})
}

// By default an export ends now. Events can be a few minutes ahead of the clock, and many days
// ahead after the clock was set back. An export with a later "to" includes them.
func TestExportOfEventsAheadOfTheClock(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		now := s.Now()
		for _, at := range []time.Time{now.Add(-time.Minute), now.Add(4 * time.Minute)} {
			sendBatch(s, ada, []apptest.Object{{"meter_code": "storage-gb", "quantity": 1, "recorded_at": at.Format(time.RFC3339Nano)}})
		}
		for to, want := range map[string]int{"": 1, "2999-01-01": 2} {
			query := url.Values{"meter_code": {"storage-gb"}}
			if to != "" {
				query.Set("to", to)
				query.Set("from", now.Add(-time.Hour).Format(time.RFC3339Nano))
			}
			if rows := readCSV(ask(s, ada, "export", query).Want(200)); len(rows) != want {
				t.Errorf("to %q: %d events, want %d", to, len(rows), want)
			}
		}
		query := url.Values{"meter_code": {"storage-gb"}, "from": {"2999-01-01"}, "to": {"2999-01-02"}}
		if rows := readCSV(ask(s, ada, "export", query).Want(200)); len(rows) != 0 {
			t.Errorf("in the future: %v", rows)
		}
	})
}
