-- What the scripts of the bus have in common. KEYS[1] is the log, a stream whose
-- ids are n-0, and KEYS[2] a hash with the log's era and, under m:name, what each
-- member said last. ARGV[1] is a name for a new era.

local LIFE = '2592000000' -- 30 days

local function text(n) return string.format('%.0f', n) end

local function live()
  redis.call('PEXPIRE', KEYS[1], LIFE)
  redis.call('PEXPIRE', KEYS[2], LIFE)
end

-- last is the number of the log's last message, or nil if there is no log.
local function last()
  local about = redis.pcall('XINFO', 'STREAM', KEYS[1])
  for i = 1, #about, 2 do
    if about[i] == 'last-generated-id' then return tonumber(about[i + 1]:match('^%d+')) end
  end
end

-- A log of which any part is lost begins anew. So does one that has come to
-- another server by a failover, which may have been told less.
local era, seq = redis.pcall('HGET', KEYS[2], 'era'), last()
if type(era) ~= 'string' or not seq then
  redis.call('DEL', KEYS[1], KEYS[2])
  era, seq = ARGV[1], 1
  redis.call('XADD', KEYS[1], '1-0', 'e', era)
  redis.call('HSET', KEYS[2], 'era', era)
  live()
end
local info = redis.pcall('INFO', 'replication')
era = era .. ':' .. (type(info) == 'string' and info:match('master_replid:(%w+)') or '')
