import { plan, prelude } from './prelude.ts';

/** `show(hook)`: the row of a webhook, by name and id; nil if there is none. */
const show = `
local function show(hook)
  local kept = call('HMGET', base .. 'hook:' .. hook, 'config', 'protocol', 'queue', 'cursor', 'attempts', 'retry', 'dead', 'fence')
  if not kept[1] then return false end
  return {hook, kept[1], kept[2], kept[3], tonumber(kept[4]), tonumber(kept[5]), kept[6], kept[7], tonumber(kept[8])}
end
`;

/** `forget(name, id, queue)`: removes a webhook from those that are due and those that were given up. */
const forget = `
local function in_order(name, id)
  local task, scope = string.match(name, '^([^%z]*)%z(.*)$')
  return scope .. NUL .. task .. NUL .. id
end

local function forget(name, id, queue)
  call('ZREM', base .. 'deliver:' .. queue, name .. NUL .. id)
  call('ZREM', base .. 'dead:' .. queue, in_order(name, id))
end
`;

/** Keys of all but `dead`, `claimDeliveries` and `prune`: `task:<name>`, base. */
const ofOne = `
local row, name, id = KEYS[1], ARGV[1], ARGV[2]
local hook = name .. NUL .. id
local key = base .. 'hook:' .. hook

local function version()
  return tonumber(call('HGET', row, 'version') or 0)
end
`;

/**
 * Arguments: name, id, config, protocol version, queue, cursor; how many webhooks the task may have, or nothing.
 * Answers 1 if there was room.
 */
export const put = `${prelude}${plan}${forget}${ofOne}
local config, protocol, queue, cursor, most = unpack(ARGV, 3, 7)
local kept = call('HMGET', key, 'queue', 'cursor', 'fence')
if most ~= '' and not kept[1] and call('ZCARD', base .. 'hooks:' .. name) >= tonumber(most) then return 0 end
cursor = math.max(tonumber(cursor), tonumber(kept[2] or 0))
call('HSET', key, 'config', config, 'protocol', protocol, 'queue', queue, 'cursor', cursor, 'attempts', 0,
  'fence', (kept[3] or 0) + 1)
call('HSET', row, 'hooks', 1)
call('ZADD', base .. 'hooks:' .. name, 0, id)
if kept[1] then
  call('HDEL', key, 'retry', 'dead', 'holder', 'until')
  forget(name, id, kept[1])
end
plan(name, version())
return 1
`;

/** Arguments: name, id. Answers 1 if it was there. */
export const remove = `${prelude}${forget}${ofOne}
local queue = call('HGET', key, 'queue')
if not queue then return 0 end
forget(name, id, queue)
call('DEL', key)
if call('ZREM', base .. 'hooks:' .. name, id) == 1 and call('EXISTS', base .. 'hooks:' .. name) == 0 then
  call('HDEL', row, 'hooks')
end
return 1
`;

/** Arguments: name, id. Answers the webhook or nothing. */
export const get = `${prelude}${show}${ofOne}
return show(hook)
`;

/** Arguments: name, the id after which to begin or nothing, how many. Answers webhooks. */
export const page = `${prelude}${show}${ofOne}
local answer = {}
local from = id == '' and '-' or '(' .. id
for _, one in ipairs(call('ZRANGEBYLEX', base .. 'hooks:' .. name, from, '+', 'LIMIT', 0, ARGV[3])) do
  answer[#answer + 1] = show(name .. NUL .. one)
end
return answer
`;

/** Keys: `states`, base. Arguments: queue, how many. Answers webhooks that were given up. */
export const dead = `${prelude}${show}
local answer = {}
for _, one in ipairs(call('ZRANGEBYLEX', base .. 'dead:' .. ARGV[1], '-', '+', 'LIMIT', 0, ARGV[2])) do
  local scope, task, id = string.match(one, '^([^%z]*)%z([^%z]*)%z(.*)$')
  answer[#answer + 1] = show(task .. NUL .. scope .. NUL .. id)
end
return answer
`;

/** Keys: `states`, base. Arguments: queue, holder, ms, how many. Answers webhooks with their new fence. */
export const claimDeliveries = `${prelude}${show}
local now, answer, due = clock(), {}, base .. 'deliver:' .. ARGV[1]
for _, hook in ipairs(call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[4])) do
  call('HINCRBY', base .. 'hook:' .. hook, 'fence', 1)
  call('HSET', base .. 'hook:' .. hook, 'holder', ARGV[2], 'until', now + ARGV[3])
  call('ZADD', due, now + ARGV[3], hook)
  answer[#answer + 1] = show(hook)
end
return answer
`;

/**
 * Arguments: name, id, holder, fence; `cursor`, the cursor and ms to keep it or nothing; or `retry`, when and
 * attempts; or `dead` and why. Answers 1 if the right was held.
 */
export const advance = `${prelude}${plan}${forget}${ofOne}
local holder, fence, outcome, value, more = unpack(ARGV, 3, 7)
local kept = call('HMGET', key, 'holder', 'fence', 'queue')
if kept[1] ~= holder or kept[2] ~= fence then return 0 end
if outcome == 'cursor' then
  call('HSET', key, 'cursor', value, 'attempts', 0)
  call('HDEL', key, 'retry')
  if more ~= '' then call('HSET', key, 'until', clock() + more) end
elseif outcome == 'retry' then
  call('HSET', key, 'retry', value, 'attempts', more)
else
  call('HSET', key, 'dead', value)
end
if outcome ~= 'cursor' or more == '' then call('HDEL', key, 'holder', 'until') end
forget(name, id, kept[3])
if outcome == 'dead' then call('ZADD', base .. 'dead:' .. kept[3], 0, in_order(name, id)) end
plan(name, version())
return 1
`;

/** Arguments: name, id. Makes the webhook due that waits for another attempt; answers 1 if it did. */
export const retryNow = `${prelude}${plan}${forget}${ofOne}
local kept = call('HMGET', key, 'queue', 'retry', 'holder', 'dead')
if not kept[2] or kept[3] or kept[4] then return 0 end
call('HDEL', key, 'retry')
forget(name, id, kept[1])
plan(name, version())
return 1
`;

/** Arguments: name, id. Answers 1 if it had been given up. */
export const revive = `${prelude}${plan}${forget}${ofOne}
local kept = call('HMGET', key, 'queue', 'dead')
if not kept[2] then return 0 end
call('HSET', key, 'attempts', 0)
call('HDEL', key, 'dead', 'retry')
forget(name, id, kept[1])
plan(name, version())
return 1
`;

/** `undelivered(name, version)` and `drop(name)`: the functions that pruning needs for webhooks. */
export const pruning = `${forget}
local function undelivered(name, version)
  for _, id in ipairs(call('ZRANGE', base .. 'hooks:' .. name, 0, -1)) do
    local kept = call('HMGET', base .. 'hook:' .. name .. NUL .. id, 'cursor', 'dead')
    if not kept[2] and tonumber(kept[1]) < version then return true end
  end
  return false
end

local function drop(name)
  for _, id in ipairs(call('ZRANGE', base .. 'hooks:' .. name, 0, -1)) do
    local key = base .. 'hook:' .. name .. NUL .. id
    forget(name, id, call('HGET', key, 'queue'))
    call('DEL', key)
  end
  call('DEL', base .. 'hooks:' .. name)
end
`;
