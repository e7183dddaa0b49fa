import { prelude } from './prelude.ts';

/**
 * Writes what was decided, if everything that was read still is so. Keys: one of the slot, base. Arguments: groups, each of
 * how many checks, checks (a command, its key, its arguments or nothing, and what it must answer), how many commands, commands
 * (how many words, and the words; the second is a key). A check `ZCARD` answers less than that. The command `DROP` deletes
 * webhooks; `MOVE` a member, then sorted sets with its score in each, or with nothing where it leaves one. Each group is
 * written or left out by itself. Answers the time, then 1 or 0 for each group.
 */
export const write = `${prelude}
if call('EXISTS', base .. 'frozen') == 1 then return redis.error_reply('FROZEN takes no writes: it is being copied to another store, or was') end
local answer, n = {now}, 1

local function is_so(command, key, field, expected)
  if command == 'ZCARD' then return call('ZCARD', base .. key) < tonumber(expected) end
  local kept = field == '' and call(command, base .. key) or field ~= '' and call(command, base .. key, field)
  return (kept or '') == expected
end

-- The webhooks of a task that is deleted.
local function drop(key)
  local kept = call('HGETALL', key)
  for m = 1, #kept, 2 do
    if string.byte(kept[m]) == 119 then
      local hook = cjson.decode(kept[m + 1])
      local member = hook.scope .. NUL .. hook.taskId .. NUL .. hook.id
      call('ZREM', base .. 'deliver:' .. hook.queue, member)
      call('ZREM', base .. 'dead:' .. hook.queue, member)
    end
  end
  call('UNLINK', key)
end

while n <= #ARGV do
  local checks, holds = tonumber(ARGV[n]), true
  n = n + 1
  for _ = 1, checks do
    holds = holds and is_so(ARGV[n], ARGV[n + 1], ARGV[n + 2], ARGV[n + 3])
    n = n + 4
  end
  local commands = tonumber(ARGV[n])
  n = n + 1
  for _ = 1, commands do
    local words = tonumber(ARGV[n])
    if not holds then
      -- Skips the command.
    elseif ARGV[n + 1] == 'MOVE' then
      for m = n + 3, n + words, 2 do
        local key, score = base .. ARGV[m], ARGV[m + 1]
        if score == '' then call('ZREM', key, ARGV[n + 2]) else call('ZADD', key, score, ARGV[n + 2]) end
      end
    elseif ARGV[n + 1] == 'DROP' then
      drop(base .. ARGV[n + 2])
    else
      ARGV[n + 2] = base .. ARGV[n + 2]
      call(unpack(ARGV, n + 1, n + words))
    end
    n = n + words + 1
  end
  answer[#answer + 1] = holds and 1 or 0
end
return answer
`;
