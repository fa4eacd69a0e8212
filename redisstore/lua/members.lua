-- members fresh
--> {era, name, said, name, said ...}
local out, all = {era}, redis.call('HGETALL', KEYS[2])
for i = 1, #all, 2 do
  if all[i]:sub(1, 2) == 'm:' then
    out[#out + 1] = all[i]:sub(3)
    out[#out + 1] = all[i + 1]
  end
end
return out
