-- set body keep
--> the generation
local body, keep = ARGV[1], tonumber(ARGV[2])

local t = now()
begin(keep, t)
local next = above(t)
redis.call('SET', KEYS[1], 'EB\1V' .. stamp(next, epoch) .. body, 'PX', text(keep))
redis.call('DEL', KEYS[2])
return text(next)
