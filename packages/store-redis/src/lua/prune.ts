import { prelude, relist } from './prelude.ts';
import { pruning } from './webhooks.ts';

/**
 * Keys: `states`, base. Arguments: statusAt before which, how many to delete, how many of the oldest to leave out, how
 * many to read. Answers how many it deleted and how many it read.
 */
export const prune = `${prelude}${relist}${pruning}
local before, limit, skip, batch = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local deleted, seen = 0, 0
for _, name in ipairs(call('ZRANGEBYSCORE', base .. 'closed', '-inf', '(' .. before, 'LIMIT', skip, batch)) do
  if deleted == limit then break end
  seen = seen + 1
  local row = base .. 'task:' .. name
  local kept = call('HMGET', row, 'version', 'row', 'hooks')
  if not (kept[3] and undelivered(name, tonumber(kept[1]))) then
    if kept[3] then drop(name) end
    relist(name, select(6, unpack_row(kept[2])), nil)
    call('UNLINK', row, base .. 'log:' .. name)
    deleted = deleted + 1
  end
end
return {deleted, seen}
`;
