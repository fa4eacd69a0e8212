-- set body keep
--> the generation
local body, keep = ARGV[1], tonumber(ARGV[2])

local e = begin(keep)
local _, generation = stored()
local _, _, lent = lease(e)
local next = above(generation, e, lent)
redis.call('SET', KEYS[1], 'EB\1V' .. stamp(next, e) .. body, 'PX', text(keep))
redis.call('DEL', KEYS[2])
return text(next)
