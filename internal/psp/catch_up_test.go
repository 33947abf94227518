package psp_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

func TestCatchUpProcessesMissedEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			reply(w, 200, `{"object": "list", "data": [`+eventJSON("evt_2", "invoice.paid", "in_2")+","+
				eventJSON("evt_1", "invoice.paid", "in_1")+`]}`)
		})
		i := newInbox(t, db, provider.client(t))
		i.HandleKind("invoice.paid", func(context.Context, psp.Event) error { return nil })
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

// The list is read from the start of the last complete read, with an overlap. An outage loses
// nothing, as long as the provider still has the events.
func TestCatchUpResumesAtItsCursor(t *testing.T) {
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
		i.HandleKind("invoice.paid", func(context.Context, psp.Event) error { return nil })
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
			t.Fatal("partial list was accepted as complete")
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
		near("after a failed event", since, again.Add(-overlap))

		i.clock.Advance(60 * 24 * time.Hour)
		since, _ = look()
		near("after two months", since, i.clock.Now().Add(-30*24*time.Hour))
	})
}

// A list that is too long for one run is continued at the part that the run did not read.
func TestCatchUpContinuesALongList(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		left := 0 // requests until the run ends
		provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			if left--; left < 0 {
				reply(w, 500, `{"error": {"type": "api_error"}}`)
				return
			}
			reply(w, 200, `{"object": "list", "data": []}`)
		})
		i := newInbox(t, db, provider.client(t, func(c *psp.Config) { c.Retries = -1 }))
		i.HandleKind("invoice.paid", func(context.Context, psp.Event) error { return nil })
		start := i.clock.Now().Add(-24*time.Hour - 15*time.Minute)
		for run := range 2 {
			left = 2
			if _, err := i.CatchUp(t.Context()); err == nil != (run == 1) {
				t.Fatalf("run %d: %v", run, err)
			}
		}
		requests := provider.requests()
		if got, want := requests[3].form.Get("created[gte]"), start.Add(18*time.Hour-15*time.Minute); got != strconv.FormatInt(want.Unix(), 10) {
			t.Errorf("the second run began at %s, want %d", got, want.Unix())
		}
		if requests[len(requests)-1].form.Has("created[lt]") {
			t.Error("the last part has an end")
		}
	})
}

// Exactly the handled types are requested, each of them once, and at most 20 per call.
func TestCatchUpReadsHandledTypes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			reply(w, 200, `{"object": "list", "data": []}`)
		})
		i := newInbox(t, db, provider.client(t))
		for _, kind := range []string{"checkout.session.", "customer.subscription.", "invoice.", "invoice.paid", "customer.deleted"} {
			i.HandleKind(kind, func(context.Context, psp.Event) error { return nil })
		}
		if _, err := i.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var asked []string
		for _, request := range provider.requests() {
			if request.form.Has("created[lt]") { // an earlier part of the list
				continue
			}
			n := 0
			for name, values := range request.form {
				if strings.HasPrefix(name, "types[") {
					asked, n = append(asked, values...), n+len(values)
				}
			}
			if n == 0 || n > 20 {
				t.Errorf("call requests %d types", n)
			}
		}
		slices.Sort(asked)
		if !slices.Equal(asked, i.Types()) || len(slices.Compact(slices.Clone(asked))) != len(asked) {
			t.Errorf("requested %v, want %v", asked, i.Types())
		}
		for kind, want := range map[string]bool{
			"invoice.paid": true, "invoice.voided": true, "customer.deleted": true, "checkout.session.completed": true,
			"customer.subscription.updated": true, "invoice.upcoming": false, "invoice.": false, "product.created": false,
		} {
			if slices.Contains(asked, kind) != want {
				t.Errorf("%s is requested: %t", kind, !want)
			}
		}
	})
}

func TestPruneKeepsRepeatableEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		provider := newFake(t, func(http.ResponseWriter, *http.Request, int) {})
		i := newInbox(t, db, provider.client(t))
		i.run(t)
		body := eventJSON("evt_1", "invoice.paid", "in_1")
		i.deliver(t.Context(), body, sign(body, oldSecret, 0))
		testkit.Eventually(t, "the event", func() bool { return i.handled(t) == 1 })
		for _, step := range []struct {
			after time.Duration
			left  int
		}{{29 * 24 * time.Hour, 1}, {2 * 24 * time.Hour, 0}} {
			i.clock.Advance(step.after)
			if _, err := i.DeleteOld(t.Context(), time.Time{}, i.clock.Now().Add(-inbox.MinRetention), 10); err != nil {
				t.Fatal(err)
			}
			if got := i.stored(t); got != step.left {
				t.Errorf("%d events are left, want %d", got, step.left)
			}
		}
	})
}
