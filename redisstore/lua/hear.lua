-- hear fresh name round era seq
--> {era, seq} of the log's end
if ARGV[4] == era then
  redis.call('HSET', KEYS[2], 'm:' .. ARGV[2], ARGV[5] .. ':' .. ARGV[3])
  if tonumber(ARGV[3]) % 1024 == 0 then live() end
end
return {era, text(seq)}
