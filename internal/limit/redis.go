package limit

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

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
	client  *redis.Client
	take    *redis.Script
	takeOne *redis.Script // for a limit of one
	circuit circuitbreaker.CircuitBreaker[any]
	failure atomic.Pointer[error] // the last failure
	timeout time.Duration         // maximum duration of Take
}

// NewRedis returns a counter on the Redis of a redis:// or rediss:// (TLS) URL. The query can set
// the options of go-redis, except timeouts. NewRedis does not connect, so that the service can
// start while Redis is down. It returns ErrRedisURL if the URL is invalid.
func NewRedis(rawURL string) (*Redis, error) { return newRedis(rawURL, redisTimeout) }

func newRedis(rawURL string, timeout time.Duration) (*Redis, error) {
	options, err := redisOptions(rawURL, timeout)
	if err != nil {
		return nil, err
	}
	logging.Disable() // it would bypass the service's log, and Take returns every failure anyway
	return &Redis{
		timeout: timeout,
		client:  redis.NewClient(options),
		take:    redis.NewScript(redisTake),
		takeOne: redis.NewScript(redisOne),
		circuit: circuitbreaker.NewBuilder[any]().
			WithFailureThreshold(redisFailures).WithSuccessThreshold(1).WithDelay(redisPause).Build(),
	}, nil
}

// CheckRedisURL returns ErrRedisURL if NewRedis would reject the URL.
func CheckRedisURL(rawURL string) error {
	_, err := redisOptions(rawURL, redisTimeout)
	return err
}

func redisOptions(rawURL string, timeout time.Duration) (*redis.Options, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" || u.Fragment != "" || !safehttp.HasValidPort(u) {
		return nil, ErrRedisURL
	}
	options, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, ErrRedisURL // the library's error can contain part of the URL
	}
	options.DialTimeout = timeout
	options.ReadTimeout = timeout
	options.WriteTimeout = timeout
	options.PoolTimeout = timeout
	options.ContextTimeoutEnabled = true
	options.MaxRetries = -1 // a script without a response can have counted
	options.DialerRetries = 1
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return options, nil
}

// Take implements Counter. Hits count even if ctx is canceled during the call.
func (r *Redis) Take(ctx context.Context, key string, limit, hits int) (Count, error) {
	if !r.circuit.TryAcquirePermit() {
		return Count{}, r.outageError()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
	defer cancel()
	script := r.take
	if limit == one {
		script, key = r.takeOne, "one:"+key // the two scripts use different data types
	}
	answer, err := script.Run(ctx, r.client, []string{redisKey(key)}, limit, hits).Int64Slice()
	if err == nil && len(answer) != 4 {
		err = fmt.Errorf("%d values in the response", len(answer))
	}
	if err != nil {
		err = fmt.Errorf("redis: %w", err)
		r.failure.Store(&err)
		r.circuit.RecordFailure()
		return Count{}, err
	}
	r.circuit.RecordSuccess()
	return Count{
		Taken:    answer[0] == 1,
		Current:  int(answer[1]),
		Previous: int(answer[2]),
		Elapsed:  time.Duration(answer[3]) * time.Microsecond,
	}, nil
}

// Ping checks the connection to Redis.
func (r *Redis) Ping(ctx context.Context) error { return r.client.Ping(ctx).Err() }

// Close closes the connections. Afterwards, Take fails.
func (r *Redis) Close() error { return r.client.Close() }

// outageError returns the error for an open circuit breaker, including the last failure.
func (r *Redis) outageError() error {
	if last := r.failure.Load(); last != nil {
		return fmt.Errorf("paused after an error: %w", *last)
	}
	return circuitbreaker.ErrOpen
}

// redisKey returns the name of a key in Redis. It contains a short hash, because a key can include
// an email address of any length.
func redisKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return redisPrefix + base64.RawURLEncoding.EncodeToString(sum[:16])
}
