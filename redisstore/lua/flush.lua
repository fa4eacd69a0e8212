-- flush, of some slots; KEYS are the epoch of each and what is split in it
--> {{name, {generation, n ...}} ...}: value keys that may have copies
--
-- A slot without an epoch has nothing that counts. That is also what a server
-- comes to that is out of memory: it refuses to store, and still deletes.
local found = redis.call('MGET', unpack(KEYS))
local t, r = now(), {}
for i = 1, #KEYS, 2 do
  local epoch = epochOf(found[i])
  local next = math.max(t, (epoch or 0) + 1)
  if epoch and redis.pcall('SET', KEYS[i], text(next), 'PX', text(EPOCH_LIFE)).err then
    redis.call('DEL', KEYS[i])
  end
  if found[i + 1] then
    local splits = splitsOf(found[i + 1])
    for name in pairs(splits) do
      local latest, copies = spread(splits, name, t)
      r[#r + 1] = {name, answer(math.max(next, latest + 1), copies)}
    end
  end
end
return r
