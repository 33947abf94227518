package blackbox_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// noon is the base time of the test entries.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// recordAt adds n entries of an action at the given time. tenantID can be nil.
func recordAt(t testing.TB, db *sqldb.DB, at time.Time, tenantID *uuid.UUID, action string, n int) {
	t.Helper()
	log := audit.New(audit.Deps{DB: db, Clock: clock.NewFixed(at)})
	for range n {
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			return log.Record(ctx, audit.Entry{TenantID: tenantID, Action: action, Resource: "r", ResourceID: "1"})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// counted returns the stored counts of days and tenants, and the same counts computed from the
// entries.
func counted(t testing.TB, db *sqldb.DB) (kept, has map[string]int64) {
	t.Helper()
	kept, has = map[string]int64{}, map[string]int64{}
	before := map[uuid.UUID]time.Time{}
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
	read(`SELECT tenant_id, entries, counted_before FROM audit_tenants`, func(scan func(...any) error) error {
		var tenantID uuid.UUID
		var n int64
		var until time.Time
		err := scan(&tenantID, &n, &until)
		if before[tenantID] = until; n != 0 {
			kept[tenantID.String()] = n
		}
		return err
	})
	read(`SELECT created_at, action, tenant_id FROM audit_logs`, func(scan func(...any) error) error {
		var at time.Time
		var action string
		var tenantID *uuid.UUID
		err := scan(&at, &action, &tenantID)
		if day := at.UTC().Format("2006-01-02"); day <= last {
			has[day+" "+action]++
		}
		if tenantID != nil && at.Before(before[*tenantID]) {
			has[tenantID.String()]++
		}
		return err
	})
	return kept, has
}

// The total in a list's meta is correct before and after days are counted, and after deletions.
func TestTotalsOfTheTrail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin() // only once, because a login adds an entry
		owner := s.Register("ada@example.com", true)
		tenantID, other := uuid.MustParse(owner.Tenant), uuid.New()
		day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
		for n, action := range []string{"a", "b", "a", "a"} { // the last entry is in the future
			recordAt(t, s.DB(), day(n-2).Add(13*time.Hour), &tenantID, action, n+1)
			recordAt(t, s.DB(), day(n-3).Add(13*time.Hour), &other, action, 1)
		}
		recordAt(t, s.DB(), day(-200), nil, "a", 1) // then a long gap without entries of a tenant
		totals := func() (found []any) {
			t.Helper()
			for _, query := range []url.Values{
				{},
				{"filter[action]": {"a"}},
				{"filter[action]": {"none"}},
				{"filter[action]": {"a"}, "filter[created_before]": {day(0).Format(time.RFC3339)}},
				{"filter[tenant]": {owner.Tenant}},
				{"filter[tenant]": {other.String()}},
				{"filter[tenant]": {owner.Tenant}, "filter[action]": {"a"}},
			} {
				found = append(found, s.Call("GET", "/api/v1/admin/audit-logs?"+query.Encode(), admin, nil).Want(200).At("meta.total"))
			}
			for _, query := range []string{"", "?filter[action]=a"} {
				found = append(found, s.Call("GET", owner.Path("/audit-logs"+query), owner.Token, nil).Want(200).At("meta.total"))
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
		// The three oldest entries of action a belong to no tenant, to the other tenant and to the
		// owner.
		deleted, err := log(day(9)).DeleteOld(t.Context(), time.Time{}, day(0), 3)
		if err != nil || len(deleted) != 3 {
			t.Fatal(deleted, err)
		}
		for i, n := range []float64{3, 3, 0, 3, 1, 1, 1, 1, 1} {
			before[i] = before[i].(float64) - n
		}
		if diff := cmp.Diff(before, totals()); diff != "" {
			t.Errorf("after a deletion: %s", diff)
		}
	})
}

// Each day is counted once, and the counts exclude deleted entries, even if several instances count
// and delete concurrently.
func TestDaysAreCountedDuringDeletions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		days := dbtest.Rounds(60, 400)
		tenants := []uuid.UUID{uuid.New(), uuid.New()}
		for n := range days {
			recordAt(t, db, noon.AddDate(0, 0, -n), &tenants[n%2], fmt.Sprintf("action%d", n%3), 2)
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
