import { prelude } from './prelude.ts';

/**
 * Reads rows of all tasks. Keys: one of the slot, base. Arguments: the cursor of `SCAN`, about how many, the pattern of the
 * keys. Answers the next cursor, then the rows.
 */
export const every = `${prelude}
local scanned = call('SCAN', ARGV[1], 'MATCH', ARGV[3], 'COUNT', ARGV[2])
local answer = {scanned[1]}
for _, key in ipairs(scanned[2]) do answer[#answer + 1] = call('HGET', key, 'row') end
return answer
`;
