import { prelude } from './prelude.ts';

/**
 * Keys: one of the slot, base. Arguments: scope; the oldest statusAt or `-inf`; how many; statusAt and task id of the last
 * one already shown, or nothing; how many bytes of entries at most, or `inf`; how many states, and the states; lists
 * without a state. Tasks that are in all lists are found, of each state. Answers how many there are in all, 1 if it ended
 * early because of the bytes, then task id, row and entry of each.
 */
export const list = `${prelude}
local scope, since, limit, at, after, bytes, states = unpack(ARGV)
local total, found = 0, {}
limit, bytes = tonumber(limit), bytes == 'inf' and math.huge or tonumber(bytes)

-- By bytes, as sorted sets compare. Lua's own comparison depends on the locale of the server.
local function is_less(a, b)
  for n = 1, math.min(#a, #b) do
    local x, y = string.byte(a, n), string.byte(b, n)
    if x ~= y then return x < y end
  end
  return #a < #b
end

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
  table.sort(keys, function(a, b) return call('ZCARD', a) < call('ZCARD', b) end)
  local count = 0
  for start = 0, call('ZCARD', keys[1]) - 1, 500 do
    local page = call('ZREVRANGE', keys[1], start, start + 499, 'WITHSCORES')
    for n = 1, #page, 2 do
      local task, score, is_in = page[n], page[n + 1], true
      if since ~= '-inf' and tonumber(score) < tonumber(since) then return total end
      for other = 2, #keys do is_in = is_in and call('ZSCORE', keys[other], task) end
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

for n = 8, 7 + states do
  local keys = {}
  for place = 8 + states, #ARGV do keys[#keys + 1] = base .. ARGV[place] .. ARGV[n] end
  if #keys > 1 then
    total = intersect(keys, total)
  else
    local key = keys[1]
    local count, first = call('ZCOUNT', key, since, '+inf'), shown(key)
    local last = math.min(first + limit, count) - 1
    local page = first <= last and call('ZREVRANGE', key, first, last, 'WITHSCORES') or {}
    total = total + count
    for n = 1, #page, 2 do found[#found + 1] = {page[n], tonumber(page[n + 1])} end
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
