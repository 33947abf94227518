package blackbox_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// noon is when the entries of the tests are made.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// recordAt adds entries of an action at a time.
func recordAt(t testing.TB, db *sqldb.DB, at time.Time, action string, n int) {
	t.Helper()
	log := audit.New(audit.Deps{DB: db, Clock: clock.NewFixed(at)})
	for range n {
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			return log.Record(ctx, audit.Entry{Action: action, Resource: "r", ResourceID: "1"})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// counted returns what is kept of the counted days, and what the trail has of them.
func counted(t testing.TB, db *sqldb.DB) (kept, has map[string]int64) {
	t.Helper()
	kept, has = map[string]int64{}, map[string]int64{}
	read := func(query string, row func(scan func(...any) error) error) {
		rows, err := db.Conn(t.Context()).QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			if err := row(rows.Scan); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	last := ""
	read(`SELECT day, action, entries FROM audit_days ORDER BY day`, func(scan func(...any) error) error {
		var day, action string
		var n int64
		err := scan(&day, &action, &n)
		if last = day; n != 0 {
			kept[day+" "+action] = n
		}
		return err
	})
	read(`SELECT created_at, action FROM audit_logs`, func(scan func(...any) error) error {
		var at time.Time
		var action string
		err := scan(&at, &action)
		if day := at.UTC().Format("2006-01-02"); day <= last {
			has[day+" "+action]++
		}
		return err
	})
	return kept, has
}

// The number of entries in a list's meta is right before and after days are counted, and
// after entries are deleted.
func TestTotalsOfTheTrail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Admin()
		day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
		for n, action := range []string{"a", "b", "a", "a"} { // the last one is in the future
			recordAt(t, s.DB(), day(n-2).Add(13*time.Hour), action, n+1)
		}
		totals := func() (found []any) {
			t.Helper()
			for _, query := range []url.Values{
				{},
				{"filter[action]": {"a"}},
				{"filter[action]": {"none"}},
				{"filter[action]": {"a"}, "filter[created_before]": {day(0).Format(time.RFC3339)}},
			} {
				found = append(found, s.AuditLog(query).Want(200).At("meta.total"))
			}
			return found
		}
		before := totals()
		log := func(at time.Time) *audit.Log { return audit.New(audit.Deps{DB: s.DB(), Clock: clock.NewFixed(at)}) }
		for _, at := range []time.Time{day(0), day(0), day(2), day(9)} {
			if err := log(at).CountDays(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, totals()); diff != "" {
				t.Errorf("counted on %v: %s", at, diff)
			}
			kept, has := counted(t, s.DB())
			if diff := cmp.Diff(has, kept); diff != "" {
				t.Errorf("counted on %v: %s", at, diff)
			}
		}
		deleted, err := log(day(9)).DeleteOld(t.Context(), time.Time{}, day(0), 2)
		if err != nil || len(deleted) != 2 {
			t.Fatal(deleted, err)
		}
		before[0] = before[0].(float64) - 2
		after := totals()
		if diff := cmp.Diff(before[0], after[0]); diff != "" {
			t.Errorf("after a deletion: %s", diff)
		}
	})
}

// Days are counted once, and what is deleted meanwhile is not counted, however several
// instances do both at once.
func TestDaysAreCountedBesideDeletions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		days := dbtest.Rounds(60, 400)
		for n := range days {
			recordAt(t, db, noon.AddDate(0, 0, -n), fmt.Sprintf("action%d", n%3), 2)
		}
		log := audit.New(audit.Deps{DB: db, Clock: clock.NewFixed(noon)})
		var busy sync.WaitGroup
		for range 2 {
			busy.Go(func() {
				if err := log.CountDays(t.Context()); err != nil {
					t.Error(err)
				}
			})
			busy.Go(func() {
				for range days {
					if _, err := log.DeleteOld(t.Context(), time.Time{}, noon.AddDate(0, 0, -5), 1); err != nil {
						t.Error(err)
					}
				}
			})
		}
		busy.Wait()
		kept, has := counted(t, db)
		if diff := cmp.Diff(has, kept); diff != "" || len(has) == 0 {
			t.Errorf("the counted days: %s", diff)
		}
	})
}
