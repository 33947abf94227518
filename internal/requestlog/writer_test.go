package requestlog

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// newLog returns a Log at noon and the function that records requests of a tenant's key.
func newLog(db *sqldb.DB) (l *Log, record func(tenant uuid.UUID, status, n int)) {
	l = New(Deps{
		DB: db, Clock: clock.NewFixed(noon), Machine: clock.NewFixed(noon), Log: slog.New(slog.DiscardHandler),
		Address: func(*http.Request) string { return "192.0.2.1" },
	})
	return l, func(tenant uuid.UUID, status, n int) {
		caller := &authz.Caller{Key: &authz.Key{ID: uuid.New()}, Tenant: &authz.Membership{TenantID: tenant}}
		for range n {
			l.Record(&http.Request{Method: "GET", URL: &url.URL{Path: "/api/v1/x"}}, caller, "/api/v1/x", status, "", time.Second)
		}
	}
}

// Requests that cannot be stored become a gap, which is stored as soon as the database works again.
func TestFlushFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l, record := newLog(db)
		rename := func(from, to string) {
			t.Helper()
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `ALTER TABLE `+from+` RENAME TO `+to); err != nil {
				t.Fatal(err)
			}
		}
		mine, other := uuid.New(), uuid.New()
		record(mine, 200, 3)
		rename("request_logs", "elsewhere")
		l.flush(t.Context(), noon.Unix()) // the second has not ended
		l.flush(t.Context(), noon.Unix()+1)
		rename("elsewhere", "request_logs")
		l.flush(t.Context(), noon.Unix()+1)
		want := func(tenant *uuid.UUID, from, to time.Time, want bool) {
			t.Helper()
			if got, err := l.store.hasGap(t.Context(), tenant, from, to); err != nil || got != want {
				t.Errorf("from %s to %s: %t, %v", from, to, got, err)
			}
		}
		want(&mine, noon, noon, true)
		want(nil, time.Time{}, newest.at, true)
		want(&mine, noon.Add(time.Microsecond), newest.at, false)
		want(&mine, time.Time{}, noon.Add(-time.Microsecond), false)
		want(&other, time.Time{}, newest.at, false)
		if err := l.store.insertGaps(t.Context(), []gap{{tenant: everyTenant, began: noon, ended: noon.Add(time.Second)}}); err != nil {
			t.Fatal(err)
		}
		want(&other, noon.Add(time.Second/2), noon.Add(time.Second/2), true)

		record(mine, 500, 60)
		record(uuid.Nil, 200, 260) // more than one statement
		l.flush(t.Context(), noon.Unix()+1)
		list, err := l.store.list(t.Context(), selection{tenant: &mine, after: newest}, 100)
		if err != nil || len(list) != maxOfTenant || list[0].status != 500 || list[0].took != time.Second || list[0].ip != "192.0.2.1" {
			t.Errorf("%d requests: %v", len(list), err)
		}
		list, err = l.store.list(t.Context(), selection{after: newest}, 1000)
		list = slices.DeleteFunc(list, func(r row) bool { return r.tenantID != nil })
		if err != nil || len(list) != 260 {
			t.Errorf("%d requests without a tenant: %v", len(list), err)
		}
	})
}

// A purge deletes the requests and gaps of one tenant. Retention deletes all old requests and gaps.
func TestDelete(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l, record := newLog(db)
		mine, other := uuid.New(), uuid.New()
		record(mine, 200, 51)
		record(other, 200, 51)
		l.flush(t.Context(), noon.Unix()+1)
		if err := l.Purge(t.Context(), mine); err != nil {
			t.Fatal(err)
		}
		list, err := l.store.list(t.Context(), selection{after: newest}, 1000)
		found, gapErr := l.store.hasGap(t.Context(), &mine, time.Time{}, newest.at)
		if err != nil || gapErr != nil || len(list) != maxOfTenant || *list[0].tenantID != other || found {
			t.Errorf("%d requests, %t: %v, %v", len(list), found, err, gapErr)
		}
		for before, want := range map[time.Time]int{noon: 0, noon.Add(time.Second): 50} {
			if deleted, err := l.DeleteOld(t.Context(), time.Time{}, before, 100); err != nil || len(deleted) != want {
				t.Errorf("%d requests before %s: %v", len(deleted), before, err)
			}
		}
		if deleted, err := l.DeleteOldGaps(t.Context(), time.Time{}, noon.Add(time.Second), 100); err != nil || len(deleted) != 1 {
			t.Errorf("%d gaps: %v", len(deleted), err)
		}
	})
}
