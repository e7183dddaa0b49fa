import { prelude } from './prelude.ts';

/**
 * `enter_turns(queue, name, at)`, `leave_turns(queue, name)`: a free task that a schedule orders, among those of its
 * caller. `start_turn(queue, name, place)`: it has a lease; `end_turn(queue, name)`.
 */
export const turns = `
local function turns_of(queue, name)
  local scope = string.match(name, '%z(.*)$')
  return base .. 'turns:' .. queue .. NUL .. scope, scope
end

local function enter_turns(queue, name, at)
  local key, scope = turns_of(queue, name)
  call('ZADD', key, at, name)
  call('SADD', base .. 'callers:' .. queue, scope)
end

local function leave_turns(queue, name)
  local key, scope = turns_of(queue, name)
  if call('ZREM', key, name) == 1 and call('EXISTS', key) == 0 then
    call('SREM', base .. 'callers:' .. queue, scope)
  end
end

local function context_of(place)
  return string.match(place, '^.[^%z]*%z[^%z]*%z(.*)$')
end

local function start_turn(queue, name, place)
  call('HSET', base .. 'busy:' .. queue, name, context_of(place))
end

local function end_turn(queue, name)
  call('HDEL', base .. 'busy:' .. queue, name)
end
`;

/** A caller that got no turn for so many turns of other callers comes first anyway: its last one is forgotten. */
const mostServed = 10_000;

/**
 * A claim with a schedule. Keys: `states`, base. Arguments: queue, holder, ms, how many at most; how many turns of the
 * queue, of a caller and of a context may run at once, each a number or nothing. Answers name, fence and cause of each
 * lease.
 */
export const claimTurns = `${prelude}${turns}
local queue, holder, ttl, limit = unpack(ARGV)
limit = tonumber(limit)
local most, most_of_caller, most_of_context = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local now = clock()
local ready, served = base .. 'ready:' .. queue, base .. 'served:' .. queue
local answer, given = {}, 0

local function row_of(name)
  return unpack_row(call('HGET', base .. 'task:' .. name, 'row'))
end

local function give(name, fence, cause)
  given = given + 1
  answer[#answer + 1] = name
  answer[#answer + 1] = fence
  answer[#answer + 1] = cause
  call('ZADD', ready, now + ttl, name)
end

local function take(name)
  local fence, was_holder, _, wanted, due, place, ahead = row_of(name)
  local cause = 'due'
  if was_holder ~= '' then
    cause = 'expired'
    call('SREM', base .. 'held:' .. was_holder, name)
  elseif wanted then
    cause = 'wanted'
    call('HINCRBY', base .. 'waiting', queue, -1)
  end
  local row = pack(fence + 1, holder, queue, false, due, place)
  if ahead then
    row = pack(fence + 1, holder, queue, false, due, place, ahead)
    if was_holder == '' then leave_turns(queue, name) end
  end
  start_turn(queue, name, place)
  call('HSET', base .. 'task:' .. name, 'row', row, 'until', now + ttl)
  call('SADD', base .. 'held:' .. holder, name)
  give(name, fence + 1, cause)
end

for _, name in ipairs(call('SMEMBERS', base .. 'held:' .. holder)) do
  local fence, _, of_queue = row_of(name)
  if given < limit and of_queue == queue then
    call('HSET', base .. 'task:' .. name, 'until', now + ttl)
    give(name, fence, 'held')
  end
end

-- The turns that run. A lease that ran out keeps its place, whoever gets it.
local running, of_callers, of_contexts, left = 0, {}, {}, {}
local function enter(scope, context)
  running = running + 1
  of_callers[scope] = (of_callers[scope] or 0) + 1
  local key = scope .. NUL .. context
  of_contexts[key] = (of_contexts[key] or 0) + 1
end
local busy, is_busy = call('HGETALL', base .. 'busy:' .. queue), {}
for n = 1, #busy, 2 do
  local name = busy[n]
  is_busy[name] = true
  enter(string.match(name, '%z(.*)$'), busy[n + 1])
  local score = call('ZSCORE', ready, name)
  if score and tonumber(score) <= now then left[#left + 1] = name end
end

-- Stored without an order, before a schedule was used.
local plain = {}
for _, name in ipairs(call('ZRANGEBYSCORE', ready, '-inf', now, 'LIMIT', 0, limit)) do
  local _, was_holder, _, _, _, place, ahead = row_of(name)
  if not ahead and was_holder == '' then
    plain[#plain + 1] = name
  elseif not is_busy[name] and was_holder ~= '' then
    -- An earlier release gave it out.
    enter(string.match(name, '%z(.*)$'), context_of(place))
    left[#left + 1] = name
  end
end
for _, name in ipairs(left) do
  if given < limit then take(name) end
end

local function admits_caller(scope)
  return not (most and running >= most) and not (most_of_caller and (of_callers[scope] or 0) >= most_of_caller)
end

-- Whether the task may get a turn; if so, it is counted.
local function admits(name, scope)
  if not admits_caller(scope) then return false end
  local context = ''
  if most_of_context then
    local _, _, _, _, _, place = row_of(name)
    context = context_of(place)
    if (of_contexts[scope .. NUL .. context] or 0) >= most_of_context then return false end
  end
  enter(scope, context)
  return true
end

-- Functions that answer the next task of a caller that may get a turn.
local function among(names)
  local n = 0
  return function()
    while n < #names do
      n = n + 1
      if admits(names[n], string.match(names[n], '%z(.*)$')) then return names[n] end
    end
  end
end
-- A task that is put off may be in order long before it is due.
local function is_due(name)
  local at = call('ZSCORE', ready, name)
  return at and tonumber(at) <= now
end
local function of_caller(scope)
  local key, names, first, n = base .. 'turns:' .. queue .. NUL .. scope, {}, 0, 0
  return function()
    while admits_caller(scope) do
      n = n + 1
      if n > #names then
        names = call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', first, 100)
        first, n = first + 100, 1
        if #names == 0 then return end
      end
      if is_due(names[n]) and admits(names[n], scope) then return names[n] end
    end
  end
end

local callers = {}
for _, scope in ipairs(call('SMEMBERS', base .. 'callers:' .. queue)) do
  local first = call('ZRANGE', base .. 'turns:' .. queue .. NUL .. scope, 0, 0, 'WITHSCORES')
  if first[1] and tonumber(first[2]) <= now and admits_caller(scope) then
    callers[#callers + 1] = {scope, tonumber(call('ZSCORE', served, scope) or 0), tonumber(first[2])}
  end
end
table.sort(callers, function(a, b)
  if a[2] ~= b[2] then return a[2] < b[2] end
  return a[3] < b[3]
end)
local lists = {among(plain)}
for n = 1, #callers do lists[n + 1] = of_caller(callers[n][1]) end

local picked, last = {}, tonumber(call('ZREVRANGE', served, 0, 0, 'WITHSCORES')[2] or 0)
while #lists > 0 and given + #picked < limit do
  local rest = {}
  for _, next_of in ipairs(lists) do
    local name = given + #picked < limit and next_of()
    if name then
      picked[#picked + 1] = name
      rest[#rest + 1] = next_of
    end
  end
  lists = rest
end
for _, name in ipairs(picked) do
  take(name)
  last = last + 1
  call('ZADD', served, last, string.match(name, '%z(.*)$'))
end
if #picked > 0 then call('ZREMRANGEBYRANK', served, 0, ${-mostServed - 1}) end
return answer
`;
