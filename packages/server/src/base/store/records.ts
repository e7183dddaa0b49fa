import { isLoopback } from '@batonjs/protocol/headers';
import type { PushConfigStore, RecordStore, TaskStore } from '@batonjs/store';
import { sha256 } from '#bytes';
import type { Logger, ReportFailure } from '../hooks/logger.ts';
import type { Clock } from '../timing/clock.ts';

/** The parts of a process that its work on the store depends on. */
export interface StoreSource {
  /** Answers each call within `timeouts.storeMs`. */
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Logs the errors of background work. */
  readonly report: ReportFailure;
}

export const dayMs = 86_400_000;
/** How long a record about a day or an hour stays. */
export const keptMs = 400 * dayMs;

/** The name of a record: its kind, then what it is about. */
export const recordName = (kind: string, ...ids: readonly string[]): string =>
  [kind, ...ids.map(wordOf)].join('/');

/** Ids may be long, and hold any character. Nothing but a digest begins with `=`. */
function wordOf(id: string): string {
  const word = encodeURIComponent(id).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return word.length <= 160 ? word : `=${sha256(id, 'base64url')}`;
}

/** Writes what `decide` makes of the value of a record; nothing for undefined. Decides again if another process wrote. */
export async function changeRecord<Value>(
  store: Pick<RecordStore, 'getRecord' | 'putRecord'>,
  name: string,
  decide: (value: Value | undefined) => Value | undefined,
  options?: Parameters<RecordStore['putRecord']>[3],
): Promise<void> {
  for (let isWritten = false; !isWritten; ) {
    const record = await store.getRecord(name);
    const value = decide(record?.value as Value | undefined);
    if (value === undefined) return;
    isWritten = (await store.putRecord(name, record?.revision ?? 0, value, options)) !== undefined;
  }
}

type StoredRecord = Awaited<ReturnType<RecordStore['listRecords']>>[number];

const pageSize = 100;

/** All records of a query. */
export async function allRecords(
  store: RecordStore,
  query: { readonly prefix?: string; readonly scope?: string; readonly after?: string },
): Promise<StoredRecord[]> {
  const all: StoredRecord[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await store.listRecords({ ...query, limit: pageSize, ...(last && { after: last.name }) });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}

/** The kind of the records in which a store remembers the agents of its queues. */
export const ownersKind = 'queue-owners';

/** How many agents of a queue are remembered. */
const mostOwners = 100;

/** The most characters of a name and of an address that are remembered. */
const longestText = 300;

/** A refusal is compared with the store again after this many milliseconds. */
const refusedForMs = 1_000;

/** An agent that uses a queue. */
export interface QueueUser {
  readonly queue: string;
  /** The name in its card; undefined for a worker that was not given the card: it takes any queue. */
  readonly card: string | undefined;
  readonly url: string | undefined;
}

/** What a store remembers of a queue. */
export interface Owned {
  readonly queue: string;
  readonly owners: readonly Owner[];
}

/** An agent that a store remembers. */
interface Owner {
  readonly card: string;
  readonly url?: string;
}

export type QueueOwners = ReturnType<typeof queueOwners>;

/**
 * Compares an agent with those that the store remembers for its queue: a program that took the queue of another one by
 * mistake would run its tasks. An agent is known by the name in its card, or by its public URL.
 */
export function queueOwners(
  { queue, card, url }: QueueUser,
  { store, clock, logger }: Omit<StoreSource, 'report'>,
) {
  /** `isOurs`: whether the queue may be used; false also before the store said so. */
  const owners = { isOurs: card === undefined, refusal, guard };
  let latest: string | undefined;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  let checking: Promise<string | undefined> | undefined;

  /** Why the queue may not be used; undefined if it may. Rejects if the store fails. */
  async function refusal(): Promise<string | undefined> {
    if (owners.isOurs) return undefined;
    if (!checking && clock.monotonic() < refusedUntil) return latest;
    checking ??= check().finally(() => {
      checking = undefined;
    });
    return checking;
  }

  /** The store, of which no task and no delivery of a queue is claimed that may not be used. */
  function guard<Store extends TaskStore | (TaskStore & PushConfigStore)>(store: Store): Store {
    const claiming = async <T>(claim: () => Promise<readonly T[]>): Promise<readonly T[]> =>
      (await refusal()) === undefined ? claim() : [];
    const claim: TaskStore['claim'] = (request) =>
      owners.isOurs ? store.claim(request) : claiming(() => store.claim(request));
    if (!('claimDeliveries' in store)) return { ...store, claim };
    const claimDeliveries: PushConfigStore['claimDeliveries'] = (request) =>
      owners.isOurs ? store.claimDeliveries(request) : claiming(() => store.claimDeliveries(request));
    return { ...store, claim, claimDeliveries };
  }

  async function check(): Promise<string | undefined> {
    const own = ownerOf(card!, url);
    let refusal: string | undefined;
    await changeRecord<Owned>(store, recordName(ownersKind, queue), ({ owners } = { queue, owners: [] }) => {
      const last = owners.at(-1);
      const isKnown = owners.some(
        ({ card, url }) => card === own.card || (url !== undefined && url === own.url),
      );
      refusal = last && !isKnown ? refusalOf(queue, own, last) : undefined;
      const isFull = owners.length >= mostOwners;
      return refusal !== undefined || isFull ? undefined : withOwner(queue, owners, own);
    });
    if (refusal !== undefined) {
      if (refusal !== latest) logger('error', refusal, { queue });
      refusedUntil = clock.monotonic() + refusedForMs;
    }
    latest = refusal;
    owners.isOurs = refusal === undefined;
    return refusal;
  }

  return owners;
}

const refusalOf = (queue: string, own: Owner, { card, url }: Owner): string =>
  `In this store the tasks named "${queue}" are those of the agent "${card}"${url ? ` at ${url}` : ''}: give "${own.card}" ` +
  'a `name` of its own. If the same agent has a new card, or both agents should share their tasks, run once: ' +
  `baton tasks --store … --agent ${JSON.stringify(queue)} share --card ${JSON.stringify(own.card)}`;

const ownerOf = (card: string, url?: string): Owner => ({
  card: card.slice(0, longestText),
  ...publicUrl(url),
});

/** Undefined if the agent is remembered already. */
const withOwner = (queue: string, owners: readonly Owner[], own: Owner): Owned | undefined =>
  owners.some(({ card, url }) => card === own.card && (own.url === undefined || url === own.url))
    ? undefined
    : { queue, owners: [...owners, own].slice(-mostOwners) };

/**
 * Lets an agent use the tasks of a name beside those that use it: one with a new card, for example. `card` is the name in
 * its card. Once is enough.
 */
export const shareQueue = (store: RecordStore, queue: string, card: string): Promise<void> =>
  changeRecord<Owned>(store, recordName(ownersKind, queue), ({ owners } = { queue, owners: [] }) =>
    withOwner(queue, owners, ownerOf(card)),
  );

/** A URL by which an agent is known elsewhere than on this machine, where programs take each other's ports. */
function publicUrl(url: string | undefined): { readonly url?: string } {
  if (url === undefined) return {};
  const { hostname } = new URL(url);
  return isLoopback(hostname) ? {} : { url: url.replace(/(?<!\/)\/+$/, '').slice(0, longestText) };
}
