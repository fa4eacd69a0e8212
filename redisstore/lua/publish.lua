-- publish token body keep
--> 1 if it was stored, 0 if the lease is lost
local token, body, keep = ARGV[1], ARGV[2], tonumber(ARGV[3])

if held ~= 'L' or holder ~= token then return 0 end
if generation and generation >= lent then return 0 end

begin(keep, lent)
redis.call('SET', KEYS[1], 'EB\1V' .. stamp(lent, epoch) .. body, 'PX', text(keep))
redis.call('DEL', KEYS[2])
return 1
