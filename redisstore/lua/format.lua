-- How numbers are written, see frame.go and copies.go.

local LIMIT = 9007199254740992 -- 2^53

local function text(n) return string.format('%.0f', n) end

-- stamp writes a generation and another number so that damage shows.
local function stamp(generation, e)
  return struct.pack('>I8I8I8I8', generation, e, LIMIT - generation, LIMIT - e)
end

-- stamped reads them from s at i, or returns nil.
local function stamped(s, i)
  if #s < i + 31 then return end
  local generation, e, g2, e2 = struct.unpack('>I8I8I8I8', s, i)
  if generation + g2 == LIMIT and e + e2 == LIMIT then return generation, e end
end

-- headOf returns kind, generation and the other number of what is stored under
-- name. Only the head is looked at: values can be large. What makes no sense, or
-- is no string, is not there.
local function headOf(name)
  local top = redis.pcall('GETRANGE', name, 0, 35)
  if type(top) ~= 'string' or top:sub(1, 3) ~= 'EB\1' then return end
  local generation, e = stamped(top, 5)
  if generation then return top:sub(4, 4), generation, e end
end
