import { common, plan, relist } from './common.ts';

/**
 * Keys: `task:<name>`, base. Arguments: name, expected version or `open`, once; fence and holder of the writer; head, place
 * and due time after the commit; queue, want, release, holder and ms of acquire; snapshot and its version; entries of the
 * log. Empty means absent. Answers the version, with the fence if a lease was granted, or a code and a version. It does
 * what `admit` does, and checks everything before it writes anything: Redis does not undo what a script has done.
 */
export const commit = `${common}${relist}${plan}
local row = KEYS[1]
local name, expected, once, fence, writer, head, place, due = unpack(ARGV, 1, 8)
local queue, want, release, acquire, ttl, snapshot, from = unpack(ARGV, 9, 15)
local facts = #ARGV - 15

local kept =
  call('HMGET', row, 'version', 'place', 'fence', 'holder', 'queue', 'wanted', 'due', 'hooks', 'once:' .. once)
if kept[9] then return {'REPEATED', tonumber(kept[9])} end
local version, was_holder = tonumber(kept[1] or 0), kept[4] or ''
if fence ~= '' and (kept[3] ~= fence or was_holder ~= writer) then return {'FENCED', version} end
if kept[2] and string.byte(kept[2]) == 49 then return {'LOG_CLOSED', version} end
if expected == 'open' then
  if version == 0 then return {'VERSION_CONFLICT', version} end
elseif tonumber(expected) ~= version then
  return {'VERSION_CONFLICT', version}
end
if head == '' and version == 0 then return {'INVALID_COMMIT', version} end

local was_queue, was_wanted, was_due = kept[5] or '', kept[6] == '1', kept[7] or ''
local closed = head ~= '' and string.byte(place) == 49
local wanted, holder, lease_until = was_wanted, was_holder, nil
fence = tonumber(kept[3] or 0)
if queue == '' then queue = was_queue end
if head == '' then due = was_due end
if closed then
  wanted, holder = false, ''
elseif release == '1' then
  wanted, holder = want == '1', ''
elseif acquire ~= '' and was_holder == '' then
  wanted, holder, fence, lease_until = false, acquire, fence + 1, clock() + ttl
elseif want == '1' then
  wanted = true
end

if facts == 1 then
  call('RPUSH', base .. 'log:' .. name, ARGV[16])
else
  for n = 16, #ARGV, 1000 do
    call('RPUSH', base .. 'log:' .. name, unpack(ARGV, n, math.min(n + 999, #ARGV)))
  end
end

local changes = {'version', version + facts}
local function change(field, value)
  changes[#changes + 1] = field
  changes[#changes + 1] = value
end
if head ~= '' then change('head', head) end
if head ~= '' and place ~= kept[2] then change('place', place) end
if due ~= was_due then change('due', due) end
if queue ~= was_queue then change('queue', queue) end
if wanted ~= was_wanted then change('wanted', wanted and '1' or '') end
if holder ~= was_holder then change('holder', holder) end
if lease_until then
  change('fence', fence)
  change('until', lease_until)
end
if snapshot ~= '' then
  change('snapshot', snapshot)
  change('from', from)
end
if once ~= '' then change('once:' .. once, version + 1) end
call('HSET', row, unpack(changes))
version = version + facts

if head ~= '' and place ~= kept[2] then relist(name, kept[2], place) end

if holder ~= was_holder then
  if was_holder ~= '' then call('SREM', base .. 'held:' .. was_holder, name) end
  if holder ~= '' then call('SADD', base .. 'held:' .. holder, name) end
end

local same_queue = queue == was_queue
local was_waiting = was_wanted and was_holder == '' and was_queue ~= ''
local waiting = wanted and holder == '' and queue ~= ''
if closed or not same_queue or holder ~= was_holder or wanted ~= was_wanted or due ~= was_due then
  local goes_on_waiting = waiting and was_waiting and same_queue
  if was_queue ~= '' and (closed or not same_queue) then
    call('ZREM', base .. 'ready:' .. was_queue, name)
    call('ZREM', base .. 'open:' .. was_queue, name)
  end
  if was_waiting and not goes_on_waiting then call('HINCRBY', base .. 'waiting', was_queue, -1) end
  if waiting and not goes_on_waiting then call('HINCRBY', base .. 'waiting', queue, 1) end
  if queue ~= '' and not closed then
    if not same_queue then call('ZADD', base .. 'open:' .. queue, 0, name) end
    local ready
    if holder ~= '' then
      ready = lease_until or call('HGET', row, 'until')
    elseif waiting then
      ready = not goes_on_waiting and clock()
    elseif due ~= '' then
      ready = due
    elseif same_queue then
      call('ZREM', base .. 'ready:' .. queue, name)
    end
    if ready then call('ZADD', base .. 'ready:' .. queue, ready, name) end
  end
end

if facts > 0 then
  ring('t' .. version .. NUL .. name)
  if kept[8] then plan(name, version) end
end
if waiting and (want == '1' or not same_queue) then ring('q' .. queue) end

if acquire ~= '' and holder == acquire then return {version, fence} end
return version
`;
