-- Takes ARGV[2] hits of KEYS[1], of which ARGV[1] may be in the sliding window.
-- Answers {1 if taken, else 0; hits of the current window; hits of the one
-- before; microseconds since the current one began}.
--
-- The time is Redis's own, so that all instances agree on it. A key holds one
-- hash: the number of the minute that it was last written in, and the hits of
-- that minute and of the one before. It expires once neither counts any more.

local time = redis.call('TIME')
local seconds = tonumber(time[1])
local window = math.floor(seconds / 60)
local elapsed = (seconds - window * 60) * 1000000 + tonumber(time[2])

local current, previous = 0, 0
local state = redis.call('HMGET', KEYS[1], 'window', 'current', 'previous')
local written = tonumber(state[1])
if written == window then
  current, previous = tonumber(state[2]), tonumber(state[3])
elseif written == window - 1 then
  previous = tonumber(state[2])
end

-- They fit if previous * left <= free * 60e6. Both products can be beyond
-- 2^53, where Lua's numbers stop being exact, so both sides are divided by 1000:
-- the right one without a remainder, the left one rounded up, thousands apart.
local left = 60000000 - elapsed
local free = tonumber(ARGV[1]) - tonumber(ARGV[2]) - current
local used = math.floor(previous / 1000) * left + math.ceil(previous % 1000 * left / 1000)
if used > free * 60000 then
  return {0, current, previous, elapsed}
end

current = current + tonumber(ARGV[2])
-- As text: Redis would write large numbers in scientific notation.
redis.call('HSET', KEYS[1], 'window', string.format('%d', window),
  'current', string.format('%d', current), 'previous', string.format('%d', previous))
redis.call('PEXPIRE', KEYS[1], math.ceil((60000000 + left) / 1000))
return {1, current, previous, elapsed}
