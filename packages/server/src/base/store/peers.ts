import type { RecordStore } from '@batonjs/store';
import { sha256 } from '#bytes';
import { newId } from '../system/new-id.ts';
import { allRecords, changeRecord, recordName, type StoreSource } from './records.ts';

/** The kind of the records by which the processes of a queue know each other. */
const kind = 'processes';
/** How often a process writes its record, in milliseconds, and for how long it counts. */
const [everyMs, ttlMs] = [30_000, 120_000];
/** A record that could not be written is written again after so many milliseconds. */
const retryMs = 1_000;
/** How long a process does without the news of others while it delivers, in milliseconds. */
export const heardWithinMs = 250;
/** How many processes with the same value are named. */
const mostNamed = 3;

/** What a process needs to deliver to a webhook, as others compare it. */
export interface PeerPush {
  readonly allow: readonly string[];
  readonly ports: readonly number[] | null;
  readonly http: boolean;
  /** The versions of the protocol in whose format it delivers. */
  readonly versions: readonly string[];
  readonly signs: boolean;
}

/** What a process tells the others of its queue. */
export interface Peer {
  /** `worker 4711 on host-a`. */
  readonly name: string;
  /** A digest of each option that has to be the same in all. No value: it may be a secret. */
  readonly options: Readonly<Record<string, string>>;
  /** Unset: it delivers to no webhooks. */
  readonly push?: PeerPush | undefined;
  /** It closed a moment ago, and may be started again. */
  readonly isClosed?: true;
}

/** A digest of each option. Members in another order, and those that are undefined, make no difference. */
export const digestsOf = (options: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, sha256(sorted(value), 'base64url').slice(0, 16)]),
  );

const sorted = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, inner: unknown) =>
    Object.prototype.toString.call(inner) === '[object Object]'
      ? Object.fromEntries(Object.entries(inner as object).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );

/** The processes of a queue, which tell each other their options by a record each. It is over by itself. */
export function peersFor(queue: string, own: Peer, { store, clock, logger, report }: StoreSource) {
  const name = recordName(kind, queue, newId(clock));
  const stop = new AbortController();
  let isHearing = false;
  const heard = Promise.withResolvers<void>();
  let over: Promise<void> | undefined;
  let known: readonly Peer[] = [];
  let isWritten = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let logged: ReadonlySet<string> = new Set();

  const put = (peer: Peer): Promise<void> => changeRecord<Peer>(store, name, () => peer, { ttlMs });

  /** The other processes, as the store had them at most so many milliseconds ago. Rejects if the store fails. */
  async function others(maxAgeMs: number): Promise<readonly Peer[]> {
    const since = clock.monotonic();
    if (since - lookedAt >= maxAgeMs) {
      known = await peersOf(store, queue, name);
      lookedAt = since;
    }
    return known;
  }

  /** A sentence about the options that are not the same in all processes; undefined if all are. Logs new ones. */
  async function differences(maxAgeMs: number): Promise<string | undefined> {
    const differing = differingOptions([own, ...(await others(maxAgeMs))]);
    const text = differingText(differing);
    const options = differing.map(({ option }) => option);
    if (text && options.some((option) => !logged.has(option))) logger('warn', text, { queue });
    logged = new Set(options);
    return text;
  }

  async function loop(): Promise<void> {
    const { signal } = stop;
    while (!signal.aborted) {
      let waitMs = everyMs * (0.75 + clock.random() / 2);
      try {
        // Before it looks: of two processes that start at the same moment, one sees the other.
        await put(own);
        isWritten = true;
        await differences(0);
      } catch (error) {
        report('Could not compare the options of processes', { error });
        isWritten = false;
        waitMs = retryMs;
      }
      if (!isHearing) void clock.sleep(heardWithinMs, signal).then(heard.resolve);
      isHearing = true;
      await clock.sleep(waitMs, signal, 'idle');
    }
  }

  return {
    name: own.name,
    /** Resolves when all others that deliver know of this process, or it could not be written. */
    heard: heard.promise,
    others,
    differences,
    start(): void {
      over = loop();
    },
    /** The process counts no more as one with other options. What it signed is not sent without a signature yet. */
    async close(): Promise<void> {
      stop.abort();
      await over;
      if (isWritten) await put({ ...own, isClosed: true }).catch(() => {});
    },
  };
}

export type Peers = ReturnType<typeof peersFor>;

/** The processes of a queue that run, or closed a moment ago. */
export const peersOf = async (store: RecordStore, queue: string, but?: string): Promise<readonly Peer[]> =>
  (await allRecords(store, { prefix: `${recordName(kind, queue)}/` }))
    .filter(({ name }) => name !== but)
    .map(({ value }) => value as Peer);

/** An option that is not the same in all processes, and the names of those that have the same, for each of its values. */
interface Differing {
  readonly option: string;
  readonly groups: readonly (readonly string[])[];
}

function differingOptions(peers: readonly Peer[]): readonly Differing[] {
  const options = new Map<string, Map<string, string[]>>();
  for (const peer of peers.filter(({ isClosed }) => !isClosed)) {
    for (const [option, digest] of Object.entries(peer.options)) {
      const groups = options.get(option) ?? new Map<string, string[]>();
      options.set(option, groups.set(digest, [...(groups.get(digest) ?? []), peer.name].sort()));
    }
  }
  return [...options]
    .filter(([, groups]) => groups.size > 1)
    .map(([option, groups]) => ({ option, groups: [...groups.values()].sort(byName) }));
}

const byName = ([one = '']: readonly string[], [other = '']: readonly string[]) => (one < other ? -1 : 1);

function differingText(differing: readonly Differing[]): string | undefined {
  if (differing.length === 0) return undefined;
  const options = Map.groupBy(differing, ({ groups }) => groups.map(named).join('; another one: '));
  const lines = [...options].map(
    ([processes, some]) => `${some.map(({ option }) => `\`${option}\``).join(', ')} (one: ${processes})`,
  );
  return `Servers and workers of an agent need the same options, and these differ: ${lines.join('; ')}`;
}

/** Names of processes, of which only some are listed. */
export const named = (names: readonly string[]): string =>
  names.slice(0, mostNamed).join(', ') +
  (names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '');

/** A sentence about the options of all processes of a queue that are not the same; undefined if all are. */
export const differencesOf = async (store: RecordStore, queue: string): Promise<string | undefined> =>
  differingText(differingOptions(await peersOf(store, queue)));
