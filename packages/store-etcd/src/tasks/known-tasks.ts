import type { Cluster } from '../cluster/cluster.ts';
import type { Keys } from '../layout/keys.ts';
import { pushRowOf } from '../webhooks/push-row.ts';
import type { Compare, RangeRequest, RangeResponse } from '../wire/messages.ts';
import type { KnownTask, TaskCache } from './task-cache.ts';
import { taskRowOf } from './task-row.ts';

/** How many keys `readsOf` reads. */
export const readsPerTask = 3;

/** The reads that `knownOf` takes. */
export const readsOf = (keys: Keys, task: string): RangeRequest[] => [
  { key: keys.log(task) },
  { key: keys.turn(task) },
  { key: keys.pushes(task) },
];

export function knownOf([log, turn, pushes]: readonly RangeResponse[]): KnownTask {
  return { task: taskRowOf(log!.kvs[0], turn!.kvs[0]), pushes: pushRowOf(pushes!.kvs[0]) };
}

/** Holds while the key is as it was read at this revision; 0: while there is no such key. */
export const unchanged = (key: string, modRevision: number): Compare => ({
  result: 0,
  target: 2,
  key,
  modRevision,
});

/** Reads tasks by their digests, and remembers them. */
export async function readTasks(
  { cluster, keys, cache }: { cluster: Cluster; keys: Keys; cache: TaskCache },
  tasks: readonly string[],
): Promise<KnownTask[]> {
  const ranges = await cluster.read(tasks.flatMap((task) => readsOf(keys, task)));
  return tasks.map((task, n) => {
    const known = knownOf(ranges.slice(n * readsPerTask, (n + 1) * readsPerTask));
    cache.set(task, known);
    return known;
  });
}
