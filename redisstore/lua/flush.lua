-- flush, of one slot; its epoch is the only key that is used
--> 1
--
-- A slot without an epoch has nothing that counts.
local e = epoch()
if not e then return 1 end
local next = above(e)
redis.call('SET', KEYS[3], text(next), 'PX', text(EPOCH_LIFE))
return 1
