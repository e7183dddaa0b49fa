import { prelude } from './prelude.ts';
import { turns } from './turns.ts';

/**
 * Keys: `states`, base. Arguments: queue, holder, ms, how many at most, task id or nothing, its scope or nothing; `held`
 * for only those that the holder has already, `free` for only the others, `all`. Answers how many others there are
 * (with `held`, at most as many as asked for), then name, fence and cause of each lease.
 */
export const claim = `${prelude}${turns}
local queue, holder, ttl, limit, task, scope, which = unpack(ARGV)
limit = tonumber(limit)
local now = clock()
local ready = base .. 'ready:' .. queue
local answer, given = {0}, 0

local function give(name, fence, cause)
  given = given + 1
  answer[#answer + 1] = name
  answer[#answer + 1] = fence
  answer[#answer + 1] = cause
  call('ZADD', ready, now + ttl, name)
end

local function is_asked_for(name)
  if scope ~= '' then return task == '' or name == task .. NUL .. scope end
  return task == '' or string.sub(name, 1, #task + 1) == task .. NUL
end

if which ~= 'free' then
  for _, name in ipairs(call('SMEMBERS', base .. 'held:' .. holder)) do
    if given < limit and is_asked_for(name) then
      local key = base .. 'task:' .. name
      local fence, _, of_queue = unpack_row(call('HGET', key, 'row'))
      if of_queue == queue then
        call('HSET', key, 'until', now + ttl)
        give(name, fence, 'held')
      end
    end
  end
end
if given == limit then return answer end

local names
if task == '' then
  names = call('ZRANGEBYSCORE', ready, '-inf', now, 'LIMIT', 0, limit)
elseif scope ~= '' then
  names = {task .. NUL .. scope}
else
  names = call('ZRANGEBYLEX', base .. 'open:' .. queue, '[' .. task .. NUL, '(' .. task .. '\\1')
end
for _, name in ipairs(names) do
  local at = call('ZSCORE', ready, name)
  if given < limit and at and tonumber(at) <= now then
    local key = base .. 'task:' .. name
    local fence, was_holder, _, wanted, due, place, ahead = unpack_row(call('HGET', key, 'row'))
    if was_holder ~= holder then
      answer[1] = answer[1] + 1
      if which ~= 'held' then
        local row = pack(fence + 1, holder, queue, false, due, place)
        if ahead then
          row = pack(fence + 1, holder, queue, false, due, place, ahead)
          leave_turns(queue, name)
        end
        start_turn(queue, name, place)
        call('HSET', key, 'row', row, 'until', now + ttl)
        local cause = 'due'
        if was_holder ~= '' then
          cause = 'expired'
          call('SREM', base .. 'held:' .. was_holder, name)
        elseif wanted then
          cause = 'wanted'
          call('HINCRBY', base .. 'waiting', queue, -1)
        end
        give(name, fence + 1, cause)
        call('SADD', base .. 'held:' .. holder, name)
      end
    end
  end
end
return answer
`;

/**
 * Keys: `states`, base. Arguments: ms, then name, fence and holder of each lease. Answers 1 for each that is held, or
 * 0.
 */
export const renew = `${prelude}
local lease_until = clock() + ARGV[1]
local answer = {}
for n = 2, #ARGV, 3 do
  local name = ARGV[n]
  local row = call('HGET', base .. 'task:' .. name, 'row')
  local is_held = false
  if row then
    local fence, holder, queue = unpack_row(row)
    is_held = fence == tonumber(ARGV[n + 1]) and holder == ARGV[n + 2]
    if is_held then
      call('HSET', base .. 'task:' .. name, 'until', lease_until)
      call('ZADD', base .. 'ready:' .. queue, lease_until, name)
    end
  end
  answer[#answer + 1] = is_held and 1 or 0
end
return answer
`;

/** Keys: `task:<name>`, base. Answers fence, holder and whether a turn is wanted, or nothing for an unknown task. */
export const readLease = `${prelude}
local row = call('HGET', KEYS[1], 'row')
if not row then return false end
local fence, holder, _, wanted = unpack_row(row)
return {fence, holder, wanted and 1 or 0}
`;
