package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// beforeVariable names the binary of the version before, which scripts/rolling builds.
const beforeVariable = "TENANTRY_TEST_BEFORE"

// Two instances of the version before serve from one PostgreSQL. They are replaced one by one,
// under load, as docs/upgrading.md says: nobody is refused, and nothing is lost or counted twice.
// Then an instance of this version is replaced by another one, of which nobody tells the load
// balancer: it asks for readiness.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	before := os.Getenv(beforeVariable)
	if before == "" {
		t.Skip("scripts/rolling builds the version before and runs this")
	}
	url := dbtest.EmptyURL(t, sqldb.Postgres)
	b := &balancer{passed: map[string]int{}, open: map[string]int{}}
	front := httptest.NewServer(b)
	defer front.Close()
	start := func(program string) (*running, string) {
		t.Helper()
		address := freeAddress(t)
		env := append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(), "TENANTRY_DATABASE_URL="+url,
			"TENANTRY_LOG_LEVEL=error", "TENANTRY_RATE_LIMITS=off", "TENANTRY_STOP_DELAY=2s")
		return startCommand(t, exec.CommandContext(t.Context(), program, "dev"), env, address), address
	}
	first, firstAddress := start(before)
	second, secondAddress := start(before)
	b.add(firstAddress)
	b.add(secondAddress)

	r := &recorder{t: t, base: front.URL + "/api/v1"}
	r.logIn()
	l := startTraffic(t, r)
	l.await(200)

	third, thirdAddress := start("tenantry") // which brings the schema up to date
	b.add(thirdAddress)
	l.await(200) // of all three
	b.drain(firstAddress)
	first.stop(t)
	l.await(200) // of one of each version
	fourth, fourthAddress := start("tenantry")
	b.add(fourthAddress)
	b.drain(secondAddress)
	second.stop(t)
	l.await(200)

	stopWatch := b.watch(t, 100*time.Millisecond)
	third.stop(t)
	fifth, fifthAddress := start("tenantry")
	b.add(fifthAddress)
	l.await(200)
	stopWatch()

	acknowledged := l.stop()
	r.check(url, acknowledged)
	wantNoDeadJobs(t, url)
	wantRefused(t, before, url)
	fourth.stop(t)
	fifth.stop(t)
	t.Logf("%d answers, %d events; by instance: %v", l.answers.Load(), len(acknowledged), b.counts())
}

// wantRefused checks that the version before does not start on the database of this one, if
// that has migrations of its own.
func wantRefused(t *testing.T, before, url string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), before, "migrate")
	cmd.Env = append(os.Environ(), "TENANTRY_DATA="+t.TempDir(), "TENANTRY_DATABASE_URL="+url)
	out, err := cmd.CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && !failed {
		t.Fatal(err)
	}
	status := exec.CommandContext(t.Context(), before, "migrate", "--status")
	status.Env = []string{"TENANTRY_DATA=" + t.TempDir(), "TENANTRY_DATABASE_URL=" + dbtest.EmptyURL(t, sqldb.Postgres)}
	known, err := status.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, known)
	}
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url, Patience: dbtest.Patience})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	migrations, err := db.MigrationStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newer := len(migrations) > strings.Count(strings.TrimSpace(string(known)), "\n")+1
	if refused := failed && exit.ExitCode() == exitFailed && bytes.Contains(out, []byte("newer")); refused != newer {
		t.Errorf("the version before on a database of this one (%d migrations): %v: %s", len(migrations), err, out)
	}
}

