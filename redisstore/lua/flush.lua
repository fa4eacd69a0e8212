-- flush, of one slot; its epoch is the only key that is used
--> 1
--
-- A slot without an epoch has nothing that counts. That is also what a server
-- comes to that is out of memory: it refuses to store, and still deletes.
if not epoch then return 1 end
local r = redis.pcall('SET', KEYS[3], text(math.max(now(), epoch + 1)), 'PX', text(EPOCH_LIFE))
if r.err then redis.call('DEL', KEYS[3]) end
return 1
