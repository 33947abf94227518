package psp_test

import (
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func TestCatchUpTakesWhatNoNotificationBrought(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			reply(w, 200, `{"object": "list", "data": [`+eventJSON("evt_2", "invoice.paid", "in_2")+","+
				eventJSON("evt_1", "invoice.paid", "in_1")+`]}`)
		})
		i := newInbox(t, db, provider.client(t))
		body := eventJSON("evt_1", "invoice.paid", "in_1")
		i.deliver(t.Context(), body, sign(body, oldSecret, 0))
		for _, want := range []int{1, 0} {
			got, err := i.CatchUp(t.Context())
			if err != nil || got != want {
				t.Errorf("%d missed events, %v; want %d", got, err, want)
			}
		}
		if got := i.waiting(t); got != 2 {
			t.Errorf("%d jobs, want 2", got)
		}
		provider.server.Close()
		if _, err := i.CatchUp(t.Context()); !errors.Is(err, psp.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

// The list is read from where the last whole look began, with an overlap; an
// outage of any length that the provider's memory covers loses nothing.
func TestCatchUpGoesOnFromItsCursor(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		down := false
		provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			switch {
			case r.Form.Get("starting_after") == "":
				reply(w, 200, `{"object": "list", "has_more": true, "data": [`+eventJSON("evt_2", "invoice.paid", "in_2")+`]}`)
			case down:
				reply(w, 500, `{"error": {"type": "api_error"}}`)
			default:
				reply(w, 200, `{"object": "list", "data": [`+eventJSON("evt_1", "invoice.paid", "in_1")+`]}`)
			}
		})
		i := newInbox(t, db, provider.client(t, func(c *psp.Config) { c.Retries = -1 }))
		look := func() (since time.Time, err error) {
			before := len(provider.requests())
			_, err = i.CatchUp(t.Context())
			created, parseErr := strconv.ParseInt(provider.requests()[before].form.Get("created[gte]"), 10, 64)
			if parseErr != nil {
				t.Fatal(parseErr)
			}
			return time.Unix(created, 0).UTC(), err
		}
		near := func(what string, got, want time.Time) {
			t.Helper()
			if d := got.Sub(want); d < -time.Minute || d > time.Minute {
				t.Errorf("%s: since %s, want about %s", what, got, want)
			}
		}
		const overlap = 15 * time.Minute
		start := i.clock.Now()
		since, err := look()
		if err != nil {
			t.Fatal(err)
		}
		near("the first look", since, start.Add(-24*time.Hour-overlap))

		i.clock.Advance(3 * 24 * time.Hour)
		down = true
		if since, err = look(); err == nil {
			t.Fatal("half a list was taken for a whole one")
		}
		near("after three days", since, start.Add(-overlap))

		i.clock.Advance(time.Hour)
		down = false
		again := i.clock.Now()
		if since, err = look(); err != nil {
			t.Fatal(err)
		}
		near("after a look that failed", since, start.Add(-overlap))
		since, _ = look()
		near("after one that did not", since, again.Add(-overlap))

		i.clock.Advance(60 * 24 * time.Hour)
		since, _ = look()
		near("after two months", since, i.clock.Now().Add(-30*24*time.Hour))
	})
}

func TestPruneKeepsWhatCanComeAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		provider := newFake(t, func(http.ResponseWriter, *http.Request, int) {})
		i := newInbox(t, db, provider.client(t))
		i.run(t)
		body := eventJSON("evt_1", "invoice.paid", "in_1")
		i.deliver(t.Context(), body, sign(body, oldSecret, 0))
		eventually(t, "the event", func() bool { return i.handled(t) == 1 })
		for _, step := range []struct {
			after time.Duration
			left  int
		}{{59 * 24 * time.Hour, 1}, {2 * 24 * time.Hour, 0}} {
			i.clock.Advance(step.after)
			if err := i.Prune(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := i.stored(t); got != step.left {
				t.Errorf("%d events are left, want %d", got, step.left)
			}
		}
	})
}
