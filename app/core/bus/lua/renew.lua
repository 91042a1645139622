-- Renews leases (or takes them again, when Redis has forgotten them); for each {1 if lost, 1 if cancelled}.
-- KEYS: leased, then for each run its log and its sign of cancellation
-- ARGV: lease in milliseconds, seconds for a log to live, then for each its run and attempt
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answers = {}
for position = 1, (#ARGV - 2) / 2 do
  local log, run = KEYS[2 * position], ARGV[2 * position + 1]
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
  local lost = last and tonumber(string.match(last[1], '%d+')) > tonumber(ARGV[2 * position + 2])
  if not lost then
    redis.call('ZADD', KEYS[1], now + ARGV[1], run)
    redis.call('EXPIRE', log, ARGV[2])
  end
  answers[position] = {lost and 1 or 0, redis.call('EXISTS', KEYS[2 * position + 1])}
end
return answers
