import { prelude } from './prelude.ts';

/**
 * Reads in one consistent look. Keys: one of the slot, base. Arguments: commands, each of how many words it has, of what its
 * answer is the names (`tasks`, `hooks`, `records` or `-` for nothing), and the words; the second word is a key; the word `NOW` stands for
 * the time, `NOW+5` for after 5 ms from then. `CALLERS` with a queue answers each scope that waits in the order of a schedule, with its first turn and its last.
 * Answers the time, then the answer of each command; of names, the value of each.
 */
export const find = `${prelude}
local answer, n = {now}, 1

local function callers(queue)
  local found = {}
  for _, scope in ipairs(call('SMEMBERS', base .. 'callers:' .. queue)) do
    local first = call('ZRANGE', base .. 'turns:' .. queue .. NUL .. scope, 0, 0, 'WITHSCORES')
    if first[2] then
      found[#found + 1] = scope
      found[#found + 1] = first[2]
      found[#found + 1] = call('ZSCORE', base .. 'served:' .. queue, scope) or '0'
    else
      call('SREM', base .. 'callers:' .. queue, scope)
    end
  end
  return found
end

while n <= #ARGV do
  local words, kind = tonumber(ARGV[n]), ARGV[n + 1]
  local found
  if ARGV[n + 2] == 'CALLERS' then
    found = callers(ARGV[n + 3])
  else
    for word = n + 4, n + 1 + words do
      if ARGV[word] == 'NOW' then ARGV[word] = now end
      local ahead = string.match(ARGV[word], '^NOW%+(%d+)$')
      if ahead then ARGV[word] = string.format('(%.3f', now + ahead) end
    end
    ARGV[n + 3] = base .. ARGV[n + 3]
    found = call(unpack(ARGV, n + 2, n + 1 + words))
  end
  for m = 1, kind == '-' and 0 or #found do
    if kind == 'tasks' then
      found[m] = call('HGET', base .. 'task:' .. found[m], 'row')
    elseif kind == 'records' then
      found[m] = call('HGET', base .. 'record:' .. found[m], 'row')
    else
      local scope, task, id = string.match(found[m], '^([^%z]*)%z([^%z]*)%z(.*)$')
      found[m] = call('HGET', base .. 'hooks:' .. task .. NUL .. scope, 'w' .. id)
    end
  end
  answer[#answer + 1] = found
  n = n + words + 2
end
return answer
`;
