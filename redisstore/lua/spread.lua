-- spread n every
--> {pttl, stored}, or {} if there is nothing to spread
--
-- It reads the base and notes that there are n of it, in one step: whoever changes
-- the key later is told. Copies made less than every milliseconds ago are new
-- enough.
local n, every = tonumber(ARGV[1]), tonumber(ARGV[2])

local left = kind == 'V' and of == epoch and redis.call('PTTL', KEYS[1]) or -1
if left <= 0 then return {} end

local t, splits = now(), splitsOf(others[3])
local latest, copies = spread(splits, KEYS[1], t)
if latest == generation and copies[n] and copies[n] - t > SPLIT_LIFE - every * 1000 then return {} end
copies[n] = t + SPLIT_LIFE

local noted, count = {}, 1
for name in pairs(splits) do
  local g, ns = spread(splits, name, t)
  if next(ns) and name ~= KEYS[1] then
    noted[name], count = {g = g, of = ns}, count + 1
  end
end
if count > MOST_SPLITS then return {} end
noted[KEYS[1]] = {g = math.max(latest, generation), of = copies}
redis.call('SET', KEYS[4], cmsgpack.pack(noted), 'PX', text(SPLIT_LIFE / 1000))
return {left, redis.call('GET', KEYS[1])}
