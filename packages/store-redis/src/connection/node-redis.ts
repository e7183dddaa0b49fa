import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '@batonjs/store';
import type { RedisDriver, RedisReply } from './driver.ts';
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
export class NodeRedis implements RedisDriver {
  readonly name: string;
  readonly #servers: Servers;
  readonly #stop = new AbortController();
  /** Those that are not closed yet. */
  readonly #links = new Set<Link>();
  #link: Link | undefined;
  #connections = 0;
  #next = expected<Link>();
  #lose: () => void = () => {};
  #downSince = performance.now();
  #cause: unknown;
  #subscription: (Subscription & { readonly missed: () => void }) | undefined;

  constructor({ urls, timeoutMs, connections, client = {} }: NodeRedisOptions) {
    this.name = urls.map(withoutSecrets).join(', ');
    this.#servers = new Servers(urls, client, timeoutMs, connections);
    void this.#run();
  }

  get epoch(): number {
    return this.#link ? this.#connections : 0;
  }

  async command(key: string, args: readonly string[]): Promise<RedisReply> {
    const link = this.#link;
    if (!link) throw this.#unavailable();
    try {
      return await link.send(key, args, () => this.#late(link));
    } catch (error) {
      throw this.#failed(link, error);
    }
  }

  async info(): Promise<readonly string[]> {
    return (await this.#wait()).infos;
  }

  async subscribe(
    channels: readonly string[],
    receive: Subscription['receive'],
    missed: () => void,
  ): Promise<void> {
    this.#subscription ??= { channels, receive, missed };
    const link = await this.#wait();
    await link.subscribe(this.#subscription).catch((error) => {
      throw this.#unavailable(error);
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#lose();
    this.#next.reject(this.#unavailable());
    for (const link of this.#links) link.destroy();
  }

  /** Waits for a connection if one may come soon. Rejects with code `UNAVAILABLE`. */
  async #wait(): Promise<Link> {
    if (this.#link) return this.#link;
    const { timeoutMs } = this.#servers;
    const maxWaitMs = this.#connections > 0 ? Math.min(graceMs, timeoutMs) : timeoutMs;
    const leftMs = this.#downSince + maxWaitMs - performance.now();
    if (leftMs <= 0 || this.#stop.signal.aborted) throw this.#unavailable();
    return within(leftMs, this.#next.promise, () => this.#unavailable());
  }

  /** Keeps one connection at a time. */
  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 1; !signal.aborted; failures++) {
      const lost = Promise.withResolvers<never>();
      const link = this.#open(lost.reject);
      try {
        await Promise.race([this.#connected(link), lost.promise]);
        failures = 0;
        await lost.promise;
      } catch (error) {
        this.#cause = error;
      }
      if (failures === 0) this.#leave(link);
      else link.destroy();
      const backoffMs =
        failures && Math.min(longestBackoffMs, 20 * 2 ** failures) * (0.5 + Math.random() / 2);
      await sleep(backoffMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  #open(lost: (cause?: unknown) => void): Link {
    this.#lose = lost;
    const link = new Link(this.#servers, lost);
    this.#links.add(link);
    link.closed.addEventListener('abort', () => this.#links.delete(link));
    return link;
  }

  /** Offers the connection to callers. */
  async #connected(link: Link): Promise<void> {
    const { timeoutMs } = this.#servers;
    const subscribed = async () => {
      await link.ready;
      if (this.#subscription) await link.subscribe(this.#subscription);
    };
    await within(timeoutMs, subscribed(), () => new Error(`no answer within ${timeoutMs} ms`));
    this.#link = link;
    this.#connections++;
    this.#next.resolve(link);
    this.#subscription?.missed();
  }

  /** What waits for answers on it may still get them. */
  #leave(link: Link): void {
    this.#link = undefined;
    this.#downSince = performance.now();
    this.#next = expected();
    link.retire();
  }

  #failed(link: Link, error: unknown): unknown {
    const isRefusal = error instanceof Error && refusal.test(error.message);
    // What it is connected to has become a replica: another server is the one to write to now.
    if (isRefusal && error.message.includes('READONLY')) link.suspect(error);
    return isRefusal || StoreError.is(error, 'UNAVAILABLE') ? error : this.#unavailable(error);
  }

  #late(link: Link): StoreError {
    const why = `did not answer within ${this.#servers.timeoutMs} ms`;
    const error = new StoreError('UNAVAILABLE', `Redis at ${this.name} ${why}`);
    link.suspect(error);
    return error;
  }

  #unavailable(cause: unknown = this.#cause): StoreError {
    const why = cause instanceof Error && cause.message ? `: ${cause.message}` : '';
    const isRefused = /^: (NOPERM|NOAUTH|WRONGPASS)/.test(why);
    const fault = isRefused ? 'refuses this user' : 'cannot be reached';
    const what = this.#stop.signal.aborted ? 'was disconnected' : fault + why;
    return new StoreError('UNAVAILABLE', `Redis at ${this.name} ${what}`, { cause });
  }
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
