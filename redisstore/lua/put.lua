-- put generation ahead kept body, of one copy, which is the only key
--> 1 if it was stored, 0 if there is something newer
local mine, ahead, kept, body = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

local _, generation = headOf(KEYS[1])
if generation and generation > mine then return 0 end
redis.call('SET', KEYS[1], 'EB\1C' .. stamp(mine, ahead) .. body, 'PX', text(kept))
return 1
