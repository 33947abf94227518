//go:build linux

package load

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// served is a server that records requests and responds to every third request with 409.
type served struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string]int
	n      int
}

func serve(t *testing.T) (*served, netip.AddrPort) {
	t.Helper()
	s := &served{bodies: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies[string(body)]++
		s.n++
		n, status := s.n, http.StatusCreated
		if n%3 == 0 {
			status = http.StatusConflict
		}
		s.mu.Unlock()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("x", n%5000))
		if n%2 == 0 {
			w.(http.Flusher).Flush() // a chunked response
			_, _ = io.WriteString(w, "more")
		}
	}))
	t.Cleanup(s.Close)
	return s, netip.MustParseAddrPort(strings.TrimPrefix(s.URL, "http://"))
}

// posts returns a caller whose requests have unique numbers.
func posts(connection int) Caller {
	n := 0
	return Caller{Next: func() []byte {
		n++
		return fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n%02d%06d", connection, n)
	}}
}

// Each request of each connection is sent once, and responses with an unexpected status are counted
// separately.
func TestRun(t *testing.T) {
	t.Parallel()
	s, address := serve(t)
	callers := make([]Caller, 4)
	for i := range callers {
		callers[i] = posts(i)
	}
	all, err := Run(address, 300*time.Millisecond, Work{Callers: callers, Want: http.StatusCreated})
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	got := all[0]
	good, other := float64(len(got.Latencies)), float64(got.OtherStatuses())
	if good < 100 || other < good/4 || other > good {
		t.Errorf("%v expected and %v other answers, want one in three to differ", good, other)
	}
	if got.Rate() <= 0 || got.Quantile(0.5) > got.Quantile(0.99) {
		t.Errorf("%v a second, p50 %v, p99 %v", got.Rate(), got.Quantile(0.5), got.Quantile(0.99))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for body, n := range s.bodies {
		if n != 1 || len(body) != 8 {
			t.Fatalf("%q came %d times", body, n)
		}
	}
}

// Rate-limited work keeps its rate next to unlimited work, and each has its own results.
func TestRunAtARate(t *testing.T) {
	t.Parallel()
	s, address := serve(t)
	const rate = 100
	fast := Work{Callers: []Caller{posts(0), posts(1)}, Want: http.StatusCreated}
	slow := Work{Callers: []Caller{posts(10), posts(11), posts(12)}, Want: http.StatusCreated, Rate: rate}
	all, err := Run(address, time.Second, fast, slow)
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := 0
	for body := range s.bodies {
		if body[0] == '1' {
			sent++
		}
	}
	// The server also counts the requests of the warm-up. A busy machine sends fewer requests.
	if most := rate*(time.Second+WarmUp).Seconds() + 1; float64(sent) > most || float64(sent) < most/2 {
		t.Errorf("%d requests at a rate of %d per second", sent, rate)
	}
	if n := len(all[1].Latencies) + all[1].OtherStatuses(); n > sent || n < rate/2 {
		t.Errorf("%d of %d answers are counted", n, sent)
	}
	if all[0].Rate() < 2*rate {
		t.Errorf("work without a rate: %.0f requests per second", all[0].Rate())
	}
}

// If the server is unavailable, the load returns an error, not results.
func TestRunWithoutServer(t *testing.T) {
	t.Parallel()
	s, address := serve(t)
	s.Close()
	if _, err := Run(address, time.Second, Work{Callers: []Caller{posts(0)}, Want: http.StatusOK}); err == nil {
		t.Error("Run succeeded without a server")
	}
}

// An error of Answered ends the load.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	_, address := serve(t)
	c, errWrong := posts(0), errors.New("wrong")
	c.Answered = func([]byte) error { return errWrong }
	if _, err := Run(address, time.Second, Work{Callers: []Caller{c}, Want: http.StatusCreated, Rate: 10}); !errors.Is(err, errWrong) {
		t.Errorf("got %v", err)
	}
}
