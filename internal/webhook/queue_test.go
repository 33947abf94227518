package webhook

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// queue is a database with the platform's endpoints and their deliveries.
type queue struct {
	t *testing.T
	store
	outbox *Outbox
}

// eachQueue runs f on each kind of database.
func eachQueue(t *testing.T, f func(q queue)) {
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db := dbtest.New(t, dialect)
			f(queue{t, store{db}, NewOutbox(db, at(noon))})
		})
	}
}

// add creates an endpoint with n pending deliveries.
func (q queue) add(n int) uuid.UUID {
	q.t.Helper()
	e := Endpoint{ID: sqldb.NewID(), URL: "https://example.com/", Types: []string{"webhook.test"}, Enabled: true, CreatedAt: noon, secrets: secrets{{Text: newSecret()}}}
	if err := q.insert(q.t.Context(), e); err != nil {
		q.t.Fatal(err)
	}
	for range n {
		err := q.outbox.Add(q.t.Context(), hook.Event{Type: hook.Test, Data: hook.StaticData("something")})
		if err != nil {
			q.t.Fatal(err)
		}
	}
	e.Types = []string{"tenant.created"} // so that later events go to other endpoints
	if err := q.update(q.t.Context(), e); err != nil {
		q.t.Fatal(err)
	}
	return e.ID
}

// claimAt claims deliveries at the given machine time.
func (q queue) claimAt(machine time.Time, rooms ...capacity) []task {
	q.t.Helper()
	list, err := q.claim(q.t.Context(), noon, machine, rooms)
	if err != nil {
		q.t.Fatal(err)
	}
	return list
}

// Each endpoint gets as many deliveries as it has room for. A leased delivery is not claimed again
// until the lease expires, and a recorded delivery is never claimed again.
func TestClaims(t *testing.T) {
	t.Parallel()
	eachQueue(t, func(q queue) {
		t := q.t
		long, short, none := q.add(5), q.add(1), q.add(0)
		due, err := q.dueEndpoints(t.Context(), noon)
		if err != nil || len(due) != 2 || !slices.Contains(due, long) || !slices.Contains(due, short) {
			t.Errorf("due are %v (%v)", due, err)
		}
		if early, _ := q.dueEndpoints(t.Context(), noon.Add(-time.Second)); len(early) != 0 {
			t.Errorf("a second before, %v are due", early)
		}
		first := q.claimAt(noon, capacity{long, 3}, capacity{short, 3}, capacity{none, 3})
		count := map[uuid.UUID]int{}
		for _, one := range first {
			count[one.endpoint.ID]++
			if len(one.body) == 0 || one.endpoint.URL == "" || len(one.endpoint.secrets) != 1 || !one.endpoint.Enabled || one.attempt != 0 {
				t.Errorf("%+v", one)
			}
		}
		if count[long] != 3 || count[short] != 1 || len(first) != 4 {
			t.Errorf("claimed %v", count)
		}
		if rest := q.claimAt(noon, capacity{long, 3}, capacity{short, 3}); len(rest) != 2 {
			t.Errorf("%d are left", len(rest))
		}
		if again := q.claimAt(noon.Add(leaseTime), capacity{long, 9}); len(again) != 0 {
			t.Errorf("%d are leased twice", len(again))
		}
		after := noon.Add(leaseTime + time.Second)
		second := q.claimAt(after, capacity{long, 9}, capacity{short, 9})
		if len(second) != 6 {
			t.Errorf("%d deliveries are claimed again after their leases expired", len(second))
		}
		// The first instance is too late. The second instance's outcome counts.
		late, done := outcome{delivery: first[0].delivery, lease: first[0].lease, status: failed, attempt: 1}, []outcome{}
		for _, one := range second {
			done = append(done, outcome{delivery: one.delivery, lease: one.lease, status: delivered, attempt: 1, attempts: []Attempt{{At: noon}}})
		}
		for i, all := range [][]outcome{{late}, done, {late}} {
			recorded, err := q.recordOutcomes(t.Context(), all)
			if want := []int{0, len(done), 0}[i]; err != nil || len(recorded) != want {
				t.Fatalf("%d are recorded, want %d: %v", len(recorded), want, err)
			}
		}
		for _, one := range second {
			d, err := q.delivery(t.Context(), one.endpoint.ID, one.delivery)
			if err != nil || d.Status != delivered || len(d.Attempts) != 1 || d.NextAttemptAt != nil {
				t.Errorf("%+v %v", d, err)
			}
		}
		if left := q.claimAt(after.Add(time.Hour), capacity{long, 9}, capacity{short, 9}); len(left) != 0 {
			t.Errorf("%d recorded deliveries are claimed again", len(left))
		}
		times, err := q.deleteOld(t.Context(), time.Time{}, noon.Add(time.Second), 4)
		if err != nil || len(times) != 4 {
			t.Errorf("deleted %v (%v)", times, err)
		}
	})
}

