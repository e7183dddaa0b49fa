import { prelude } from './prelude.ts';

/**
 * Keys: `task:<name>`, base. Arguments: name; position of the last fact that the reader knows, and its commit id; how
 * many facts at most. Answers the entries after it, or nil if the log does not hold that commit there.
 */
export const read = `${prelude}
local log, after, known = base .. 'log:' .. ARGV[1], tonumber(ARGV[2]), ARGV[3] .. NUL
local last = call('LINDEX', log, after - 1)
if not last or string.sub(last, 1, #known) ~= known then return false end
return call('LRANGE', log, after, after + ARGV[4] - 1)
`;
