import type { TaskRow } from '@batonjs/store';
import { isLess, prelude } from './prelude.ts';

/** Each has a list. */
const listed: Readonly<Record<NonNullable<NonNullable<TaskRow['head']>['state']> | '', true>> = {
  '': true,
  TASK_STATE_UNSPECIFIED: true,
  TASK_STATE_SUBMITTED: true,
  TASK_STATE_WORKING: true,
  TASK_STATE_INPUT_REQUIRED: true,
  TASK_STATE_AUTH_REQUIRED: true,
  TASK_STATE_COMPLETED: true,
  TASK_STATE_FAILED: true,
  TASK_STATE_CANCELED: true,
  TASK_STATE_REJECTED: true,
};
const states = Object.keys(listed).map((state) => `'${state}'`);

/**
 * Keys: one of the slot, base. Arguments: scope, `1` if only of a context, the context; the state or nothing, `1` for logs
 * that are no tasks too; the oldest statusAt or `-inf`; how many; statusAt and task id of the last one already shown,
 * or nothing; how many bytes of entries at most, or `inf`; the terms that all of them have. Answers how many there are in all, 1 if it ended early
 * because of the bytes, then task id, row and entry of each.
 */
export const list = `${prelude}
local scope, of_context, context, only, answered, since, limit, at, after, bytes = unpack(ARGV)
local total, found = 0, {}
limit, bytes = tonumber(limit), bytes == 'inf' and math.huge or tonumber(bytes)

${isLess}

-- How many in a list come before what follows the last one shown, whether or not that one is still there.
local function shown(key)
  if at == '' then return 0 end
  local low = call('ZCOUNT', key, '(' .. at, '+inf')
  local high = low + call('ZCOUNT', key, at, at)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_less(call('ZREVRANGE', key, middle, middle)[1], after) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

-- Those of the smallest list that are in all others: how many there are is known only when all of it is read.
local function intersect(keys, total)
  local least, size = keys[1], call('ZCARD', keys[1])
  for n = 2, #keys do
    local other = call('ZCARD', keys[n])
    if other < size then least, size = keys[n], other end
  end
  local count = 0
  for start = 0, size - 1, 500 do
    local page = call('ZREVRANGE', least, start, start + 499, 'WITHSCORES')
    for n = 1, #page, 2 do
      local task, score, is_in = page[n], page[n + 1], true
      if since ~= '-inf' and tonumber(score) < tonumber(since) then return total end
      for _, key in ipairs(keys) do
        is_in = is_in and (key == least or call('ZSCORE', key, task))
      end
      if is_in then
        total = total + 1
        local is_behind = at == '' or tonumber(score) < tonumber(at) or tonumber(score) == tonumber(at) and is_less(task, after)
        if is_behind and count < limit then
          count = count + 1
          found[#found + 1] = {task, tonumber(score)}
        end
      end
    end
  end
  return total
end

local states = only ~= '' and {only} or {${states}}
local places = {}
if of_context == '1' then places[1] = 'context:' .. scope .. NUL .. context .. NUL end
for n = 11, #ARGV do places[#places + 1] = 'term:' .. scope .. NUL .. ARGV[n] .. NUL end
if #places == 0 then places[1] = 'list:' .. scope .. NUL end
for _, state in ipairs(states) do
  if (state ~= '' or answered == '1') and #places > 1 then
    local keys = {}
    for n, place in ipairs(places) do keys[n] = base .. place .. state end
    total = intersect(keys, total)
  elseif state ~= '' or answered == '1' then
    local key = base .. places[1] .. state
    local count = since == '-inf' and call('ZCARD', key) or call('ZCOUNT', key, since, '+inf')
    if count > 0 then
      total = total + count
      local first = shown(key)
      local last = math.min(first + limit, count) - 1
      local page = first <= last and call('ZREVRANGE', key, first, last, 'WITHSCORES') or {}
      for n = 1, #page, 2 do
        found[#found + 1] = {page[n], tonumber(page[n + 1])}
      end
    end
  end
end
table.sort(found, function(a, b)
  if a[2] ~= b[2] then return a[2] > b[2] end
  return is_less(b[1], a[1])
end)

local answer = {total, 0}
for n = 1, math.min(limit, #found) do
  local task = found[n][1]
  local name = task .. NUL .. scope
  local row = call('HGET', base .. 'task:' .. name, 'row')
  local entry = call('LINDEX', base .. 'log:' .. name, cjson.decode(row).head.statusVersion - 1)
  bytes = bytes - (entry and #entry or 0)
  if bytes < 0 and n > 1 then
    answer[2] = 1
    break
  end
  answer[#answer + 1] = task
  answer[#answer + 1] = row
  answer[#answer + 1] = entry
end
return answer
`;
