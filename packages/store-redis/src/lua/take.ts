import { prelude } from './prelude.ts';

/**
 * Takes one from a bucket, as `takenFrom` of `@batonjs/store` does. Keys: none that is used, base. Arguments: the bucket,
 * `burst`, `everyMs`. Answers 0, or the milliseconds until there is one, as text. The key expires when the bucket is full.
 */
export const take = `${prelude}
local key, every = base .. 'bucket:' .. ARGV[1], tonumber(ARGV[3])
local whole = tonumber(ARGV[2]) * every
local time = call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local from = math.min(math.max(tonumber(call('GET', key) or now), now), now + whole)
local wait = math.min(from + every - whole - now, every)
local full = from
if wait > math.min(every / 100, 1) then
  wait = math.max(wait, 0.001)
else
  full, wait = from + every, 0
end
call('SET', key, string.format('%.17g', full), 'PX', string.format('%d', math.max(1, math.ceil(full - now))))
return string.format('%.17g', wait)
`;
