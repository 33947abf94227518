package app

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

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// block keeps everybody from recording on a meter until it is released, from beside.
func (s *server) block(meter string) (release func()) {
	s.t.Helper()
	db := dbtest.Open(s.t, s.database)
	locked, done := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		err := db.Tx(s.t.Context(), func(ctx context.Context) error {
			// On SQLite the transaction alone does it: there is one at a time that writes.
			_, err := db.Conn(ctx).ExecContext(ctx, `SELECT id FROM meters WHERE code = $1 FOR UPDATE`, meter)
			close(locked)
			<-done
			return err
		})
		if err != nil {
			s.t.Error(err)
		}
	})
	<-locked
	return sync.OnceFunc(func() { close(done); holding.Wait() })
}

// flood sends recordings that may wait, and counts those that are refused because
// there is no room.
type flood struct {
	*server
	owner
	ctx     context.Context //nolint:containedctx // ends what waits
	waiting sync.WaitGroup
	refused atomic.Int64
}

// send sends requests of some events each until one is refused.
func (f *flood) send(events, requests int) {
	f.t.Helper()
	event := `{"meter_code":"api-calls","quantity":1}`
	body := `{"events":[` + strings.TrimSuffix(strings.Repeat(event+",", events), ",") + `]}`
	path := "/api/v1/tenant/" + f.tenant + "/usage"
	if events == 1 {
		body = event
	} else {
		path += "/batch"
	}
	before := f.refused.Load()
	for range requests {
		f.waiting.Go(func() {
			r := f.request("POST", path, f.token, body).WithContext(f.ctx)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				return // given up
			}
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusServiceUnavailable {
				return
			}
			if after, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || after < 1 || !strings.Contains(string(text), `"message"`) {
				f.t.Errorf("503 with Retry-After %q: %s", resp.Header.Get("Retry-After"), text)
			}
			f.refused.Add(1)
		})
	}
	eventually(f.t, fmt.Sprintf("the refusal of one of %d requests with %d events", requests, events), func() bool { return f.refused.Load() > before })
}

// shown is what the meter shows, and how many events are stored.
func (s *server) shown(o owner) (current float64, events int) {
	s.t.Helper()
	current, _ = s.call("GET", "/api/v1/tenant/"+o.tenant+"/usage/api-calls", o.token, nil).want(200).at("data.current_usage").(float64)
	db := dbtest.Open(s.t, s.database)
	err := db.Conn(s.t.Context()).QueryRowContext(s.t.Context(), `SELECT count(*) FROM usage_events WHERE tenant_id = $1::uuid`, o.tenant).Scan(&events)
	if err != nil {
		s.t.Fatal(err)
	}
	return current, events
}

// When more usage waits to be stored than there is room for, what comes then is told
// to come again later, and everything else is answered as ever. What was given up
// meanwhile is stored with its count or not at all.
func TestFullQueueIsToldToComeAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		record := func() int {
			return s.call("POST", "/api/v1/tenant/"+o.tenant+"/usage", o.token, object{"meter_code": "api-calls"}).status
		}
		if got := record(); got != 201 {
			t.Fatalf("recording: %d", got)
		}
		release := s.block("api-calls")
		defer release()
		ctx, giveUp := context.WithCancel(t.Context())
		f := &flood{server: s, owner: o, ctx: ctx}
		f.send(1000, 80)
		f.send(100, 12)
		f.send(1, 120) // now there is no room for a single one
		s.call("GET", "/api/v1/tenant/"+o.tenant+"/usage", o.token, nil).want(200)
		s.call("GET", "/healthz", "", nil).want(200)
		giveUp()
		f.waiting.Wait()
		release()
		eventually(t, "recording once there is room", func() bool { return record() == 201 })
		if current, events := s.shown(o); current != float64(events) || events < 2 {
			t.Errorf("%d events are stored, %v are shown", events, current)
		}
	})
}

// A client that hangs up learns by asking again whether its event was stored: with
// its count or not at all, and all of a batch or none of it.
func TestHungUpIsStoredWholeOrNot(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		const requests, size = 150, 10
		usage := "/api/v1/tenant/" + o.tenant + "/usage"
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
				resp, err := http.DefaultClient.Do(s.request("POST", path, o.token, text).WithContext(ctx))
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
			a := s.call("POST", path, o.token, text)
			if i%2 == 0 {
				total++
				if a.status != 201 && a.status != 409 {
					t.Errorf("%d again: %d %s", i, a.status, a.text)
				}
				continue
			}
			total += size
			results, _ := a.want(200).at("data").([]any)
			statuses := map[any]int{}
			for _, r := range results {
				statuses[r.(map[string]any)["status"]]++
			}
			if statuses[201.0] != size && statuses[409.0] != size {
				t.Errorf("batch %d again: %v", i, statuses)
			}
		}
		if current, events := s.shown(o); events != total || current != float64(total) {
			t.Errorf("%d of %d events are stored, %v are shown", events, total, current)
		}
		t.Logf("%d of %d hung up", hungUp.Load(), requests)
	})
}
