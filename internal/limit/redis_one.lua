-- Takes the one hit of KEYS[1] that may be in a window, which begins with the hit. Answers as
-- redis_take.lua does; the microseconds are those since the hit.
--
-- The time is Redis's own, so that all instances agree on it. The key holds the time of the
-- hit in microseconds, which is below 2^53.

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local stored = redis.call('GET', KEYS[1])
local at = stored and tonumber(stored)
if at and at <= now and now - at < 60000000 then
  return {0, 1, 0, now - at}
end
redis.call('SET', KEYS[1], string.format('%d', now), 'PX', 60000)
return {1, 1, 0, 0}
