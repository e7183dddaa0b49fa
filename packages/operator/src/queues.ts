import { allRecords, type Owned, ownersKind, recordName } from '@batonjs/server/internals';
import type { RecordStore } from '@batonjs/store';

/** How many agents of a store are named. */
const mostNamed = 100;

/** Whether an agent of this name has ever worked on the store. */
export const isKnownQueue = async (store: RecordStore, queue: string): Promise<boolean> =>
  (await store.getRecord(recordName(ownersKind, queue))) !== undefined;

/** An agent that has worked on a store. */
export interface KnownQueue {
  /** The name of its tasks in the store. */
  readonly name: string;
  /** The names in its cards, in the order in which they came. */
  readonly cards: readonly string[];
}

/** The agents that have ever worked on the store, of a hundred at most, in the order of their names, and how many there are. */
export async function knownQueues(
  store: RecordStore,
): Promise<{ readonly queues: readonly KnownQueue[]; readonly total: number }> {
  const records = await allRecords(store, { prefix: `${ownersKind}/` });
  const queues = records
    .map(({ value }) => value as Owned)
    .map(({ queue: name, owners }) => ({ name, cards: [...new Set(owners.map(({ card }) => card))] }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return { queues: queues.slice(0, mostNamed), total: records.length };
}
