-- Renews the lease of an event, if it is still this consumer's.
-- KEYS: the stream. ARGV: group, consumer, id of the event
local own = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1, ARGV[2])
if #own == 1 then
  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'JUSTID')
end
