-- What the scripts have in common. KEYS are a key's value and lease and its
-- slot's epoch, see keys.go; the formats are those of frame.go.

local LIMIT = 9007199254740992 -- 2^53
local EPOCH_LIFE = 30 * 24 * 3600 * 1000

local function text(n) return string.format('%.0f', n) end

-- now is this server's time in microseconds. Nobody else's clock counts.
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- stamp writes a generation and an epoch so that damage shows.
local function stamp(generation, e)
  return struct.pack('>I8I8I8I8', generation, e, LIMIT - generation, LIMIT - e)
end

-- stamped reads them from s at i, or returns nil.
local function stamped(s, i)
  if #s < i + 31 then return end
  local generation, e, g2, e2 = struct.unpack('>I8I8I8I8', s, i)
  if generation + g2 == LIMIT and e + e2 == LIMIT then return generation, e end
end

-- What is there, in two calls, for calls are what a script's time is spent on.
-- Of the value it is only the head: values can be large. What makes no sense, or
-- is no string, is not there.
local top = redis.pcall('GETRANGE', KEYS[1], 0, 35)
local others = redis.call('MGET', KEYS[2], KEYS[3])

local epoch = tonumber(others[2] or '')
if epoch and (epoch < 1 or epoch >= LIMIT or epoch ~= math.floor(epoch)) then epoch = nil end

-- Of the value: kind, generation, and the epoch it was stored in.
local kind, generation, of
if type(top) == 'string' and top:sub(1, 3) == 'EB\1' then
  generation, of = stamped(top, 5)
  kind = generation and top:sub(4, 4)
end

-- Of the lease: L, or C while cooling down, the generation lent, and the token.
local held, lent, holder
if others[1] and epoch then
  local g, e = stamped(others[1], 2)
  local k = others[1]:sub(1, 1)
  if e == epoch and (k == 'L' or k == 'C') then
    held, lent, holder = k, g, others[1]:sub(34)
  end
end

-- begin gives the slot an epoch if it has none, and sees now and then that it
-- outlives what is kept. An epoch that was evicted never comes back, so its
-- frames and leases stay void.
local function begin(keep, t)
  local life = math.max(EPOCH_LIFE, keep)
  if not epoch then
    epoch = t
    redis.call('SET', KEYS[3], text(epoch), 'PX', text(life))
  elseif (t % 16 == 0 or keep > EPOCH_LIFE / 2) and redis.call('PTTL', KEYS[3]) < life / 2 then
    redis.call('PEXPIRE', KEYS[3], text(life))
  end
end

-- above returns t, or what is above all that the key and its slot have had.
local function above(t)
  return math.max(t, (generation or 0) + 1, (lent or 0) + 1, (epoch or 0) + 1)
end
