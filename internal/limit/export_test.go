package limit

// Room shows the arithmetic that all counters share.
func Room(c Count, limit int) bool { return c.room(limit) }

// RedisKey shows under which name a key is stored.
func RedisKey(key string) string { return redisKey(key) }
