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

	"golang.org/x/sync/errgroup"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit"
)

// threeVariable makes every service on PostgreSQL run three instances with Redis, behind a proxy
// that forwards requests to the instances in turn (scripts/three). Each instance is a process. The
// first instance is the test's process and has the sandbox; the proxy forwards each change of its
// clock to the other instances.
const threeVariable = "TENANTRY_TEST_THREE"

// OneInstance skips t if services have three instances, because t tests a single instance. reason
// explains why three instances behave differently.
func OneInstance(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(threeVariable) != "" {
		t.Skip("tests a single instance: " + reason)
	}
}

// usesThreeInstances reports whether a service with the settings gets three instances.
func usesThreeInstances(s settings.Settings) bool {
	return os.Getenv(threeVariable) != "" && s.PublicURL == nil && strings.HasPrefix(s.DatabaseURL.Reveal(), "postgres")
}

// balancer is a proxy in front of the instances of a service.
type balancer struct {
	server *Server
	first  string // address of the instance with the sandbox
	next   atomic.Uint32

	mu     sync.RWMutex
	others []*instance // empty until they are ready
}

// startProxy starts a proxy and sets the service's public URL to it, so that instances can join.
// The proxy stops when the test ends.
func startProxy(s *Server, config *settings.Settings) *balancer {
	t := s.T
	t.Helper()
	if strings.HasSuffix(config.Addr, ":0") {
		config.Addr = FreeAddress(t)
	}
	b := &balancer{server: s, first: config.Addr}
	front, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config.PublicURL = &url.URL{Scheme: "http", Host: front.Addr().String()}
	if config.RedisURL == "" {
		config.RedisURL = settings.Secret("redis://" + sharedRedis(t) + "/" + strconv.Itoa(int(redisDatabases.Add(1))))
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: b.pick(r.In.URL.Path)})
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Method == http.MethodPost && r.Request.URL.Path == "/sandbox/clock" {
				return b.setClocks()
			}
			return nil
		},
	}}
	go func() { _ = server.Serve(front) }()
	t.Cleanup(func() { _ = server.Close() })
	return b
}

// join starts the other instances. The first one must be ready.
func (b *balancer) join(config settings.Settings) error {
	var started [2]*instance
	var group errgroup.Group
	for n := range started {
		group.Go(func() (err error) {
			started[n], err = startInstance(config, "http://"+b.first, b.server.log)
			return err
		})
	}
	err := group.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range started {
		if i != nil {
			b.others = append(b.others, i)
		}
	}
	return err
}

// stop stops the instances that have joined.
func (b *balancer) stop() error {
	b.mu.Lock()
	others := b.others
	b.others = nil
	b.mu.Unlock()
	var group errgroup.Group
	for _, i := range others {
		group.Go(i.stop)
	}
	return group.Wait()
}

// setClocks makes the other instances follow the sandbox's clock. The proxy calls it before it
// returns the response to the call that moved the clock.
func (b *balancer) setClocks() error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	ahead, err := b.server.clockAhead()
	if err != nil {
		return err
	}
	for _, i := range b.others {
		if err := i.setClock(ahead); err != nil {
			return err
		}
	}
	return nil
}

// pick returns the address of the instance for a request: the instances in turn for the API, the
// first instance for the sandbox's pages and the metrics.
func (b *balancer) pick(path string) string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := int(b.next.Add(1) % uint32(1+len(b.others)))
	if n == 0 || !strings.HasPrefix(path, "/api/") {
		return b.first
	}
	return b.others[n-1].addr
}

// redisDatabases numbers the Redis databases, so that each service has its own counters.
var redisDatabases atomic.Int32

var redisOnce struct {
	sync.Mutex
	addr string
}

// sharedRedis returns the address of a Redis server that runs until this process ends.
func sharedRedis(t testing.TB) string {
	t.Helper()
	redisOnce.Lock()
	defer redisOnce.Unlock()
	if redisOnce.addr != "" {
		return redisOnce.addr
	}
	program := testkit.Program(t, "redis", "redis-server")
	addr := FreeAddress(t)
	_, port, _ := net.SplitHostPort(addr)
	run := exec.CommandContext(context.Background(), program, "--bind", "127.0.0.1", "--port", port, "--databases", "100000", "--save", "", "--appendonly", "no", "--dir", os.TempDir())
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	seeds.scope.mu.Lock()
	seeds.scope.cleanups = append(seeds.scope.cleanups, func() { _ = run.Process.Kill(); _ = run.Wait() })
	seeds.scope.mu.Unlock()
	testkit.Eventually(t, "an answer of redis-server", func() bool {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	redisOnce.addr = addr
	return addr
}
