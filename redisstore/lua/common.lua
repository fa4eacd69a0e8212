-- What the scripts about a base have in common. KEYS are a key's value and lease
-- and its slot's epoch, for some also what is split in the slot, see keys.go.

-- What is there, in two calls, for calls are what a script's time is spent on:
-- of the value kind, generation, and the epoch it was stored in.
local kind, generation, of = headOf(KEYS[1])
local others = redis.call('MGET', unpack(KEYS, 2))

local epoch = epochOf(others[2])

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
