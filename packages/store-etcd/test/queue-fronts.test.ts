import { expect, it } from 'vitest';
import { inside } from '../src/layout/keys.ts';
import { type QueueFronts, queueFronts } from '../src/rows/queue-fronts.ts';
import type { RangeRequest } from '../src/wire/messages.ts';

/** A folder in memory that counts how many keys are visited, as etcd visits them: all of a range, whatever its limit. */
function folderOf(size: number) {
  const keys = new Set(Array.from({ length: size }, (_, n) => `q/${String(n).padStart(9, '0')}`));
  let visited = 0;
  const read = ({ key, rangeEnd, limit }: RangeRequest) => {
    const found = [...keys].filter((one) => one >= key && one < rangeEnd!);
    visited += found.length;
    const kvs = found.slice(0, limit).map((one) => ({ key: Buffer.from(one), modRevision: 1 }));
    return { kvs, count: found.length };
  };
  return { keys, read, visited: () => visited };
}

/** Claims the oldest, as `Searches` does. */
function claim(fronts: QueueFronts, { keys, read }: ReturnType<typeof folderOf>, limit: number): string[] {
  const { kvs, count } = read({ ...fronts.range('q/'), limit });
  if (fronts.forgetIfShort('q/', kvs.length, limit))
    return claim(fronts, { keys, read, visited: () => 0 }, limit);
  const front = fronts.rangeToFind('q/', count);
  if (front) fronts.remember('q/', read(front).kvs);
  const claimed = kvs.map(({ key }) => String(key));
  for (const key of claimed) keys.delete(key);
  return claimed;
}

it('Claims from a long queue visit its front, find all of it in order, and a short queue is read as it is', () => {
  const folder = folderOf(6_000);
  const oldestFirst = [...folder.keys];
  const fronts = queueFronts();
  const claimed: string[] = [];
  for (let some = claim(fronts, folder, 50); some.length > 0; some = claim(fronts, folder, 50))
    claimed.push(...some);
  expect(claimed).toEqual(oldestFirst);
  // 120 claims of 3,000 keys on average would be 360,000.
  expect(folder.visited()).toBeLessThan(150_000);
  expect(fronts.range('q/')).toEqual(inside('q/'));
});
