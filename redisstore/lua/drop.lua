-- drop fresh name said name said ...; what was said since counts
--> 1
for i = 2, #ARGV - 1, 2 do
  local m = 'm:' .. ARGV[i]
  if redis.call('HGET', KEYS[2], m) == ARGV[i + 1] then redis.call('HDEL', KEYS[2], m) end
end
return 1
