-- What is split in a slot, see copies.go: a map, by the names of value keys, of the
-- latest generation that was spread (g) and, by numbers of copies, until when some
-- may live, in microseconds (of).

local SPLIT_LIFE = 60 * 1000 * 1000
local MOST_SPLITS = 64

-- splitsOf reads what is noted of a slot.
local function splitsOf(s)
  local ok, map = pcall(cmsgpack.unpack, s or '')
  return ok and type(map) == 'table' and map or {}
end

local function whole(n, below)
  return type(n) == 'number' and n >= 0 and n < below and n == math.floor(n)
end

-- spread returns the latest generation of which copies were made of a value key,
-- and by numbers of copies until when some may live, if after t.
local function spread(splits, name, t)
  local s, of = splits[name], {}
  if type(s) ~= 'table' or type(s.of) ~= 'table' or not whole(s.g, LIMIT - 1) then return 0, of end
  for n, till in pairs(s.of) do
    if whole(n, 65) and n > 1 and whole(till, LIMIT) and till > t then of[n] = till end
  end
  return s.g, of
end

-- answer is {generation, n ...}: what a change has made void, and where there may
-- be copies of it.
local function answer(generation, of)
  local r = {text(generation)}
  for n in pairs(of) do r[#r + 1] = n end
  return r
end
