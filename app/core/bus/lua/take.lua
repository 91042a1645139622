-- The next ticket, leased until ARGV[2] milliseconds from now; {ticket, 1 if no worker has leased it before}.
-- KEYS: waiting, leased, first
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ticket = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 1)[1]
if not ticket then
  ticket = redis.call('ZPOPMIN', KEYS[1])[1]
end
if not ticket then
  return false
end
redis.call('ZADD', KEYS[2], now + ARGV[1], ticket)
return {ticket, redis.call('SREM', KEYS[3], ticket)}
