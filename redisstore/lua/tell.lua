-- tell fresh keep message...
--> {era, seq} of the last message
for i = 3, #ARGV do
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], text(seq + 1) .. '-0', 'e', era, 'f', ARGV[i])
  seq = seq + 1
end
live()
return {era, text(seq)}
