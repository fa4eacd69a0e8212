-- The time, and what a slot's epoch makes of it.

local EPOCH_LIFE = 30 * 24 * 3600 * 1000

-- now is this server's time in microseconds. Nobody else's clock counts.
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- epochOf reads an epoch. One that makes no sense is none.
local function epochOf(s)
  local epoch = tonumber(s or '')
  if epoch and epoch >= 1 and epoch < LIMIT and epoch == math.floor(epoch) then return epoch end
end
