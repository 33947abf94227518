package history_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history"
)

// A page of an export has at most 256 KiB, however large its events are, and no event is lost
// between pages.
func TestPagesOfExportsAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		tenantID := w.NewTenant(t)
		m := usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft)
		w.Apply(t, m)
		const events = 700
		recordings := make([]usage.Recording, events)
		for i := range recordings {
			recordings[i] = usagetest.Recording("calls", "1")
			if i%2 == 0 {
				recordings[i].Metadata = sqldb.JSON(`{"a":"` + strings.Repeat(`\"`, 2000) + `"}`)
			}
		}
		w.RecordAll(t, tenantID, recordings, true)
		r := history.NewReader(db, w.Clock)
		end := w.Clock.Now()
		entries, err := w.Meters.All(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, lines := range []bool{false, true} {
			format := history.FormatCSV
			if lines {
				format = history.FormatLines
			}
			file := r.Export(t.Context(), tenantID, entries[0].Meter, usage.Period{Start: end.Add(-time.Hour), End: end.Add(time.Hour)}, format)
			rows, buffer := 0, make([]byte, 16<<20)
			for {
				n, err := file.Read(buffer)
				if n > 256<<10 {
					t.Errorf("a page of %d bytes", n)
				}
				rows += strings.Count(string(buffer[:n]), "\n")
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if want := events + map[bool]int{false: 1}[lines]; rows != want {
				t.Errorf("lines %t: %d rows, want %d", lines, rows, want)
			}
		}
		for _, text := range db.Statements() {
			if !strings.HasPrefix(text, "SELECT id, quantity, recorded_at, idempotency_key, metadata FROM usage_events") {
				continue
			}
			for _, p := range dbtest.PlansOf(t, []string{text}) {
				if p.Sorts {
					t.Errorf("%s sorts the events of an export", p.Database)
				}
			}
		}
	})
}
