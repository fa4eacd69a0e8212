-- acquire token life have shared
--> {'found', pttl, stored} | {'busy', left, kind} | {'granted', generation, token}
local token, life, have, shared = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'

if kind == 'V' and of == epoch and generation > have then
  return {'found', redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[1])}
end

local left = held and redis.call('PTTL', KEYS[2]) or -1
if left >= 0 then -- a lease without an end is not ours
  if held == 'C' or not shared then return {'busy', math.max(left, 1), held} end
  if life > left then redis.call('PEXPIRE', KEYS[2], text(life)) end
  return {'granted', text(lent), holder}
end

local t = now()
begin(0, t)
local next = math.max(above(t), have + 1)
redis.call('SET', KEYS[2], 'L' .. stamp(next, epoch) .. token, 'PX', text(life))
return {'granted', text(next), token}
