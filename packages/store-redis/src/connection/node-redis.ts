import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '@batonjs/store';
import type { RedisDriver } from './driver.ts';
import { graceMs, Link, type Subscription, within } from './link.ts';
import { type ClientOptions, Servers } from './servers.ts';

export interface NodeRedisOptions {
  readonly urls: readonly string[];
  /** How long a command may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly connections?: 1 | 2 | undefined;
  readonly client?: ClientOptions;
}

const longestBackoffMs = 500;

/**
 * A driver on node-redis: one server, or a Cluster if the server says that it is part of one. A connection that is lost
 * is replaced with backoff, until the driver is closed.
 */
export function nodeRedis({ urls, timeoutMs, connections, client = {} }: NodeRedisOptions): RedisDriver {
  const stop = new AbortController();
  /** Those that are not closed yet. */
  const links = new Set<Link>();
  let ownLink: Link | undefined;
  let opened = 0;
  let next = expected<Link>();
  let lose: () => void = () => {};
  let downSince = performance.now();
  let lastCause: unknown;
  let subscription: (Subscription & { readonly missed: () => void }) | undefined;
  const name = urls.map(withoutSecrets).join(', ');
  const servers = new Servers(urls, client, timeoutMs, connections);
  void run();

  /** Waits for a connection if one may come soon. Rejects with code `UNAVAILABLE`. */
  async function wait(): Promise<Link> {
    if (ownLink) return ownLink;
    const { timeoutMs } = servers;
    const maxWaitMs = opened > 0 ? Math.min(graceMs, timeoutMs) : timeoutMs;
    const leftMs = downSince + maxWaitMs - performance.now();
    if (leftMs <= 0 || stop.signal.aborted) throw unavailable();
    return within(leftMs, next.promise, () => unavailable());
  }

  /** Keeps one connection at a time. */
  async function run(): Promise<void> {
    const { signal } = stop;
    for (let failures = 1; !signal.aborted; failures++) {
      const lost = Promise.withResolvers<never>();
      const link = open(lost.reject);
      try {
        await Promise.race([connected(link), lost.promise]);
        failures = 0;
        await lost.promise;
      } catch (error) {
        lastCause = error;
      }
      if (failures === 0) leave(link);
      else link.destroy();
      const backoffMs =
        failures && Math.min(longestBackoffMs, 20 * 2 ** failures) * (0.5 + Math.random() / 2);
      await sleep(backoffMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  function open(lost: (cause?: unknown) => void): Link {
    lose = lost;
    const link = new Link(servers, lost);
    links.add(link);
    link.closed.addEventListener('abort', () => links.delete(link));
    return link;
  }

  /** Offers the connection to callers. */
  async function connected(link: Link): Promise<void> {
    const { timeoutMs } = servers;
    const subscribed = async () => {
      await link.ready;
      if (subscription) await link.subscribe(subscription);
    };
    await within(timeoutMs, subscribed(), () => new Error(`no answer within ${timeoutMs} ms`));
    ownLink = link;
    opened++;
    next.resolve(link);
    subscription?.missed();
  }

  /** What waits for answers on it may still get them. */
  function leave(link: Link): void {
    ownLink = undefined;
    downSince = performance.now();
    next = expected();
    link.retire();
  }

  function failed(link: Link, error: unknown): unknown {
    const isRefusal = error instanceof Error && refusal.test(error.message);
    // What it is connected to has become a replica: another server is the one to write to now.
    if (isRefusal && error.message.includes('READONLY')) link.suspect(error);
    return isRefusal || StoreError.is(error, 'UNAVAILABLE') ? error : unavailable(error);
  }

  function late(link: Link): StoreError {
    const why = `did not answer within ${servers.timeoutMs} ms`;
    const error = new StoreError('UNAVAILABLE', `Redis at ${name} ${why}`);
    link.suspect(error);
    return error;
  }

  function unavailable(cause: unknown = lastCause): StoreError {
    const why = cause instanceof Error && cause.message ? `: ${cause.message}` : '';
    const isRefused = /^: (NOPERM|NOAUTH|WRONGPASS)/.test(why);
    const fault = isRefused ? 'refuses this user' : 'cannot be reached';
    const what = stop.signal.aborted ? 'was disconnected' : fault + why;
    return new StoreError('UNAVAILABLE', `Redis at ${name} ${what}`, { cause });
  }

  return {
    async command(key, args) {
      const link = ownLink;
      if (!link) throw unavailable();
      try {
        return await link.send(key, args, () => late(link));
      } catch (error) {
        throw failed(link, error);
      }
    },
    info: async () => (await wait()).infos,
    async subscribe(channels, receive, missed) {
      subscription ??= { channels, receive, missed };
      const link = await wait();
      await link.subscribe(subscription).catch((error) => {
        throw unavailable(error);
      });
    },
    async close() {
      stop.abort();
      lose();
      next.reject(unavailable());
      for (const link of links) link.destroy();
    },
    get epoch(): number {
      return ownLink ? opened : 0;
    },
    name,
  };
}

/** Redis's own refusals begin with a code in capitals. */
const refusal = /^[A-Z][A-Z]+( |$)/;

/** A promise whose rejection may stay unhandled. */
function expected<T>(): PromiseWithResolvers<T> {
  const resolvers = Promise.withResolvers<T>();
  resolvers.promise.catch(() => {});
  return resolvers;
}

function withoutSecrets(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname === '/' ? '' : pathname}`;
  } catch {
    throw new StoreError('UNUSABLE', 'The URL of Redis is not a URL');
  }
}
