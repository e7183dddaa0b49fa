import { prelude } from './prelude.ts';

/**
 * Keys: `task:<name>`, base. Arguments: name, how many facts at most. Answers version, head, snapshot, its version,
 * entries.
 */
export const load = `${prelude}
local kept = call('HMGET', KEYS[1], 'version', 'head', 'snapshot', 'from')
if not kept[1] then return false end
local from = tonumber(kept[4] or 0)
local entries = call('LRANGE', base .. 'log:' .. ARGV[1], from, from + ARGV[2] - 1)
return {tonumber(kept[1]), kept[2], kept[3], from, entries}
`;