func wantNoDeadJobs(t *testing.T, url string) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url, Patience: dbtest.Patience})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var dead int
	var last *string
	err = db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT count(*), max(kind || ': ' || last_error) FROM jobs WHERE dead_at IS NOT NULL`).Scan(&dead, &last)
	if err != nil {
		t.Fatal(err)
	}
	if dead > 0 {
		t.Errorf("%d jobs are dead, such as %s", dead, *last)
	}
}

// traffic records usage and reads, from several connections at once, until it is stopped. Any
// answer that is no success fails the test.
type traffic struct {
	r       *recorder
	answers atomic.Int64
	done    chan struct{}
	end     func()
	all     sync.WaitGroup
	mu      sync.Mutex
	keys    map[string]bool // of the events that were acknowledged
}

func startTraffic(t *testing.T, r *recorder) *traffic {
	t.Helper()
	l := &traffic{r: r, done: make(chan struct{}), keys: map[string]bool{}}
	l.end = sync.OnceFunc(func() { close(l.done); l.all.Wait() })
	t.Cleanup(l.end)
	for c := range 4 {
		l.all.Go(func() { l.run(t, c) })
	}
	return l
}

func (l *traffic) run(t *testing.T, c int) {
	tenant := "/tenant/" + l.r.tenant
	reads := []string{"/auth/me", tenant + "/usage/quotas", tenant + "/subscription", tenant + "/audit-logs", tenant + "/team/members", "/catalog/plans"}
	for i := 0; ; i++ {
		select {
		case <-l.done:
			return
		default:
		}
		key := fmt.Sprintf("%d-%d", c, i)
		status, err := l.r.record(key)
		if err != nil || status != http.StatusCreated {
			t.Errorf("recording answered %d (%v)", status, err)
			continue
		}
		l.mu.Lock()
		l.keys[key] = true
		l.mu.Unlock()
		method, path, body := http.MethodGet, reads[i%len(reads)], ""
		switch i % 20 {
		case 7:
			method, path, body = http.MethodPost, "/auth/forgot-password", `{"email":"owner@acme.test"}` // a job and a mail
		case 14:
			method, path, body = http.MethodPatch, "/user", `{"locale":"fr"}`
		}
		if status, text := l.ask(t.Context(), method, path, body); status/100 != 2 {
			t.Errorf("%s %s answered %d: %s", method, path, status, text)
		}
		l.answers.Add(2)
	}
}

func (l *traffic) ask(ctx context.Context, method, path, body string) (status int, text string) {
	req, err := http.NewRequestWithContext(ctx, method, l.r.base+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+l.r.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(read)
}

// await waits for n more answers.
func (l *traffic) await(n int64) {
	l.r.t.Helper()
	for want, i := l.answers.Load()+n, 0; l.answers.Load() < want; i++ {
		if i == 1200 || l.r.t.Failed() {
			l.r.t.Fatalf("%d answers, waiting for %d", l.answers.Load(), want)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// stop ends the load and returns the keys of the events that were acknowledged.
func (l *traffic) stop() map[string]bool {
	l.end()
	return l.keys
}

// balancer passes requests on to each of its instances in turn, on a connection of its own each.
// It tries no second instance: whoever cannot be reached has refused somebody.
type balancer struct {
	mu        sync.Mutex
	instances []string
	next      int
	passed    map[string]int
	open      map[string]int // requests that are not answered yet
}

func (b *balancer) add(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.instances = append(b.instances, address)
}

// drain takes an instance out and waits until it has answered what it has.
func (b *balancer) drain(address string) {
	b.remove(address)
	for b.has(address) {
		time.Sleep(time.Millisecond)
	}
}

func (b *balancer) has(address string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open[address] > 0
}

func (b *balancer) done(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[address]--
}

// remove takes an instance out. Requests that it has go on.
func (b *balancer) remove(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.instances = slices.DeleteFunc(b.instances, func(a string) bool { return a == address })
}

// watch takes out each instance that is not ready, until the returned function is called.
func (b *balancer) watch(t *testing.T, every time.Duration) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(every):
			}
			b.mu.Lock()
			instances := slices.Clone(b.instances)
			b.mu.Unlock()
			for _, address := range instances {
				if !ready(t, address) {
					b.remove(address)
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (b *balancer) pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	address := b.instances[b.next%len(b.instances)]
	b.next++
	b.passed[address]++
	b.open[address]++
	return address
}

func (b *balancer) counts() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var counts []int
	for _, n := range b.passed {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	return counts
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	address := b.pick()
	defer b.done(address)
	(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "http", address, p.In.Host
		},
		Transport: &http.Transport{DisableKeepAlives: true},
	}).ServeHTTP(w, r)
}
