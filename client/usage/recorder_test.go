package usage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/client/usage"
)

// service replaces the batch route. It counts each key of a tenant and meter once.
type service struct {
	mu      sync.Mutex
	counted map[string]int // by tenant, meter and key
	order   []string       // accepted keys
	sizes   []int          // batch sizes
	busy    int            // concurrent requests
	most    int            // maximum of busy
	before  func(n int, events []api.UsageEventInput) error
	verdict func(e api.UsageEventInput) (int, client.Code) // nil accepts all
	lose    bool                                           // accepts each batch but loses every other response
}

func (s *service) RecordUsageBatch(ctx context.Context, tenant string, body api.RecordUsageBatchRequest) (*api.BatchResultList, error) {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(body.Events))
	n := len(s.sizes)
	s.busy++
	s.most = max(s.most, s.busy)
	before := s.before
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.busy--
		s.mu.Unlock()
	}()
	if before != nil {
		if err := before(n, body.Events); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &api.BatchResultList{}
	for i, e := range body.Events {
		key := e.IdempotencyKey.MustGet()
		id := tenant + " " + e.MeterCode + " " + key
		result := api.BatchResult{Index: int64(i), Status: http.StatusCreated}
		var code client.Code
		status := http.StatusCreated
		if s.verdict != nil {
			status, code = s.verdict(e)
		}
		switch {
		case status != http.StatusCreated:
			result.Status, result.Code = int64(status), new(api.ErrorCode(code))
		case s.counted[id] > 0:
			result.Status = http.StatusConflict
		default:
			s.counted[id]++
			s.order = append(s.order, key)
		}
		out.Data = append(out.Data, result)
	}
	rand.Shuffle(len(out.Data), func(i, j int) { out.Data[i], out.Data[j] = out.Data[j], out.Data[i] })
	if s.lose && n%2 == 1 {
		return nil, errors.New("connection reset")
	}
	return out, nil
}

// count returns the number of counted events.
func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.counted)
}

func newService() *service { return &service{counted: map[string]int{}} }

func start(t *testing.T, s usage.Sender, o usage.Options) *usage.Recorder {
	t.Helper()
	r, err := usage.NewRecorder(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func record(t *testing.T, r *usage.Recorder, e usage.Event) {
	t.Helper()
	if err := r.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

func event(key string) usage.Event { return usage.Event{Tenant: "t", Meter: "m", Key: key} }

// Whatever requests and responses are lost, every event counts once, in batches, in the order in
// which the events were recorded.
func TestEveryEventCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.lose = true
		r := start(t, s, usage.Options{OnRefused: func(e usage.Event, err error) { t.Errorf("%s is refused: %v", e.Key, err) }})
		const n = 5000
		for i := range n {
			record(t, r, event(fmt.Sprintf("%05d", i)))
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.count() != n || !slices.IsSorted(s.order) {
			t.Errorf("%d counted, want %d, in order %t", s.count(), n, slices.IsSorted(s.order))
		}
		if most := slices.Max(s.sizes); most > 1000 || len(s.sizes) > 20 {
			t.Errorf("%d batches of at most %d", len(s.sizes), most)
		}
		if r.Waiting() != 0 || !errors.Is(r.Record(t.Context(), event("late")), usage.ErrClosed) || !errors.Is(r.Close(t.Context()), usage.ErrClosed) {
			t.Error("closed recorder still sends")
		}
	})
}

// An event waits no longer than the interval, and a full batch is sent immediately.
func TestInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		r := start(t, s, usage.Options{Interval: time.Minute})
		defer r.Close(t.Context())
		record(t, r, event(""))
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if s.count() != 0 {
			t.Error("sent too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s.count() != 1 {
			t.Error("not sent after the interval")
		}
		for range 1000 {
			record(t, r, event(""))
		}
		synctest.Wait()
		if s.count() != 1001 {
			t.Errorf("a full batch waits: %d counted", s.count())
		}
	})
}