// The lag is the age of the earliest due attempt. Attempts in the future have no lag.
func TestBacklog(t *testing.T) {
	t.Parallel()
	eachQueue(t, func(q queue) {
		t := q.t
		want := func(what string, now time.Time, want Backlog) {
			t.Helper()
			if got, err := q.backlog(t.Context(), now); err != nil || got != want {
				t.Errorf("%s: %+v %v, want %+v", what, got, err, want)
			}
		}
		want("nothing", noon, Backlog{})
		long := q.add(3)
		q.add(1)
		q.add(0)
		want("all are due", noon.Add(time.Minute), Backlog{Waiting: 4, Lag: time.Minute})
		tasks := q.claimAt(noon, capacity{long, 9})
		later := noon.Add(time.Hour)
		for _, one := range tasks {
			o := outcome{delivery: one.delivery, lease: one.lease, status: pending, attempt: 1, attempts: []Attempt{{At: noon}}, nextAttempt: &later}
			if _, err := q.recordOutcomes(t.Context(), []outcome{o}); err != nil {
				t.Fatal(err)
			}
		}
		want("one is due", noon.Add(time.Minute), Backlog{Waiting: 4, Lag: time.Minute})
		if _, err := q.db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE webhook_endpoints SET failing_since = $1 WHERE id = $2`, noon, long); err != nil {
			t.Fatal(err)
		}
		if _, err := q.db.Conn(t.Context()).ExecContext(t.Context(), `DELETE FROM webhook_deliveries WHERE endpoint_id <> $1`, long); err != nil {
			t.Fatal(err)
		}
		want("none is due", noon.Add(time.Minute), Backlog{Waiting: 3, Failing: 1})
		want("an hour later", later.Add(time.Second), Backlog{Waiting: 3, Failing: 1, Lag: time.Second})
	})
}

// If the resource of an event cannot be loaded, neither the event nor its change is stored. The
// resource is not loaded if no endpoint is subscribed.
func TestOutboxIsPartOfTheChange(t *testing.T) {
	t.Parallel()
	eachQueue(t, func(q queue) {
		t := q.t
		events := func() (n int) {
			if err := q.db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT count(*) FROM webhook_events`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		asked := 0
		broken := func(context.Context) (any, error) {
			asked++
			return nil, errUnreadable
		}
		e := hook.Event{Type: hook.InvoicePaid, Data: broken}
		if err := q.outbox.Add(t.Context(), e); err != nil || asked != 0 {
			t.Errorf("no endpoint: error %v, payload built %d times", err, asked)
		}
		id := q.add(0)
		change := func() error {
			return q.db.Tx(t.Context(), func(ctx context.Context) error {
				if err := q.disable(ctx, id, reasonGone); err != nil {
					return err
				}
				return q.outbox.Add(ctx, hook.Event{Type: hook.TenantCreated, Data: broken})
			})
		}
		if err := change(); !errors.Is(err, errUnreadable) || asked != 1 || events() != 0 {
			t.Errorf("%v, resource loaded %d times, %d events", err, asked, events())
		}
		if now, err := q.get(t.Context(), nil, id); err != nil || !now.Enabled {
			t.Errorf("change was stored without its event: %+v %v", now, err)
		}
		// A resource that cannot be encoded is not stored either.
		err := q.outbox.Add(t.Context(), hook.Event{Type: hook.TenantCreated, Data: hook.StaticData(func() {})})
		if err == nil || events() != 0 {
			t.Errorf("%v, %d events", err, events())
		}
	})
}

// A result that arrives after its lease has expired says nothing about the health of the endpoint,
// even if the endpoint has responded with 410.
func TestLateResultDoesNotDisable(t *testing.T) {
	t.Parallel()
	eachQueue(t, func(q queue) {
		id := q.add(1)
		s := &Service{deps: Deps{DB: q.db, Clock: at(noon)}, store: q.store}
		answered := func(claimed task, status int) []result {
			return []result{{task: claimed, made: true, attempt: Attempt{At: noon, StatusCode: &status}, exchange: &exchange{}}}
		}
		late := q.claimAt(noon, capacity{id, 1})[0]
		valid := q.claimAt(noon.Add(leaseTime+time.Second), capacity{id, 1})[0]
		for _, batch := range [][]result{answered(valid, 200), answered(late, 410)} {
			if err := s.recordAll(q.t.Context(), batch); err != nil {
				q.t.Fatal(err)
			}
		}
		known, err := q.lockAll(q.t.Context(), answered(valid, 200))
		if e := known[id]; err != nil || !e.Enabled || e.failingSince != nil {
			q.t.Errorf("%+v %v", e, err)
		}
	})
}
