import { StoreError } from '@batonjs/store';
import { CallDeadlines } from './call-deadlines.ts';
import { CommandConnection } from './command-connection.ts';
import type { RedisDriver, RedisReply } from './driver.ts';
import type { ClientOptions } from './first-server.ts';
import { Reconnecting } from './reconnecting.ts';
import { Subscription } from './subscription-connection.ts';

export interface NodeRedisOptions {
  readonly urls: readonly string[];
  /** How long a command may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly client?: ClientOptions;
}

/** A driver on node-redis: one server, or a Cluster if the server says that it is part of one. */
export function nodeRedis({ urls, timeoutMs, client = {} }: NodeRedisOptions): RedisDriver {
  const name = urls.map(withoutSecrets).join(', ');
  const seeds = new Set(urls);
  const connection = new Reconnecting(
    (lost) => new CommandConnection({ seeds, timeoutMs, client, lost }),
    name,
    timeoutMs,
  );
  const deadlines = new CallDeadlines(timeoutMs);
  let subscription: Subscription | undefined;

  function failed(link: CommandConnection, error: unknown): unknown {
    const isRefusal = error instanceof Error && refusal.test(error.message);
    // What it is connected to has become a replica: another server is the one to write to now.
    if (isRefusal && error.message.includes('READONLY') && link.mayBeReplaced)
      connection.replace(link, error);
    return isRefusal || StoreError.is(error, 'UNAVAILABLE') ? error : connection.unavailable(error);
  }

  /** Limits the time of an answer. It rejects with Redis's own refusal or with `UNAVAILABLE`. */
  function guard(link: CommandConnection, answer: Promise<RedisReply>): Promise<RedisReply> {
    const late = () => {
      const error = new StoreError('UNAVAILABLE', `Redis at ${name} did not answer within ${timeoutMs} ms`);
      if (link.mayBeReplaced) connection.replace(link, error);
      return error;
    };
    return deadlines.within(answer, late, (error) => failed(link, error));
  }

  return {
    name,
    get epoch() {
      return connection.epoch;
    },
    command(key, args) {
      const { link } = connection;
      return link ? guard(link, link.send(key, args)) : Promise.reject(connection.unavailable());
    },
    async info() {
      const link = await connection.wait();
      return link.infos;
    },
    subscribe(channels, receive, missed) {
      subscription ??= new Subscription({ seeds, name, timeoutMs, client, channels, receive, missed });
      return subscription.ready();
    },
    async close() {
      subscription?.close();
      connection.close();
    },
  };
}

/** Redis's own refusals begin with a code in capitals. */
const refusal = /^[A-Z][A-Z]+( |$)/;

function withoutSecrets(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname === '/' ? '' : pathname}`;
  } catch {
    throw new StoreError('UNUSABLE', 'The URL of Redis is not a URL');
  }
}
