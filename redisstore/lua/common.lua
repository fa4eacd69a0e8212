-- What the scripts have in common. KEYS are a key's value and lease and its
-- slot's epoch, see keys.go; the formats are those of frame.go.

local LIMIT = 9007199254740992 -- 2^53
local EPOCH_LIFE = 30 * 24 * 3600 * 1000

local function text(n) return string.format('%.0f', n) end

-- now returns this server's time in microseconds. Nobody else's clock counts.
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- read returns a key's string, or nil if there is none or it is no string.
local function read(key)
  local s = redis.pcall('GET', key)
  if type(s) == 'string' then return s end
end

-- epoch returns the slot's epoch, or nil if it has none.
local function epoch()
  local n = tonumber(read(KEYS[3]) or '')
  if n and n >= 1 and n < LIMIT and n == math.floor(n) then return n end
end

-- begin returns the slot's epoch and gives it one if it has none. An epoch that
-- was evicted never comes back, so its frames and leases stay void.
local function begin(keep)
  local e = epoch()
  local life = math.max(EPOCH_LIFE, keep)
  if not e then
    e = now()
    redis.call('SET', KEYS[3], text(e), 'PX', text(life))
  elseif redis.call('PTTL', KEYS[3]) < life / 2 then
    redis.call('PEXPIRE', KEYS[3], text(life))
  end
  return e
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

-- stored returns kind, generation, epoch and the whole of what is stored, or
-- nil if there is nothing that makes sense.
local function stored()
  local s = read(KEYS[1])
  if not s or s:sub(1, 3) ~= 'EB\1' then return end
  local generation, e = stamped(s, 5)
  if generation then return s:sub(4, 4), generation, e, s end
end

-- lease returns kind (L, or C while cooling down), token, generation, epoch and
-- what is left of the lease, or nil if there is none of this epoch. One without
-- an end is not ours.
local function lease(e)
  local s = read(KEYS[2])
  if not s then return end
  local left = redis.call('PTTL', KEYS[2])
  local generation, of = stamped(s, 2)
  local kind = s:sub(1, 1)
  if generation and of == e and left >= 0 and (kind == 'L' or kind == 'C') then
    return kind, s:sub(34), generation, math.max(left, 1)
  end
end

-- above returns a generation above all the arguments that are not nil.
local function above(...)
  local generation = now()
  for i = 1, select('#', ...) do
    local g = select(i, ...)
    if g and g >= generation then generation = g + 1 end
  end
  return generation
end
