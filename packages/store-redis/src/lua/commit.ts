import { isLess, plan, prelude, relist } from './prelude.ts';
import { turns } from './turns.ts';

/**
 * Keys: `task:<name>`, base. Arguments: name; expected version or `open`; head, place and due time after the commit;
 * how many entries, and the entries of the log; then pairs of a name and a value: `once`; `fence` and `writer`;
 * `queue`, `want`, `most`, `ahead` (ms), `release`, `acquire` (the holder) and `ttl` (ms); `snapshot` and its version `from`; `at`,
 * when the first fact of an open append happened. Empty or left out means absent. Answers the version, with the fence
 * if a lease was granted, or a code and a version; `BEHIND` with the time of the last fact if that is later than `at`.
 * It does what `admit` does, and checks everything before it writes anything: Redis does not undo what a script has
 * done.
 */
export const commit = `${prelude}
local row = KEYS[1]
local name, expected, head, place, due = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local last = 6 + ARGV[6]
local given = {}
for n = last + 1, #ARGV, 2 do given[ARGV[n]] = ARGV[n + 1] end
local once, want, release, acquire = given.once, given.want, given.release, given.acquire

local kept
if once then
  kept = call('HMGET', row, 'version', 'row', 'hooks', 'once:' .. once)
  if kept[4] then return {'REPEATED', tonumber(kept[4])} end
else
  kept = call('HMGET', row, 'version', 'row', 'hooks')
end
local version, was_fence, was_holder, was_queue, was_wanted, was_due, was_place = 0, 0, '', '', false, '', nil
local was_ahead
if kept[1] then
  version = tonumber(kept[1])
  was_fence, was_holder, was_queue, was_wanted, was_due, was_place, was_ahead = unpack_row(kept[2])
end
if given.writer and (was_fence ~= tonumber(given.fence) or was_holder ~= given.writer) then
  return {'FENCED', version}
end
if was_place and string.byte(was_place) == 49 then return {'LOG_CLOSED', version} end
if expected == 'open' then
  if version == 0 then return {'VERSION_CONFLICT', version} end
elseif tonumber(expected) ~= version then
  return {'VERSION_CONFLICT', version}
end
if head == '' then
  if version == 0 then return {'INVALID_COMMIT', version} end
  place, due = was_place, was_due
end

if given.at then
  ${isLess}
  local entry = call('LINDEX', base .. 'log:' .. name, -1) or ''
  -- Facts begin with these two members. Others are decoded, and one that is damaged has no time.
  local last_at = string.match(entry, '^[^%z]*%z{"format":%d+,"at":"([^"]*)"')
  if not last_at then
    local ok, fact = pcall(cjson.decode, string.match(entry, '%z(.*)$'))
    last_at = ok and type(fact) == 'table' and type(fact.at) == 'string' and fact.at
  end
  if last_at and is_less(given.at, last_at) then return {'BEHIND', version, last_at} end
end

local closed = string.byte(place) == 49
local fence, holder, queue, wanted, lease_until = was_fence, was_holder, given.queue or was_queue, was_wanted, nil
if closed then
  wanted, holder = false, ''
elseif release then
  wanted, holder = want == '1', ''
elseif acquire and was_holder == '' then
  wanted, holder, fence, lease_until = false, acquire, fence + 1, clock() + given.ttl
elseif want then
  wanted = true
end

local ahead = was_ahead
if given.ahead then
  ahead = tonumber(given.ahead)
  -- A task that waits becomes more urgent, and never less.
  if was_ahead and was_wanted and was_holder == '' then ahead = math.max(ahead, was_ahead) end
end

if given.most and wanted and holder == ''
  and tonumber(call('HGET', base .. 'waiting', queue) or 0) >= tonumber(given.most) then
  return {'QUEUE_FULL', version}
end

if last == 7 then
  call('RPUSH', base .. 'log:' .. name, ARGV[7])
else
  for n = 7, last, 1000 do
    call('RPUSH', base .. 'log:' .. name, unpack(ARGV, n, math.min(n + 999, last)))
  end
end
version = version + last - 6

local moved = place ~= was_place
local rescheduled = closed or queue ~= was_queue or holder ~= was_holder or wanted ~= was_wanted or due ~= was_due
  or ahead ~= was_ahead
if moved or rescheduled or once or given.snapshot then
  local packed = ahead and pack(fence, holder, queue, wanted, due, place, ahead)
    or pack(fence, holder, queue, wanted, due, place)
  local changes = {'version', version, 'row', packed}
  local function change(field, value)
    changes[#changes + 1] = field
    changes[#changes + 1] = value
  end
  if head ~= '' then change('head', head) end
  if lease_until then change('until', lease_until) end
  if once then change('once:' .. once, version + 7 - last) end
  if given.snapshot then
    change('snapshot', given.snapshot)
    change('from', given.from)
  end
  call('HSET', row, unpack(changes))
elseif head ~= '' then
  call('HSET', row, 'version', version, 'head', head)
else
  call('HSET', row, 'version', version)
end

if moved then
  ${relist}
  relist(name, was_place, place)
end

if holder ~= was_holder then
  if was_holder ~= '' then call('SREM', base .. 'held:' .. was_holder, name) end
  if holder ~= '' then call('SADD', base .. 'held:' .. holder, name) end
end

if rescheduled then
  local same_queue = queue == was_queue
  local was_waiting = was_wanted and was_holder == '' and was_queue ~= ''
  local waiting = wanted and holder == '' and queue ~= ''
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
  local is_passed_on = holder ~= was_holder or not same_queue
  if ahead or was_ahead or is_passed_on then
    ${turns}
    if was_queue ~= '' then
      if was_ahead then leave_turns(was_queue, name) end
      if was_holder ~= '' then end_turn(was_queue, name) end
    end
    if queue ~= '' and not closed then
      if holder ~= '' then
        start_turn(queue, name, place)
      elseif ahead and waiting then
        enter_turns(queue, name, call('ZSCORE', base .. 'ready:' .. queue, name) - ahead)
      elseif ahead and due ~= '' then
        enter_turns(queue, name, due - ahead)
      end
    end
  end
end

if last > 6 then
  notify('t' .. version .. NUL .. name)
  if kept[3] then
    ${plan}
    plan(name, version)
  end
end
if wanted and holder == '' and queue ~= '' and (want or queue ~= was_queue) then notify('q' .. queue) end

if acquire and holder == acquire then return {version, fence} end
return version
`;
