-- flush, of one slot; its epoch and what is split in it are the only keys used
--> {{name, {generation, n ...}} ...}: value keys that may have copies
--
-- A slot without an epoch has nothing that counts. That is also what a server
-- comes to that is out of memory: it refuses to store, and still deletes.
if not epoch and not others[3] then return {} end

local t = now()
local next = math.max(t, (epoch or 0) + 1)
if epoch then
  local r = redis.pcall('SET', KEYS[3], text(next), 'PX', text(EPOCH_LIFE))
  if r.err then redis.call('DEL', KEYS[3]) end
end

local r = {}
for name in pairs(splits) do
  local latest, copies = spread(name, t)
  r[#r + 1] = {name, answer(math.max(next, latest + 1), copies)}
end
return r
