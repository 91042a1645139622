-- The next run, leased until ARGV[2] milliseconds from now; {run, 1 if no worker has leased it before}.
-- KEYS: waiting, leased, first
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 1)[1]
if not run then
  run = redis.call('ZPOPMIN', KEYS[1])[1]
end
if not run then
  return false
end
redis.call('ZADD', KEYS[2], now + ARGV[1], run)
return {run, redis.call('SREM', KEYS[3], run)}
