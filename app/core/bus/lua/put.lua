-- Puts a run in unless it waits or is leased already, and wakes a worker.
-- KEYS: waiting, leased, first, wake. ARGV: run, 1 if no worker can have leased it, its place (none: the last)
local run = ARGV[1]
if redis.call('ZSCORE', KEYS[1], run) or redis.call('ZSCORE', KEYS[2], run) then
  return
end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], ARGV[3] or (time[1] * 1000000 + time[2]), run)
if ARGV[2] == '1' then
  redis.call('SADD', KEYS[3], run)
end
redis.call('RPUSH', KEYS[4], 1)
redis.call('LTRIM', KEYS[4], -1000, -1)
