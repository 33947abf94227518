package limit

import "time"

// NewRedisWithLongTimeout returns a counter that waits up to a minute for Redis, for tests that count every
// hit: on a busy machine, a response can take longer than a request would wait.
func NewRedisWithLongTimeout(url string) (*Redis, error) { return newRedis(url, time.Minute) }

// Room exposes the arithmetic that all counters share.
func Room(c Count, limit int) bool { return c.hasRoom(limit) }

// RedisKey exposes the name of a key in Redis.
func RedisKey(key string) string { return redisKey(key) }
