-- fail token cool
--> 1 if the lease was given up, 0 if it was lost before
local token, cool = ARGV[1], tonumber(ARGV[2])

if held ~= 'L' or holder ~= token then return 0 end
redis.call('DEL', KEYS[2])
if cool > 0 then
  redis.pcall('SET', KEYS[2], 'C' .. stamp(lent, epoch), 'PX', text(cool))
end
return 1
