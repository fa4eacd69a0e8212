-- invalidate keep
--> {generation, n ...}: the tombstone's, and numbers of copies
--
-- What must go goes first: a server that is out of memory deletes all the same,
-- and only the tombstone is refused.
local keep = tonumber(ARGV[1])

local t, splits = now(), splitsOf(others[3])
local latest, copies = spread(splits, KEYS[1], t)
local next = math.max(above(t), latest + 1)
redis.call('DEL', KEYS[1], KEYS[2])
redis.pcall('SET', KEYS[1], 'EB\1T' .. stamp(next, epoch or 0), 'PX', text(keep))
return answer(next, copies)
