package limit

import "time"

// NewPatientRedis returns a counter that waits a minute for Redis, for tests that
// count every hit: on a busy machine an answer may take longer than a request waits.
func NewPatientRedis(url string) (*Redis, error) { return newRedis(url, time.Minute) }

// Room shows the arithmetic that all counters share.
func Room(c Count, limit int) bool { return c.hasRoom(limit) }

// RedisKey shows under which name a key is stored.
func RedisKey(key string) string { return redisKey(key) }
