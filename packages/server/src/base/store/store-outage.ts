import {
  type Answer,
  isPending,
  type PushConfigStore,
  StoreError,
  type TaskStore,
  type Unsubscribe,
} from '@batonjs/store';
import type { Logger, ReportFailure } from '../hooks/logger.ts';
import type { Clock } from '../timing/clock.ts';
import { bounded, boundedUntil, type CallWatch } from '../timing/within-deadline.ts';

/** The parts of a process that the record of an outage depends on. */
export interface OutageSource {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
  readonly queue: string;
  /** Asks the store whether it takes writes. Rejects if it does not. */
  probe(): Promise<void>;
}

/** The time between two lines about the same outage, in milliseconds. */
const remindMs = 60_000;
/** An outage ends when no call has failed for so many milliseconds: a store that comes back fails a few more. */
const settleMs = 5_000;

interface Outage {
  readonly since: number;
  failedCalls: number;
  lastFailedAt: number;
  loggedAt: number;
  /** When a call succeeded after the last one that failed. */
  answeredAt: number | undefined;
}

/**
 * Logs that the store fails: once when an outage begins, once a minute while calls fail, and once when it ends. It hears
 * of every call, so that a loop that calls again and again needs no line of its own. It has no timer: where nothing
 * calls the store, as after `close`, it logs nothing.
 */
export class StoreOutage {
  readonly #source: OutageSource;
  readonly #counted = new WeakSet<StoreError>();
  #outage: Outage | undefined;
  #probing = false;

  constructor(source: OutageSource) {
    this.#source = source;
  }

  /** A call was answered. Costs next to nothing while there is no outage. */
  answered(): void {
    const outage = this.#outage;
    if (!outage) return;
    const now = this.#source.clock.monotonic();
    outage.answeredAt ??= now;
    if (!this.#probing && now - outage.lastFailedAt >= settleMs) void this.#tryToEnd(outage);
  }

  /** A call failed. Counts only errors that the store has, and not those of one task. */
  failed(error: unknown): void {
    if (!isOutage(error)) return;
    this.#counted.add(error);
    const now = this.#source.clock.monotonic();
    const { logger, queue } = this.#source;
    const reason = error.trouble ?? 'failing';
    const outage = this.#outage;
    if (!outage) {
      this.#outage = { since: now, failedCalls: 1, lastFailedAt: now, loggedAt: now, answeredAt: undefined };
      logger('error', `The store fails: ${causeOf(error)}`, { queue, reason });
      return;
    }
    outage.failedCalls++;
    outage.lastFailedAt = now;
    outage.answeredAt = undefined;
    if (now - outage.loggedAt < remindMs) return;
    outage.loggedAt = now;
    logger('error', `The store still fails: ${causeOf(error)}`, {
      queue,
      reason,
      outageMs: Math.round(now - outage.since),
      failedCalls: outage.failedCalls,
    });
  }

  /** Logs the error of background work, unless it belongs to an outage. */
  report(message: string, details: Readonly<Record<string, unknown>> & { readonly error: unknown }): void {
    if (!isOutage(details.error)) this.#source.logger('error', message, details);
    // Made outside the store, such as that of a time limit of its own.
    else if (!this.#counted.has(details.error)) this.failed(details.error);
  }

  /** Reads may succeed where writes fail. */
  async #tryToEnd(outage: Outage): Promise<void> {
    const { since, failedCalls } = outage;
    const { clock, logger, queue } = this.#source;
    this.#probing = true;
    const works = await this.#source.probe().then(
      () => true,
      () => false,
    );
    this.#probing = false;
    if (!works) outage.lastFailedAt = clock.monotonic();
    // Another call may have failed meanwhile.
    if (!works || outage.failedCalls !== failedCalls) return;
    this.#outage = undefined;
    const outageMs = Math.round((outage.answeredAt ?? clock.monotonic()) - since);
    logger('warn', 'The store works again', { queue, outageMs, failedCalls });
  }
}

/** The details of a line with an error: only what it says where it belongs to an outage: its stack says no more. */
export const detailsOf = (error: unknown, details: Readonly<Record<string, unknown>>) =>
  isOutage(error) ? { ...details, reason: causeOf(error) } : { ...details, error };

const isOutage = (error: unknown): error is StoreError =>
  StoreError.is(error, 'UNAVAILABLE') || StoreError.is(error, 'UNUSABLE');

