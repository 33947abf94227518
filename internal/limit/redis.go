package limit

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/tenantry/tenantry/internal/breaker"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/safehttp"
)

const (
	// redisPrefix is the prefix of every key, because applications often share a Redis.
	redisPrefix = "tenantry:limit:"
	// redisTimeout is the maximum time that a request waits for Redis.
	redisTimeout = 100 * time.Millisecond
	// redisPause is how long the circuit breaker stays open after redisFailures consecutive
	// failures.
	redisPause    = 3 * time.Second
	redisFailures = 3
	// redisIdle is how long a connection can be idle before it is checked, because Redis could have
	// restarted.
	redisIdle = time.Second
)

//go:embed redis_take.lua
var redisTake string

//go:embed redis_one.lua
var redisOne string

// ErrRedisURL means that the URL is not a valid redis:// or rediss:// URL. It does not include the
// URL, which can contain a password.
var ErrRedisURL = errors.New("not of the form redis://[user:password@]host[:port][/database] or rediss://…")

// Redis counts in a Redis that several instances share, by the clock of Redis. Each hit runs one
// script, which Redis executes atomically.
//
// If Redis is down, a request waits at most 100 ms. After three consecutive failures a circuit
// breaker opens for three seconds at a time, and Take fails immediately.
type Redis struct {
	pool    *redis.Pool
	take    *redis.Script
	takeOne *redis.Script // for a limit of one
	breaker *breaker.Breaker
	failure atomic.Pointer[error] // the last failure
	timeout time.Duration         // maximum duration of Take
}

// NewRedis returns a counter on the Redis of a redis:// or rediss:// (TLS) URL. It does not connect,
// so that the service can start while Redis is down. It returns ErrRedisURL if the URL is invalid.
func NewRedis(rawURL string) (*Redis, error) { return newRedis(rawURL, redisTimeout) }

func newRedis(rawURL string, timeout time.Duration) (*Redis, error) {
	address, options, err := parseRedisURL(rawURL)
	if err != nil {
		return nil, err
	}
	options = append(options,
		redis.DialConnectTimeout(timeout), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	connections := 10 * runtime.GOMAXPROCS(0)
	return &Redis{
		timeout: timeout,
		pool: &redis.Pool{
			MaxActive: connections, MaxIdle: connections, Wait: true, IdleTimeout: 5 * time.Minute,
			DialContext: func(ctx context.Context) (redis.Conn, error) {
				return redis.DialContext(ctx, "tcp", address, options...)
			},
			TestOnBorrowContext: func(ctx context.Context, conn redis.Conn, lastUsed time.Time) error {
				if clock.System().Now().Sub(lastUsed) < redisIdle {
					return nil
				}
				return ping(ctx, conn)
			},
		},
		take:    redis.NewScript(1, redisTake),
		takeOne: redis.NewScript(1, redisOne),
		breaker: breaker.New(breaker.Config{Failures: redisFailures, Pause: redisPause}),
	}, nil
}

// CheckRedisURL returns ErrRedisURL if NewRedis would reject the URL.
func CheckRedisURL(rawURL string) error {
	_, _, err := parseRedisURL(rawURL)
	return err
}

// parseRedisURL returns the address of a Redis and the options to connect.
func parseRedisURL(rawURL string) (address string, options []redis.DialOption, err error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" ||
		u.RawQuery != "" || u.Fragment != "" || !safehttp.HasValidPort(u) {
		return "", nil, ErrRedisURL
	}
	port := u.Port()
	if port == "" {
		port = "6379"
	}
	options = append(options, redis.DialUseTLS(u.Scheme == "rediss"), redis.DialTLSHandshakeTimeout(redisTimeout))
	if name := strings.TrimPrefix(u.Path, "/"); name != "" {
		database, err := strconv.ParseUint(name, 10, 16)
		if err != nil {
			return "", nil, ErrRedisURL
		}
		options = append(options, redis.DialDatabase(int(database)))
	}
	if u.User != nil {
		password, ok := u.User.Password()
		if !ok {
			return "", nil, ErrRedisURL
		}
		options = append(options, redis.DialUsername(u.User.Username()), redis.DialPassword(password))
	}
	return net.JoinHostPort(u.Hostname(), port), options, nil
}

// Take implements Counter. Hits count even if ctx is canceled during the call.
func (r *Redis) Take(ctx context.Context, key string, limit, hits int) (Count, error) {
	if !r.breaker.Allow() {
		return Count{}, r.outageError()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
	defer cancel()
	script := r.take
	if limit == one {
		script, key = r.takeOne, "one:"+key // the two scripts use different data types
	}
	answer, err := r.run(ctx, script, redisKey(key), limit, hits)
	if err == nil && len(answer) != 4 {
		err = fmt.Errorf("%d values in the response", len(answer))
	}
	if err != nil {
		err = fmt.Errorf("redis: %w", err)
		r.failure.Store(&err)
		r.breaker.Fail()
		return Count{}, err
	}
	r.breaker.Succeed()
	return Count{
		Taken:    answer[0] == 1,
		Current:  int(answer[1]),
		Previous: int(answer[2]),
		Elapsed:  time.Duration(answer[3]) * time.Microsecond,
	}, nil
}

// run runs a script on a connection of the pool. It waits for a connection until ctx ends.
func (r *Redis) run(ctx context.Context, script *redis.Script, keysAndArgs ...any) ([]int64, error) {
	conn, err := r.pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // returns it to the pool; it can be broken
	return redis.Int64s(script.DoContext(ctx, conn, keysAndArgs...))
}

// Ping checks the connection to Redis.
func (r *Redis) Ping(ctx context.Context) error {
	conn, err := r.pool.GetContext(ctx)
	if err != nil {
		return err
	}
	return errors.Join(ping(ctx, conn), conn.Close())
}

func ping(ctx context.Context, conn redis.Conn) error {
	_, err := redis.DoContext(conn, ctx, "PING")
	return err
}

// Close closes the connections. Afterwards, Take fails.
func (r *Redis) Close() error { return r.pool.Close() }

// outageError returns the error for an open circuit breaker, including the last failure.
func (r *Redis) outageError() error {
	if last := r.failure.Load(); last != nil {
		return fmt.Errorf("paused after an error: %w", *last)
	}
	return breaker.ErrOpen
}

// redisKey returns the name of a key in Redis. It contains a short hash, because a key can include
// an email address of any length.
func redisKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return redisPrefix + base64.RawURLEncoding.EncodeToString(sum[:16])
}
