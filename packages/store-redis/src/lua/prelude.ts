/**
 * The beginning of all scripts. Every script is given two keys, and the second one, `base`, never exists: while Redis
 * Cluster moves a slot key by key, scripts would see one half of a shard, and a missing key among several is what makes
 * Redis refuse them (TRYAGAIN) until the slot has moved. All other keys are made from `base` and lie in the same slot.
 *
 * - `task:<name>` hash: version, head, row, until, snapshot, from, hooks, once:<key>; in one field, because reading fields
 *   costs more than anything else, `row`: fence, holder, queue, whether a turn is wanted, due time, place, and what it is ahead
 *   by if a schedule orders it; `''` for none
 * - `log:<name>` list: commit id, NUL, fact
 * - `list:<scope> <state>`, `context:<scope> <context> <state>` (parted by NUL) sorted by statusAt: task ids
 * - `states` set: those that lists exist of; `closed` sorted by statusAt: names
 * - `ready:<queue>` sorted by when they can be claimed, `open:<queue>` sorted by text: names; `waiting` hash: counts
 * - `held:<holder>` set of names
 * - of tasks that a schedule orders: `turns:<queue> <scope>` sorted by when they get a turn: names of free ones;
 *   `callers:<queue>` set: scopes that have any; `served:<queue>` sorted by their last turn: scopes
 * - `busy:<queue>` hash: context by name of tasks with a lease
 * - `hooks:<name>` sorted by text: ids of webhooks; `hook:<name> <id>` hash; `deliver:<queue>` sorted by when they can be
 *   claimed; `dead:<queue>` sorted by text
 * - `bucket:<name>`: when a bucket is full, until then; the microseconds are a fraction
 * - `probe`: written to check that keys can be written
 *
 * A name is a task id, NUL and a scope; no id contains NUL. A place is `1` or `0` for closed or open, statusAt, NUL,
 * state, NUL, context. Times are milliseconds since 1970.
 */
export const prelude = `
local call, pack, unpack_row = redis.call, cmsgpack.pack, cmsgpack.unpack
local base, NUL = KEYS[2], '\\0'

local function clock()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function notify(message)
  call('PUBLISH', base .. 'changes', message)
end
`;

/** `is_less(a, b)`: by bytes, as sorted sets compare. Lua's own comparison depends on the locale of the server. */
export const isLess = `
local function is_less(a, b)
  for n = 1, math.min(#a, #b) do
    local x, y = string.byte(a, n), string.byte(b, n)
    if x ~= y then return x < y end
  end
  return #a < #b
end
`;

/** `relist(name, was, is)`: moves a task from one place to another; either may be absent. */
export const relist = `
local function lists(scope, place)
  local closed, at, state, context = string.match(place, '^(.)([^%z]*)%z([^%z]*)%z(.*)$')
  local list = base .. 'list:' .. scope .. NUL .. state
  return list, base .. 'context:' .. scope .. NUL .. context .. NUL .. state, at, closed == '1', state
end

local function relist(name, was, is)
  local task, scope = string.match(name, '^([^%z]*)%z(.*)$')
  local list, context, at, closed, state
  if is then
    list, context, at, closed, state = lists(scope, is)
    call('ZADD', list, at, task)
    call('ZADD', context, at, task)
    if closed then call('ZADD', base .. 'closed', at, name) end
  end
  if was then
    local old_list, old_context, _, was_closed = lists(scope, was)
    if old_list ~= list then call('ZREM', old_list, task) end
    if old_context ~= context then call('ZREM', old_context, task) end
    if was_closed and not closed then call('ZREM', base .. 'closed', name) end
    if old_list == list then return end
  end
  if is then call('SADD', base .. 'states', state) end
end
`;

/**
 * `plan(name, version)`: makes those webhooks of a task due that are behind its log, and notifies of those due now.
 */
export const plan = `
local function plan(name, version)
  local now
  for _, id in ipairs(call('ZRANGE', base .. 'hooks:' .. name, 0, -1)) do
    local hook = name .. NUL .. id
    local kept = call('HMGET', base .. 'hook:' .. hook, 'queue', 'cursor', 'dead', 'holder', 'until', 'retry')
    if not kept[3] and tonumber(kept[2]) < version then
      now = now or clock()
      local ready = math.max(tonumber(kept[6] or 0), kept[4] and tonumber(kept[5]) or now)
      call('ZADD', base .. 'deliver:' .. kept[1], 'NX', ready, hook)
      if ready == now and not kept[4] then notify('q' .. kept[1]) end
    end
  end
end
`;
