-- Deletes what every group is done with, and consumers that are gone and have nothing pending.
-- KEYS: the stream. ARGV: how many groups there have to be, milliseconds after which a consumer is gone
if redis.call('EXISTS', KEYS[1]) == 0 then
  return
end
local function field(pairs, name)
  for position = 1, #pairs, 2 do
    if pairs[position] == name then
      return pairs[position + 1]
    end
  end
end
local function before(one, other)
  local time, number = string.match(one, '(%d+)-(%d+)')
  local other_time, other_number = string.match(other, '(%d+)-(%d+)')
  time, other_time = tonumber(time), tonumber(other_time)
  return time < other_time or (time == other_time and tonumber(number) < tonumber(other_number))
end
local groups, first = redis.call('XINFO', 'GROUPS', KEYS[1]), nil
for _, group in ipairs(groups) do
  local name = field(group, 'name')
  local needed = redis.call('XPENDING', KEYS[1], name)[2] or field(group, 'last-delivered-id')
  if not first or before(needed, first) then
    first = needed
  end
  for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], name)) do
    if field(consumer, 'pending') == 0 and field(consumer, 'idle') > tonumber(ARGV[2]) then
      redis.call('XGROUP', 'DELCONSUMER', KEYS[1], name, field(consumer, 'name'))
    end
  end
end
if first and #groups >= tonumber(ARGV[1]) then
  redis.call('XTRIM', KEYS[1], 'MINID', first)
end
