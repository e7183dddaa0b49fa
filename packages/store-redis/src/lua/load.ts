import { prelude } from './prelude.ts';

/** Keys: `task:<name>`, base. Arguments: name, how many facts at most. Answers row, snapshot, its version, entries. */
export const load = `${prelude}
local kept = call('HMGET', KEYS[1], 'row', 'snapshot', 'from')
if not kept[1] then return false end
local from = tonumber(kept[3] or 0)
local entries = call('LRANGE', base .. 'log:' .. ARGV[1], from, from + ARGV[2] - 1)
return {kept[1], kept[2], from, entries}
`;
