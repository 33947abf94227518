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

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// readCSV returns the rows of a CSV export without the header.
func readCSV(a apptest.Reply) [][]string {
	a.T.Helper()
	rows, err := csv.NewReader(strings.NewReader(a.Text)).ReadAll()
	if err != nil || len(rows) == 0 {
		a.T.Fatalf("%v in %s", err, a.Text)
	}
	return rows[1:]
}

// readLines returns the events of a JSON lines export.
func readLines(a apptest.Reply) (events []apptest.Object) {
	a.T.Helper()
	for text := range strings.Lines(a.Text) {
		var e apptest.Object
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			a.T.Fatalf("%v in %s", err, text)
		}
		events = append(events, e)
	}
	return events
}

// Any text that callers send is exported unchanged as JSON, and as CSV except for text that a
// spreadsheet would execute.
func TestExportOfAwkwardTexts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		keys := []string{
			`=HYPERLINK("http://evil.test")`, "+1", "-1", "@SUM(A1)", "\t=1", "a,b", `say "a"`, "'=1", "<é> & 😀", "",
		}
		metadata := apptest.Object{"=a": "=1+1", "b": []any{1.5, nil, "x,\"y\"\n"}, "<c>": apptest.Object{"é": true}}
		quantity := func(i int) string { return fmt.Sprintf("%d.00000%d", i, i%9+1) }
		batch := make([]apptest.Object, len(keys))
		for i, key := range keys {
			batch[i] = apptest.Object{
				"meter_code": "storage-gb", "quantity": json.Number(quantity(i)), "metadata": metadata,
				"recorded_at": fmt.Sprintf("2025-06-01T00:00:00.%06dZ", i),
			}
			if key != "" {
				batch[i]["idempotency_key"] = key
			}
		}
		delete(batch[len(batch)-1], "metadata")
		sendBatch(s, ada, batch)
		query := url.Values{"meter_code": {"storage-gb"}, "from": {"2025-06-01"}, "to": {"2025-06-02"}}
		rows := readCSV(ask(s, ada, "export", query).Want(200))
		query.Set("format", "jsonl")
		lines := readLines(ask(s, ada, "export", query).Want(200))
		if len(rows) != len(keys) || len(lines) != len(keys) {
			t.Fatalf("%d rows and %d lines, want %d", len(rows), len(lines), len(keys))
		}
		for i, key := range keys {
			key = strings.TrimSpace(key) // keys are stored trimmed
			at, last := batch[i]["recorded_at"], i == len(keys)-1
			want := apptest.Object{
				"id": rows[i][0], "meter_code": "storage-gb", "recorded_at": at, "idempotency_key": key, "metadata": metadata, "quantity": lines[i]["quantity"],
			}
			if last {
				want["idempotency_key"], want["metadata"] = nil, nil
			}
			if diff := cmp.Diff(want, lines[i]); diff != "" {
				t.Errorf("%q in JSON: %s", key, diff)
			}
			if i < 5 {
				key = "'" + key
			}
			if rows[i][4] != key || rows[i][3] != at {
				t.Errorf("%q in CSV", rows[i])
			}
			checkMetadata(t, rows[i][5], metadata, last)
			if text := fmt.Sprintf("%.6f", lines[i]["quantity"]); rows[i][2] != quantity(i) || text != quantity(i) {
				t.Errorf("quantity %s and %s, want %s", rows[i][2], text, quantity(i))
			}
		}
	})
}

// checkMetadata compares a CSV cell with the metadata of an event. none means that the event does
// not have metadata.
func checkMetadata(t *testing.T, cell string, metadata apptest.Object, none bool) {
	t.Helper()
	if none {
		if cell != "" {
			t.Errorf("metadata %q, want none", cell)
		}
		return
	}
	var got apptest.Object
	if err := json.Unmarshal([]byte(cell), &got); err != nil {
		t.Errorf("%v in %q", err, cell)
	}
	if diff := cmp.Diff(metadata, got); diff != "" {
		t.Error(diff)
	}
}