/** How many errors deep the causes are read: they may form a circle. */
const depth = 5;
/** The most characters of the text. */
const longest = 500;

/** An error and its causes as one line without stacks. Leaves out credentials of URLs and connection strings. */
export function causeOf(error: unknown): string {
  const texts: string[] = [];
  for (let each = error, n = 0; each !== undefined && n < depth; n++) {
    const text = each instanceof Error ? withoutStatus(each.message) || codeOf(each) : String(each);
    // Many messages end in that of their cause.
    if (text !== '' && !texts.some((known) => known.includes(text))) texts.push(text);
    each = each instanceof Error ? each.cause : undefined;
  }
  const line = texts.join(': ').replaceAll(/\s+/g, ' ');
  return withoutCredentials(line).slice(0, longest);
}

/** Those of gRPC begin with the status, which a message that quotes one leaves out. */
const withoutStatus = (message: string): string => message.replace(/^\d+ [A-Z_]+: /, '');

/** The errors of `net` for a host with several addresses have a code and no message. */
const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);

const withoutCredentials = (text: string): string =>
  text
    .replaceAll(/\/\/\S*@/g, '//')
    .replaceAll(/\b(password|passwd|pwd|secret|token|apikey|api_key)(["']?\s*[=:]\s*)\S+/gi, '$1$2…');

type Store = TaskStore | (TaskStore & PushConfigStore);

/** Methods that may take as long as they need. */
const unlimited: ReadonlySet<string> = new Set(['prune', 'close']);

/**
 * The store with a time limit of `ms` milliseconds for each call; a call that takes longer rejects with `UNAVAILABLE`,
 * and may still be done. `prune` and `close` have no limit. The result has the members that the store has. `watch` hears
 * how each call ends.
 */
export function boundedStore(store: Store, ms: number, clock: Clock, watch?: CallWatch): Store {
  const inTime = (call: () => Answer<unknown>, late?: (value: unknown) => void): Answer<unknown> => {
    try {
      const answer = call();
      if (isPending(answer)) return bounded(answer, ms, clock, late, watch);
      watch?.answered();
      return answer;
    } catch (error) {
      watch?.failed(error);
      return Promise.reject(error);
    }
  };
  const members = namesOf(store).map((name) => {
    const member: unknown = Reflect.get(store, name);
    if (typeof member !== 'function') return [name, member];
    const late = name === 'subscribe' ? end : undefined;
    // As it is by then: a program may wrap a method of its store later.
    return unlimited.has(name)
      ? [name, (...args: unknown[]) => Reflect.apply(Reflect.get(store, name), store, args)]
      : [
          name,
          (...args: unknown[]) => inTime(() => Reflect.apply(Reflect.get(store, name), store, args), late),
        ];
  });
  return Object.fromEntries(members) as Store;
}

/** The names of all members, also of those that a class has. */
function namesOf(store: object): string[] {
  const names = new Set<string>();
  for (let each: object | null = store; each && each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each)) names.add(name);
  return [...names].filter((name) => name !== 'constructor');
}

/** Ends a subscription that was made too late: its caller has given up. */
async function end(unsubscribe: unknown): Promise<void> {
  try {
    await (unsubscribe as Unsubscribe)();
  } catch {
    // The store cannot be reached now, and drops the subscription with the connection.
  }
}

interface Dependencies {
  readonly store: Pick<TaskStore, 'subscribe'>;
  readonly clock: Clock;
  readonly report: ReportFailure;
  readonly options: { readonly queue: string; readonly timeouts: { readonly storeMs: number } };
}

/**
 * Calls `notify` when something waits in the queue. Returns the end of that, for a server that closes: it waits for no
 * longer than for any call, and never rejects.
 */
export function subscribeToQueue(
  { store, clock, report, options: { queue, timeouts } }: Dependencies,
  notify: () => void,
): () => Promise<void> {
  const subscribed = Promise.resolve(store.subscribe({ queue }, notify));
  subscribed.catch((error: unknown) => report('Could not subscribe to the queue', { queue, error }));
  return async () => {
    const unsubscribe = await subscribed.catch(() => undefined);
    if (!unsubscribe) return;
    try {
      await boundedUntil(async () => unsubscribe(), clock.monotonic() + timeouts.storeMs, clock);
    } catch (error) {
      report('Could not unsubscribe from the queue', { queue, error });
    }
  };
}
