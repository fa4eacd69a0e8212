-- invalidate keep
--> 1
--
-- What must go goes first: a server that is out of memory deletes all the same,
-- and only the tombstone is refused.
local keep = tonumber(ARGV[1])

redis.call('DEL', KEYS[1], KEYS[2])
redis.pcall('SET', KEYS[1], 'EB\1T' .. stamp(above(now()), epoch or 0), 'PX', text(keep))
return 1