// An export has each event of its period once, oldest first, regardless of recording order, and no
// events of other meters.
func TestExportIsComplete(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		const events = 3000
		first := date(2025, 6, 1)
		at := func(i int) time.Time { return first.Add(time.Duration(i) * 7 * time.Microsecond) }
		batch := make([]apptest.Object, 0, events)
		for i := range events {
			n := i * 1009 % events // each once, in mixed order
			batch = append(batch, apptest.Object{
				"meter_code": "storage-gb", "idempotency_key": fmt.Sprint(n), "recorded_at": at(n).Format(time.RFC3339Nano),
			})
		}
		for i := range 3 {
			sendBatch(s, ada, batch[i*1000:(i+1)*1000])
		}
		record(s, ada, "api-calls", 1, first)
		export := func(format string, from, to time.Time) apptest.Reply {
			t.Helper()
			return ask(s, ada, "export", url.Values{
				"meter_code": {"storage-gb"}, "format": {format}, "from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)},
			}).Want(200)
		}
		var want, got []string
		for i := range events {
			want = append(want, fmt.Sprint(i))
		}
		for _, row := range readCSV(export("csv", first, first.Add(time.Hour))) {
			got = append(got, row[4])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, tt := range []struct{ from, to int }{{500, 1500}, {0, 1}, {2999, 3000}, {0, 500}, {0, 501}} {
			got = nil // from is inclusive, to is exclusive
			for _, e := range readLines(export("jsonl", at(tt.from), at(tt.to))) {
				got = append(got, e["idempotency_key"].(string))
			}
			if diff := cmp.Diff(want[tt.from:tt.to], got); diff != "" {
				t.Errorf("%v: %s", tt, diff)
			}
		}
	})
}

func TestExportAsAFile(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		now := s.Now().UTC()
		record(s, ada, "api-calls", 1, now.Add(-30*apptest.Day-time.Second))
		record(s, ada, "api-calls", 2, now.Add(-29*apptest.Day))
		a := ask(s, ada, "export", url.Values{"meter_code": {"api-calls"}, "format": {"jsonl"}}).Want(200)
		if got := readLines(a); len(got) != 1 || got[0]["quantity"] != 2.0 {
			t.Errorf("of the last 30 days: %s", a.Text)
		}
		if got := a.Header.Get("Content-Disposition") + " " + a.Header.Get("Content-Type"); got != `attachment; filename="usage-api-calls.jsonl" application/x-ndjson` {
			t.Error(got)
		}
		head := s.Call("HEAD", ada.Path("/usage/export?meter_code=api-calls&format=jsonl"), ada.Token, nil).Want(200)
		for _, name := range []string{"Content-Disposition", "Content-Type", "Cache-Control", "X-Content-Type-Options"} {
			if head.Header.Get(name) != a.Header.Get(name) {
				t.Errorf("HEAD: %s is %q, want %q", name, head.Header.Get(name), a.Header.Get(name))
			}
		}
		none := ask(s, ada, "export", url.Values{"meter_code": {"storage-gb"}, "format": {"jsonl"}}).Want(200)
		if none.Text != "" {
			t.Errorf("export without events: %q", none.Text)
		}
	})
}

// Every CSV field is quoted. Formulas are escaped, also after separators and with a full-width
// sign. A byte order mark is available on request.
func TestExportForSpreadsheets(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		sendBatch(s, ada, []apptest.Object{{
			"meter_code": "storage-gb", "quantity": 1.5, "recorded_at": "2025-06-01T00:00:00Z", "idempotency_key": "a;=1,\uff1d2",
			"metadata": apptest.Object{"b": "x;=1"},
		}})
		query := url.Values{"meter_code": {"storage-gb"}, "from": {"2025-06-01"}, "to": {"2025-06-02"}}
		plain := ask(s, ada, "export", query).Want(200)
		head, row, _ := strings.Cut(plain.Text, "\n")
		if head != `"id","meter_code","quantity","recorded_at","idempotency_key","metadata"` {
			t.Errorf("header %s", head)
		}
		if _, after, _ := strings.Cut(row, ","); after != `"storage-gb","1.5","2025-06-01T00:00:00.000000Z","a;'=1,'`+"\uff1d2"+`","{""b"":""x;\u003d1""}"`+"\n" {
			t.Errorf("row %s", after)
		}
		for bom, want := range map[string]string{"1": "\ufeff", "true": "\ufeff", "0": ""} {
			query.Set("bom", bom)
			if got := ask(s, ada, "export", query).Want(200).Text; got != want+plain.Text {
				t.Errorf("bom=%s: %q", bom, got)
			}
		}
		query.Set("bom", "yes")
		ask(s, ada, "export", query).WantInvalid("bom")
		query.Set("bom", "1")
		query.Set("format", "jsonl")
		if got := ask(s, ada, "export", query).Want(200).Text; !strings.HasPrefix(got, "{") {
			t.Errorf("lines of JSON begin with %q", got[:3])
		}
	})
}