// If the queue is full, Record blocks or returns an error, as configured.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		open := make(chan struct{})
		s.before = func(int, []api.UsageEventInput) error { <-open; return nil }
		refusing := start(t, s, usage.Options{Queue: 2, RefuseWhenFull: true})
		blocking := start(t, s, usage.Options{Queue: 2})
		for _, r := range []*usage.Recorder{refusing, blocking} {
			record(t, r, event(""))
			record(t, r, event(""))
		}
		if err := refusing.Record(t.Context(), event("")); !errors.Is(err, usage.ErrFull) {
			t.Errorf("refusing: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := blocking.Record(ctx, event("")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("blocking until the deadline: %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- blocking.Record(t.Context(), event("third")) }()
		synctest.Wait()
		close(open)
		if err := <-done; err != nil {
			t.Errorf("blocking until there is room: %v", err)
		}
		for _, r := range []*usage.Recorder{refusing, blocking} {
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if s.count() != 5 {
			t.Errorf("%d counted, want 5", s.count())
		}
	})
}

// Each refused event is reported once, with the reason. Temporary errors are retried.
func TestRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		tries := map[string]int{}
		s.verdict = func(e api.UsageEventInput) (int, client.Code) {
			key := e.IdempotencyKey.MustGet()
			tries[key]++
			switch {
			case key == "full":
				return 429, client.ErrQuotaExceeded
			case key == "unknown":
				return 404, ""
			case key == "busy" && tries[key] < 3:
				return 503, ""
			case key == "limited" && tries[key] < 3:
				return 429, ""
			}
			return 201, ""
		}
		var mu sync.Mutex
		refused := map[string]error{}
		var told int
		r := start(t, s, usage.Options{OnRefused: func(e usage.Event, err error) {
			mu.Lock()
			defer mu.Unlock()
			refused[e.Key] = err
			told++
		}})
		for _, key := range []string{"full", "busy", "fine", "unknown", "limited"} {
			record(t, r, event(key))
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if told != 2 || !errors.Is(refused["full"], client.ErrQuotaExceeded) || client.StatusOf(refused["unknown"]) != 404 {
			t.Errorf("refused events: %v", refused)
		}
		slices.Sort(s.order)
		if !slices.Equal(s.order, []string{"busy", "fine", "limited"}) {
			t.Errorf("counted events: %v", s.order)
		}
	})
}

// If the service was too busy for an event, the event is sent first in the next batch.
func TestOrderAfterBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		busy := true
		s.verdict = func(e api.UsageEventInput) (int, client.Code) {
			if e.IdempotencyKey.MustGet() == "0000" && busy {
				busy = false
				return 503, ""
			}
			return 201, ""
		}
		r := start(t, s, usage.Options{Interval: time.Hour})
		for i := range 1500 {
			record(t, r, event(fmt.Sprintf("%04d", i)))
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if at := slices.Index(s.order, "0000"); at != 999 {
			t.Errorf("rejected recording was accepted as number %d of %d", at, len(s.order))
		}
	})
}

// If the service refuses a whole batch, each of its events is refused. After temporary errors and
// errors of the API key, the batch is retried.
func TestRefusedBatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err     *client.Error
		refused bool
	}{
		{&client.Error{Status: 403, Code: client.ErrOnboardingIncomplete}, true},
		{&client.Error{Status: 422}, true},
		{&client.Error{Status: 403, Code: client.ErrInsufficientScope}, false},
		{&client.Error{Status: 401}, false},
		{&client.Error{Status: 500}, false},
		{&client.Error{Status: 429, RetryAfter: 3 * time.Second}, false},
	} {
		t.Run(strconv.Itoa(tt.err.Status)+string(tt.err.Code), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newService()
				s.before = func(n int, _ []api.UsageEventInput) error {
					if n < 3 {
						return tt.err
					}
					return nil
				}
				var refused, errs int
				r := start(t, s, usage.Options{OnRefused: func(usage.Event, error) { refused++ }, OnError: func(error) { errs++ }})
				record(t, r, event("a"))
				record(t, r, event("b"))
				begin := time.Now()
				if err := r.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if tt.refused != (refused == 2) || tt.refused == (s.count() == 2) || tt.refused != (errs == 0) {
					t.Errorf("%d refused, %d counted, %d errors", refused, s.count(), errs)
				}
				if took := time.Since(begin); took < 2*tt.err.RetryAfter {
					t.Errorf("it took %s, want at least 2 × %s", took, tt.err.RetryAfter)
				}
				if err := r.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// Large events result in small batches, and a batch that is still too large is halved.
func TestBatchesFit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.before = func(_ int, events []api.UsageEventInput) error {
			text, err := json.Marshal(api.RecordUsageBatchRequest{Events: events})
			if err != nil || len(text) > 1<<20 {
				t.Errorf("a batch of %d bytes, %v", len(text), err)
			}
			if len(events) > 50 {
				return &client.Error{Status: 413}
			}
			return nil
		}
		r := start(t, s, usage.Options{})
		for range 600 {
			e := event("")
			e.Metadata = map[string]any{"text": strings.Repeat("ü", 2000)}
			record(t, r, e)
		}
		if err := r.Close(t.Context()); err != nil || s.count() != 600 {
			t.Errorf("%v, %d counted", err, s.count())
		}
	})
}

