-- Appends what an attempt at a run has said; the entry's id is `attempt-number of its last event`.
-- KEYS: the log. ARGV: attempt, number of the last event appended before (-1: write it again), number of the
-- last event of this entry, its bytes, 1 if it ends the log, seconds to live
-- Returns `ok`; `lost` when the log has ended or belongs to a later attempt; `rewrite` when it lacks what
-- was appended before.
local attempt, before, number = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local last_number = 0
if last then
  local last_attempt, digits = string.match(last[1], '(%d+)-(%d+)')
  if tonumber(last_attempt) == attempt then
    last_number = tonumber(digits)
  end
  if last_number == number and before >= 0 then
    return 'ok' -- the answer to this was lost, so it came again
  elseif tonumber(last_attempt) > attempt or last[2][4] == '1' then
    return 'lost'
  end
end
if before < 0 then
  redis.call('DEL', KEYS[1])
elseif before ~= last_number then
  return 'rewrite'
end
redis.call('XADD', KEYS[1], ARGV[1] .. '-' .. ARGV[3], 'events', ARGV[4], 'ended', ARGV[5])
redis.call('EXPIRE', KEYS[1], ARGV[6])
return 'ok'
