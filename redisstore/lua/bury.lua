-- bury generation keep, of one copy, which is the only key
--> 1
local mine, keep = tonumber(ARGV[1]), tonumber(ARGV[2])

local _, generation = headOf(KEYS[1])
if generation and generation >= mine then return 1 end
redis.call('DEL', KEYS[1])
redis.pcall('SET', KEYS[1], 'EB\1T' .. stamp(mine, 0), 'PX', text(keep))
return 1
