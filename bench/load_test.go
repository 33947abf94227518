//go:build linux

package main

import (
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

// served is a server that keeps the idempotency keys that it was sent, and answers each third
// request with 409.
type served struct {
	*httptest.Server
	mu   sync.Mutex
	keys map[string]int
	n    int
}

func serve(t *testing.T) (*served, netip.AddrPort) {
	t.Helper()
	s := &served{keys: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), `"idempotency_key":"`)
		key, _, _ := strings.Cut(rest, `"`)
		s.mu.Lock()
		s.keys[key]++
		s.n++
		n, status := s.n, http.StatusCreated
		if n%3 == 0 {
			status = http.StatusConflict
		}
		s.mu.Unlock()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("x", n%5000))
		if n%2 == 0 {
			w.(http.Flusher).Flush() // an answer in chunks
			_, _ = io.WriteString(w, "more")
		}
	}))
	t.Cleanup(s.Close)
	return s, netip.MustParseAddrPort(strings.TrimPrefix(s.URL, "http://"))
}

// Each request of each connection has a key of its own, and answers with another status than
// the wanted one are told apart.
func TestLoad(t *testing.T) {
	t.Parallel()
	s, address := serve(t)
	u := &user{access: "token"}
	callers := make([]caller, 4)
	for i := range callers {
		callers[i] = numbered(recordOne(u), i+1)
	}
	got, err := load(address, 300*time.Millisecond, http.StatusCreated, callers)
	if err != nil {
		t.Fatal(err)
	}
	good, other := float64(len(got.latencies)), float64(got.others(http.StatusCreated))
	if good < 100 || other < good/4 || other > good {
		t.Errorf("%v right answers and %v others, of which each third is another", good, other)
	}
	if got.rate() <= 0 || got.quantile(0.5) > got.quantile(0.99) {
		t.Errorf("%v a second, p50 %v, p99 %v", got.rate(), got.quantile(0.5), got.quantile(0.99))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, n := range s.keys {
		if n != 1 || len(key) != len(placeholder) {
			t.Fatalf("the key %q came %d times", key, n)
		}
	}
}

// A server that goes away ends the load with an error, not with figures.
func TestLoadOnNobody(t *testing.T) {
	t.Parallel()
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load(address, time.Second, http.StatusOK, []caller{same(request{method: http.MethodGet, path: "/"})}); err == nil {
		t.Error("a load on nobody has figures")
	}
}

// A batch has as many keys as events, all of them new.
func TestNumberedBatch(t *testing.T) {
	t.Parallel()
	next := numbered(recordBatch(&user{}), 7).next
	seen := map[string]bool{}
	for range 3 {
		for _, part := range strings.Split(string(next()), `"idempotency_key":"`)[1:] {
			seen[part[:len(placeholder)]] = true
		}
	}
	if len(seen) != 3*batchSize {
		t.Errorf("%d keys, want %d", len(seen), 3*batchSize)
	}
	if body := unused(recordBatch(&user{}), 8).body; strings.Contains(body, placeholder) {
		t.Error("a placeholder is left")
	}
}

// A batch counts only if each of its events was stored.
func TestAllStored(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat(`{"status":201},`, batchSize)
	if err := allStored([]byte(whole)); err != nil {
		t.Error(err)
	}
	if err := allStored([]byte(strings.Replace(whole, "201", "409", 1))); err == nil {
		t.Error("a batch with a duplicate counts")
	}
	if err := allStored(fmt.Appendf(nil, "%s", `{"message":"busy"}`)); err == nil {
		t.Error("a refusal counts")
	}
}
