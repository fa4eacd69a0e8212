-- invalidate keep
--> 1
--
-- What must go goes first: a server that is out of memory deletes all the same,
-- and only the tombstone is refused.
local keep = tonumber(ARGV[1])

local e = epoch()
local _, generation = stored()
local lent
if e then
  local _, _, g = lease(e)
  lent = g
end
redis.call('DEL', KEYS[1], KEYS[2])
local next = above(generation, e, lent)
redis.pcall('SET', KEYS[1], 'EB\1T' .. stamp(next, e or 0), 'PX', text(keep))
return 1
