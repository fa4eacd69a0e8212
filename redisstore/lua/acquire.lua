-- acquire token life have shared
--> {'found', pttl, stored} | {'busy', left, kind} | {'granted', generation, token}
local token, life, have, shared = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'

local e = begin(0)
local kind, generation, of, all = stored()
if kind == 'V' and of == e and generation > have then
  return {'found', redis.call('PTTL', KEYS[1]), all}
end

local held, holder, lent, left = lease(e)
if held == 'C' or held and not shared then return {'busy', left, held} end
if held then
  if life > left then redis.call('PEXPIRE', KEYS[2], text(life)) end
  return {'granted', text(lent), holder}
end

local next = above(generation, e, have)
redis.call('SET', KEYS[2], 'L' .. stamp(next, e) .. token, 'PX', text(life))
return {'granted', text(next), token}
