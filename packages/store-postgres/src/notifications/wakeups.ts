import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { Unsubscribe } from '@batonjs/store';
import { type Notification, remember, Subscribers, type Topic, topicNumber } from '@batonjs/store/adapter';
import type { Database } from '../database/database.ts';
import type { Transactions } from '../database/postgres-error.ts';
import { isHeard, pollOf, registration } from './poll.ts';

/** The most topics of one message, which may have 8,000 bytes. */
const topicsOfMessage = 300;

/** The waits before a lost connection is opened again, in milliseconds. */
const reconnectMs = { first: 50, longest: 5_000 };

/**
 * What a store sends: a code of the rest, the sender, a number that grows, and pairs of a topic and a version. Any role of
 * the database can send to the channel, and hears what others send: only who reads the tables can make the code, and a
 * message that comes again says nothing new.
 */
const messageOfStore = /^([\w-]{43}) (\["([\w-]+)",(\d+)(?:,\d+,(?:\d+|null))+\])$/;
/** Of so many senders the last number is known. */
const mostSenders = 1_000;

export interface WakeupsOptions {
  readonly database: Database;
  readonly transactions: Transactions;
  /** The name of the schema, and how it is written in statements. */
  readonly schema: string;
  readonly quoted: string;
  /** Whether LISTEN and NOTIFY are used at all. */
  readonly notify: boolean;
  /** What only roles know that read the tables. */
  readonly secret: () => Promise<string>;
  readonly renewEveryMs?: number;
}

export type Wakeups = ReturnType<typeof wakeupsOf>;

/**
 * Notifies subscribers: those of this process at once, those of others by NOTIFY, where others listen. While no connection
 * listens, changes of other processes are found by polling; and while some may still write that began before they could
 * know that this process listens.
 */
export function wakeupsOf({
  database,
  transactions,
  schema,
  quoted,
  notify: usesNotify,
  secret: readSecret,
  renewEveryMs,
}: WakeupsOptions) {
  const subscribers = new Subscribers();
  const poll = pollOf(quoted, transactions, subscribers);
  const channel = `baton_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`;
  const ownId = randomUUID();
  const heardByOthers = isHeard(quoted, ownId);
  // Nothing is lost with a notification that the disk does not have, and no commit waits behind it.
  const notifying = `SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true) WHERE ${heardByOthers}`;
  const registered = registration({
    ...{ schema: quoted, id: ownId, transactions, renewEveryMs },
    onKnown: () => {
      isUnknown = false;
      poll.stop();
    },
    onLapsed: () => {
      isUnknown = true;
      poll.run();
      subscribers.notifyAll();
    },
  });
  /** Whether some who write may not know that this process listens. */
  let isUnknown = true;
  const heard = new Map<string, number>();
  let secret: string | undefined;
  let sent = 0;
  const pending = new Map<number, number | undefined>();
  let sending: Promise<void> | undefined;
  let listening: Promise<(() => Promise<void>) | undefined> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let retryMs = reconnectMs.first;
  let closed = false;

  /** Sends in statements of their own: NOTIFY inside a commit makes all commits of the server wait for each other. */
  async function send(): Promise<void> {
    // The changes of one round of the event loop share a message, and so do those while a message is sent.
    await new Promise((resolve) => setImmediate(resolve));
    while (pending.size > 0) {
      const touched = [...pending].slice(0, topicsOfMessage);
      for (const [number] of touched) pending.delete(number);
      const pairs = touched.flatMap(([number, version]) => [number, version ?? null]);
      const body = JSON.stringify([ownId, ++sent, ...pairs]);
      // A lost notification is one that subscribers make up for by reading.
      await knowSecret()
        .then((known) => database.query(notifying, [channel, `${codeOf(known, body)} ${body}`]))
        .catch(() => {});
    }
    sending = undefined;
  }

  function receive(message: string): void {
    const [, code, body = '', sender = '', count] = messageOfStore.exec(message) ?? [];
    if (secret === undefined || code !== codeOf(secret, body)) return;
    const number = Number(count);
    if (sender === ownId || number <= (heard.get(sender) ?? 0)) return;
    remember(heard, sender, number, mostSenders);
    subscribers.notifyPairs(JSON.parse(body).slice(2));
  }

  async function knowSecret(): Promise<string> {
    secret ??= await readSecret();
    return secret;
  }

  /** Resolves to the function that stops listening; undefined if the connection does not listen. */
  async function connect(): Promise<(() => Promise<void>) | undefined> {
    try {
      await knowSecret();
      isUnknown = !(await registered.begin());
      const stop = await database.listen(channel, { onMessage: receive, onLost: reconnect });
      retryMs = reconnectMs.first;
      if (!isUnknown) poll.stop();
      return stop;
    } catch {
      reconnect();
      return undefined;
    }
  }

  /** Polls until the connection listens again. */
  function reconnect(): void {
    if (closed) return;
    poll.start();
    clearTimeout(retry);
    retry = setTimeout(async () => {
      listening = connect();
      // Notifications of the meantime are lost, and those of the poll may be.
      if (await listening) subscribers.notifyAll();
    }, retryMs).unref();
    retryMs = Math.min(reconnectMs.longest, retryMs * 2);
  }

  return {
    /** Whether another process listens, as a condition of SQL. */
    isHeard: heardByOthers,
    /** Called after the transaction is committed. `mayBeHeard`: false if no other process listened when it began. */
    announce(topics: readonly Notification[], mayBeHeard = true): void {
      if (topics.length === 0) return;
      subscribers.notifyOf(topics);
      if (!usesNotify || !mayBeHeard) return;
      for (const topic of topics) pending.set(topicNumber(topic), topic.version);
      sending ??= send();
    },
    async subscribe(topic: Topic, notify: (version?: number) => void): Promise<Unsubscribe> {
      const remove = subscribers.add(topic, notify);
      listening ??= usesNotify ? connect() : undefined;
      // What changes after this promise is resolved must be noticed: the connection listens, or the poll looks.
      if (!(await listening)) poll.start();
      else if (isUnknown) poll.run();
      return () => {
        remove();
        if (subscribers.isEmpty) poll.stop();
      };
    },
    /** Sends the remaining notifications, then closes the connection. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(retry);
      poll.stop();
      await sending;
      const stop = await listening;
      await Promise.all([registered.end(), stop?.()]);
    },
  };
}

const codeOf = (secret: string, body: string): string =>
  createHmac('sha256', secret).update(body).digest('base64url');
