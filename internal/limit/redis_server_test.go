package limit_test

import (
	"net"
	"os/exec"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/gomodule/redigo/redis"

	"github.com/tenantry/tenantry/internal/testkit"
)

// redisServer is a real Redis server for one test.
type redisServer struct {
	addr string
	cmd  *exec.Cmd
}

// startRedis starts a Redis server on a free port.
func startRedis(t *testing.T) *redisServer {
	t.Helper()
	testkit.Program(t, "redis", "redis-server")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &redisServer{addr: listener.Addr().String()}
	_ = listener.Close()
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

// start starts the server, also after kill, and waits until it responds.
func (s *redisServer) start(t *testing.T) {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.addr)
	s.cmd = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "an answer of redis-server", func() bool {
		conn, err := redis.Dial("tcp", s.addr)
		if err != nil {
			return false
		}
		defer conn.Close()
		_, err = conn.Do("PING")
		return err == nil
	})
}

// kill kills the server process.
func (s *redisServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// connect returns a connection to the Redis at addr.
func connect(t *testing.T, addr string) redis.Conn {
	t.Helper()
	conn, err := redis.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// eachRedis runs f with miniredis and with a real Redis server.
func eachRedis(t *testing.T, f func(t *testing.T, addr string)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		f(t, miniredis.RunT(t).Addr())
	})
	t.Run("redis-server", func(t *testing.T) {
		t.Parallel()
		f(t, startRedis(t).addr)
	})
}
