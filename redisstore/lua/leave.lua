-- leave fresh name
--> 1
redis.call('HDEL', KEYS[2], 'm:' .. ARGV[2])
return 1
