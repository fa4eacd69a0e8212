-- set body keep
--> {generation, n ...}: that of what was set, and numbers of copies
local body, keep = ARGV[1], tonumber(ARGV[2])

local t, splits = now(), splitsOf(others[3])
begin(keep, t)
local latest, copies = spread(splits, KEYS[1], t)
local next = math.max(above(t), latest + 1)
redis.call('SET', KEYS[1], 'EB\1V' .. stamp(next, epoch) .. body, 'PX', text(keep))
redis.call('DEL', KEYS[2])
return answer(next, copies)
