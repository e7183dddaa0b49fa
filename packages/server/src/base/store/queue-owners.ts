import { FACT_FORMAT, type Fact, headOf } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { type PushConfigStore, type StoredLog, StoreError, type TaskStore } from '@batonjs/store';
import type { Logger } from '../hooks/logger.ts';
import { newId } from '../system/new-id.ts';
import { type Clock, isoTime } from '../timing/clock.ts';

/** The scope of the logs in which a store remembers the agents of its queues. No caller has it: theirs are JSON or a hash. */
const ownersScope = 'baton:queue-owners';

/** How many agents of a queue are remembered. */
const mostOwners = 1_000;

/** How many agents of a store are named. */
const mostNamed = 100;

/** A refusal is compared with the store again after this many milliseconds. */
const refusedForMs = 1_000;

/** An agent that uses a queue. */
export interface QueueUser {
  readonly queue: string;
  /** The name in its card; undefined for a worker that was not given the card: it takes any queue. */
  readonly card: string | undefined;
  readonly url: string | undefined;
  /** Whether it uses the queue beside agents of other cards. */
  readonly shares: boolean;
}

/** An agent that a store remembers. */
interface Owner {
  readonly card: string;
  readonly url?: string;
}

/**
 * Compares an agent with those that the store remembers for its queue: a program that took the queue of another one by
 * mistake would run its tasks. An agent is known by the name in its card, or by its public URL. The record is a log of
 * its own, so that stores need nothing for it.
 */
export class QueueOwners {
  readonly #user: QueueUser;
  readonly #source: { readonly store: TaskStore; readonly clock: Clock; readonly logger: Logger };
  /** Whether the queue may be used; false also before the store said so. */
  isOurs: boolean;
  #refusal: string | undefined;
  #refusedUntil = Number.NEGATIVE_INFINITY;
  #checking: Promise<string | undefined> | undefined;

  constructor(user: QueueUser, source: { store: TaskStore; clock: Clock; logger: Logger }) {
    this.#user = user;
    this.#source = source;
    this.isOurs = user.card === undefined;
  }

  /** Why the queue may not be used; undefined if it may. Rejects if the store fails. */
  async refusal(): Promise<string | undefined> {
    if (this.isOurs) return undefined;
    if (!this.#checking && this.#source.clock.monotonic() < this.#refusedUntil) return this.#refusal;
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** The store, of which no task and no delivery of a queue is claimed that may not be used. */
  guard<Store extends TaskStore | (TaskStore & PushConfigStore)>(store: Store): Store {
    const claiming = async <T>(claim: () => Promise<readonly T[]>): Promise<readonly T[]> =>
      (await this.refusal()) === undefined ? claim() : [];
    const claim: TaskStore['claim'] = (request) =>
      this.isOurs ? store.claim(request) : claiming(() => store.claim(request));
    if (!('claimDeliveries' in store)) return { ...store, claim };
    const claimDeliveries: PushConfigStore['claimDeliveries'] = (request) =>
      this.isOurs ? store.claimDeliveries(request) : claiming(() => store.claimDeliveries(request));
    return { ...store, claim, claimDeliveries };
  }

  async #check(): Promise<string | undefined> {
    const { store, clock, logger } = this.#source;
    const { queue, shares } = this.#user;
    const own: Owner = { card: this.#user.card!, ...publicUrl(this.#user.url) };
    for (;;) {
      const record = await store.load(ownersScope, queue);
      const owners = record?.facts.map(({ fact }) => ownerIn(fact)) ?? [];
      const isKnown = owners.some(
        ({ card, url }) => card === own.card || (url !== undefined && url === own.url),
      );
      if (owners.length > 0 && !isKnown && !shares) {
        const refusal = refusalOf(queue, own, owners.at(-1)!);
        if (refusal !== this.#refusal) logger('error', refusal, { queue });
        this.#refusal = refusal;
        this.#refusedUntil = clock.monotonic() + refusedForMs;
        return refusal;
      }
      const isRemembered = owners.some(
        ({ card, url }) => card === own.card && (own.url === undefined || url === own.url),
      );
      if (isRemembered || owners.length >= mostOwners || (await this.#remember(own, record))) break;
    }
    this.isOurs = true;
    return undefined;
  }

  /** Resolves to false if another process was faster. */
  async #remember(own: Owner, record: StoredLog | undefined): Promise<boolean> {
    const { store, clock } = this.#source;
    const now = isoTime(clock.now());
    const last = record?.facts.at(-1)?.fact.at ?? '';
    const message: Message = {
      messageId: newId(clock),
      contextId: 'queue',
      role: 'ROLE_AGENT',
      parts: [{ data: { ...own } }],
    };
    const [, at = now] = [last, now].sort();
    const fact: Fact = { format: FACT_FORMAT, at, type: 'message-received', message };
    try {
      await store.commit({
        scope: ownersScope,
        taskId: this.#user.queue,
        commitId: newId(clock),
        expectedVersion: record?.version ?? 0,
        facts: [fact],
        head: headOf(record?.head, fact),
      });
      return true;
    } catch (error) {
      if (StoreError.is(error, 'VERSION_CONFLICT')) return false;
      throw error;
    }
  }
}

/** Whether an agent of this name has ever worked on the store. */
export const isKnownQueue = async (store: Pick<TaskStore, 'load'>, queue: string): Promise<boolean> =>
  (await store.load(ownersScope, queue)) !== undefined;

/** An agent that has worked on a store. */
export interface KnownQueue {
  /** The name of its tasks in the store. */
  readonly name: string;
  /** The names in its cards, in the order in which they came. */
  readonly cards: readonly string[];
}

/** The agents that have ever worked on the store, of a hundred at most, in the order of their names, and how many there are. */
export async function knownQueues(
  store: Pick<TaskStore, 'list' | 'load'>,
): Promise<{ readonly queues: readonly KnownQueue[]; readonly total: number }> {
  // The record of a queue is no task: it is listed among the logs that were only answered.
  const { tasks, total } = await store.list(ownersScope, { limit: mostNamed, answered: true });
  const queues: KnownQueue[] = [];
  for (const { taskId: name } of tasks) {
    const record = await store.load(ownersScope, name);
    queues.push({ name, cards: [...new Set(record?.facts.map(({ fact }) => ownerIn(fact).card))] });
  }
  return { queues: queues.sort((one, other) => (one.name < other.name ? -1 : 1)), total };
}

function ownerIn(fact: Fact): Owner {
  const [part] = fact.type === 'message-received' ? fact.message.parts : [];
  const { card, url } = Object(part && 'data' in part ? part.data : undefined) as Partial<Owner>;
  return { card: String(card), ...(typeof url === 'string' && { url }) };
}

const refusalOf = (queue: string, own: Owner, { card, url }: Owner): string =>
  `In this store the tasks named "${queue}" are those of the agent "${card}"${url ? ` at ${url}` : ''}: give "${own.card}" ` +
  'a `name` of its own. If the same agent has a new card, start it once with `sharesQueue: true`. ' +
  'If both agents should share their tasks, leave that set';

/** A URL by which an agent is known elsewhere than on this machine, where programs take each other's ports. */
function publicUrl(url: string | undefined): { readonly url?: string } {
  if (url === undefined) return {};
  const { hostname } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  return isLocal ? {} : { url: url.replace(/(?<!\/)\/+$/, '') };
}