// Batches of several tenants are sent concurrently, batches of one tenant are not, and a failing
// tenant does not block the others.
func TestTenantsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.before = func(_ int, events []api.UsageEventInput) error {
			time.Sleep(time.Second)
			if events[0].MeterCode == "broken" {
				return errors.New("broken")
			}
			return nil
		}
		r := start(t, s, usage.Options{Parallel: 3})
		record(t, r, usage.Event{Tenant: "broken", Meter: "broken"})
		for i := range 8 {
			record(t, r, usage.Event{Tenant: strconv.Itoa(i), Meter: "m"})
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s.count() != 8 || s.most != 3 {
			t.Errorf("%d counted, at most %d concurrent requests", s.count(), s.most)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || r.Waiting() != 1 {
			t.Errorf("Close returned %v, %d events are pending", err, r.Waiting())
		}
	})
}

// Flush waits for events that were accepted before the call, but not for later events.
func TestFlushHasAnEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		var r *usage.Recorder
		s.before = func(int, []api.UsageEventInput) error { return r.Record(t.Context(), event("")) }
		r = start(t, s, usage.Options{Queue: 1 << 20})
		record(t, r, event("first"))
		if err := r.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		if len(s.order) == 0 || s.order[0] != "first" {
			t.Errorf("events sent by the flush: %v", s.order)
		}
		s.before = nil
		s.mu.Unlock()
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Record refuses events that the service would never accept, with the name of the field.
func TestInvalidEvents(t *testing.T) {
	t.Parallel()
	r := start(t, newService(), usage.Options{})
	defer r.Close(t.Context())
	long := strings.Repeat("ü", 256)
	for field, e := range map[string]usage.Event{
		"tenant":        {Meter: "m"},
		"meter":         {Tenant: "t"},
		"meter has":     {Tenant: "t", Meter: long},
		"key":           {Tenant: "t", Meter: "m", Key: long},
		"quantity":      {Tenant: "t", Meter: "m", Quantity: "-1"},
		"quantity i":    {Tenant: "t", Meter: "m", Quantity: "0.1234567"},
		"quantity is":   {Tenant: "t", Meter: "m", Quantity: "1000000000000.1"},
		"quantity is n": {Tenant: "t", Meter: "m", Quantity: "1e3"},
		"metadata":      {Tenant: "t", Meter: "m", Metadata: map[string]any{"x": strings.Repeat("x", 4096)}},
		"metadata j":    {Tenant: "t", Meter: "m", Metadata: map[string]any{"x": func() {}}},
	} {
		err := r.Record(t.Context(), e)
		if name, _, _ := strings.Cut(field, " "); !errors.Is(err, usage.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, quantity := range []json.Number{"", "0", "0.000001", "1000000000000", "1.5000000", usage.Whole(7)} {
		if err := r.Record(t.Context(), usage.Event{Tenant: "t", Meter: "m", Quantity: quantity}); err != nil {
			t.Errorf("%s: %v", quantity, err)
		}
	}
}

// The time of an event is when it was recorded, even if it is sent later.
func TestTimeOfAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		var sent []time.Time
		s.before = func(_ int, events []api.UsageEventInput) error {
			for _, e := range events {
				sent = append(sent, *e.RecordedAt)
			}
			return nil
		}
		r := start(t, s, usage.Options{Interval: time.Hour})
		at := time.Now().Truncate(time.Microsecond)
		record(t, r, event("now"))
		e := event("given")
		e.At = at.Add(-time.Minute)
		record(t, r, e)
		time.Sleep(2 * time.Hour)
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(sent) != 2 || !sent[0].Equal(at) || !sent[1].Equal(at.Add(-time.Minute)) {
			t.Errorf("sent times %v, want %v and a minute before", sent, at)
		}
	})
}
