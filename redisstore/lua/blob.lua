-- blob description life
--> {'kept', what was there before} or {'lost', what is there and is not older}
--
-- A description begins with EBB and a version, then its generation, 8 bytes.
-- Numbers here have 53 bits, so it is read as two.
local new, old = ARGV[1], redis.pcall('GET', KEYS[1])

if type(old) ~= 'string' then old = '' end
if #old >= 12 and old:sub(1, 4) == new:sub(1, 4) then
  local h, l = struct.unpack('>I4I4', old, 5)
  local nh, nl = struct.unpack('>I4I4', new, 5)
  if h > nh or h == nh and l >= nl then return {'lost', old} end
end
redis.call('SET', KEYS[1], new, 'PX', ARGV[2])
return {'kept', old}
