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
 * or nothing; how many bytes of entries at most, or `inf`. Answers how many there are in all, 1 if it ended early
 * because of the bytes, then task id, row and entry of each.
 */
export const list = `${prelude}
local scope, of_context, context, only, answered, since, limit, at, after, bytes = unpack(ARGV)
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

local states = only ~= '' and {only} or {${states}}
local total, found = 0, {}
for _, state in ipairs(states) do
  if state ~= '' or answered == '1' then
    local key = base .. 'list:' .. scope .. NUL .. state
    if of_context == '1' then key = base .. 'context:' .. scope .. NUL .. context .. NUL .. state end
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
