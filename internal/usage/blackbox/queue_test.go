package blackbox_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// blockMeter blocks recording on a meter from a separate transaction, until it is released.
func blockMeter(s *apptest.Server, meter string) (release func()) {
	s.T.Helper()
	db := s.DB()
	locked, done := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		err := db.Tx(s.T.Context(), func(ctx context.Context) error {
			// On SQLite, the transaction itself blocks other writers.
			if err := distribution.LockCatalog(ctx, db); err != nil {
				return err
			}
			_, err := db.Conn(ctx).ExecContext(ctx, `SELECT id FROM meters WHERE code = $1 FOR UPDATE`, meter)
			close(locked)
			<-done
			return err
		})
		if err != nil {
			s.T.Error(err)
		}
	})
	<-locked
	return sync.OnceFunc(func() { close(done); holding.Wait() })
}

// flood sends recordings that fill the queue, and counts the recordings that are rejected because
// the queue is full.
type flood struct {
	*apptest.Server
	apptest.Owner
	ctx     context.Context //nolint:containedctx // ends the waiting requests
	waiting sync.WaitGroup
	refused atomic.Int64
}

// send sends requests with the given number of events until one is rejected.
func (f *flood) send(events, requests int) {
	f.T.Helper()
	event := `{"meter_code":"api-calls","quantity":1}`
	body := `{"events":[` + strings.TrimSuffix(strings.Repeat(event+",", events), ",") + `]}`
	path := f.Path("/usage")
	if events == 1 {
		body = event
	} else {
		path += "/batch"
	}
	before := f.refused.Load()
	for range requests {
		f.waiting.Go(func() {
			r := f.NewRequest("POST", path, f.Token, body).WithContext(f.ctx)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				return // canceled
			}
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusServiceUnavailable {
				return
			}
			if after, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || after < 1 || !strings.Contains(string(text), `"message"`) {
				f.T.Errorf("503 with Retry-After %q: %s", resp.Header.Get("Retry-After"), text)
			}
			f.refused.Add(1)
		})
	}
	apptest.Eventually(f.T, fmt.Sprintf("the refusal of one of %d requests with %d events", requests, events), func() bool { return f.refused.Load() > before })
}

// shownUsage returns the value of the meter and the number of stored events.
func shownUsage(s *apptest.Server, o apptest.Owner) (current float64, events int) {
	s.T.Helper()
	current, _ = s.Call("GET", o.Path("/usage/api-calls"), o.Token, nil).Want(200).At("data.current_usage").(float64)
	db := s.DB()
	err := db.Conn(s.T.Context()).QueryRowContext(s.T.Context(), `SELECT count(*) FROM usage_events WHERE tenant_id = $1::uuid`, o.Tenant).Scan(&events)
	if err != nil {
		s.T.Fatal(err)
	}
	return current, events
}

// When the queue is full, further recordings are rejected with Retry-After and all other requests
// work normally. A canceled recording is stored together with its count or not at all.
func TestFullQueueReturnsRetryAfter(t *testing.T) {
	t.Parallel()
	apptest.OneInstance(t, "each instance has its own queue")
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		record := func() int {
			return s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{"meter_code": "api-calls"}).Status
		}
		if got := record(); got != 201 {
			t.Fatalf("recording: %d", got)
		}
		release := blockMeter(s, "api-calls")
		defer release()
		ctx, giveUp := context.WithCancel(t.Context())
		f := &flood{Server: s, Owner: o, ctx: ctx}
		f.send(1000, 80)
		f.send(100, 12)
		f.send(1, 120) // now the queue is full for single events too
		s.Call("GET", o.Path("/usage"), o.Token, nil).Want(200)
		s.Call("GET", "/healthz", "", nil).Want(200)
		giveUp()
		f.waiting.Wait()
		release()
		apptest.Eventually(t, "recording once there is room", func() bool { return record() == 201 })
		if current, events := shownUsage(s, o); current != float64(events) || events < 2 {
			t.Errorf("%d events are stored, %v are shown", events, current)
		}
	})
}

// A client that disconnects can find out by retrying whether its event was stored. An event is
// stored together with its count or not at all, and a batch completely or not at all.
func TestDisconnectedRequestIsAtomic(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		const requests, size = 150, 10
		usage := o.Path("/usage")
		body := func(i int) (path, body string) {
			if i%2 == 0 {
				return usage, fmt.Sprintf(`{"meter_code":"api-calls","idempotency_key":"%d"}`, i)
			}
			var events []string
			for n := range size {
				events = append(events, fmt.Sprintf(`{"meter_code":"api-calls","idempotency_key":"%d-%d"}`, i, n))
			}
			return usage + "/batch", `{"events":[` + strings.Join(events, ",") + `]}`
		}
		var given sync.WaitGroup
		hungUp := atomic.Int64{}
		for i := range requests {
			given.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*4*time.Millisecond)
				defer cancel()
				path, text := body(i)
				resp, err := http.DefaultClient.Do(s.NewRequest("POST", path, o.Token, text).WithContext(ctx))
				if err != nil {
					hungUp.Add(1)
					return
				}
				_ = resp.Body.Close()
			})
		}
		given.Wait()
		total := 0
		for i := range requests {
			path, text := body(i)
			a := s.Call("POST", path, o.Token, text)
			if i%2 == 0 {
				total++
				if a.Status != 201 && a.Status != 409 {
					t.Errorf("%d again: %d %s", i, a.Status, a.Text)
				}
				continue
			}
			total += size
			results, _ := a.Want(200).At("data").([]any)
			statuses := map[any]int{}
			for _, r := range results {
				statuses[r.(map[string]any)["status"]]++
			}
			if statuses[201.0] != size && statuses[409.0] != size {
				t.Errorf("batch %d again: %v", i, statuses)
			}
		}
		if current, events := shownUsage(s, o); events != total || current != float64(total) {
			t.Errorf("%d of %d events are stored, %v are shown", events, total, current)
		}
		t.Logf("%d of %d hung up", hungUp.Load(), requests)
	})
}
