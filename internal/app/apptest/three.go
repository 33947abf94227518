package apptest

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
)

// threeVariable asks for three instances of every service on PostgreSQL, with Redis, behind a
// proxy that gives them requests in turn: `make three`. They are in one process, because they
// share the sandbox's clock, and have their own connections, jobs, memory and counters.
const threeVariable = "TENANTRY_TEST_THREE"

// three says of a service that is about to start whether it is to have three instances.
func three(s settings.Settings) bool {
	return os.Getenv(threeVariable) != "" && s.PublicURL == nil && strings.HasPrefix(s.DatabaseURL.Reveal(), "postgres")
}

// balancer is a proxy in front of the instances of a service.
type balancer struct {
	instances []string // their addresses; the first has the sandbox
	next      atomic.Uint32
}

// putInFront has a service started as three instances, with a proxy at its public URL. The proxy
// ends with t.
func putInFront(t testing.TB, s *settings.Settings) *balancer {
	t.Helper()
	listen := func() net.Listener {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if strings.HasSuffix(s.Addr, ":0") {
		s.Addr = FreeAddress(t)
	}
	b := &balancer{instances: []string{s.Addr}}
	s.Beside = []net.Listener{listen(), listen()}
	for _, l := range s.Beside {
		b.instances = append(b.instances, l.Addr().String())
	}
	front := listen()
	s.PublicURL = &url.URL{Scheme: "http", Host: front.Addr().String()}
	if s.RedisURL == "" {
		s.RedisURL = settings.Secret("redis://" + sharedRedis(t) + "/" + strconv.Itoa(int(redisDatabases.Add(1))))
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: b.pick(r.In.URL.Path)})
			r.Out.Host = r.In.Host
		},
	}}
	go func() { _ = server.Serve(front) }()
	t.Cleanup(func() { _ = server.Close() })
	return b
}

// pick returns the address of the instance that answers a request: of the API each in turn, of
// the sandbox's pages and of the metrics the first.
func (b *balancer) pick(path string) string {
	if !strings.HasPrefix(path, "/api/") {
		return b.instances[0]
	}
	return b.instances[b.next.Add(1)%uint32(len(b.instances))]
}

// redisDatabases counts the databases that services have: none counts what another has.
var redisDatabases atomic.Int32

var redisOnce struct {
	sync.Mutex
	addr string
}

// sharedRedis returns the address of a Redis that lives as long as this process.
func sharedRedis(t testing.TB) string {
	t.Helper()
	redisOnce.Lock()
	defer redisOnce.Unlock()
	if redisOnce.addr != "" {
		return redisOnce.addr
	}
	addr := FreeAddress(t)
	_, port, _ := net.SplitHostPort(addr)
	run := exec.CommandContext(context.Background(), "redis-server", "--bind", "127.0.0.1", "--port", port, "--databases", "100000", "--save", "", "--appendonly", "no", "--dir", os.TempDir())
	if err := run.Start(); err != nil {
		t.Fatalf("%s needs redis-server: %v", threeVariable, err)
	}
	seeds.scope.mu.Lock()
	seeds.scope.cleanups = append(seeds.scope.cleanups, func() { _ = run.Process.Kill(); _ = run.Wait() })
	seeds.scope.mu.Unlock()
	for deadline := clock.System().Now().Add(10 * time.Second); clock.System().Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr); err == nil {
			_ = c.Close()
			redisOnce.addr = addr
			return addr
		}
	}
	t.Fatal("redis-server does not answer")
	return ""
}
