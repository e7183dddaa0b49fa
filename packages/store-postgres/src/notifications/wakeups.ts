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

/**
 * Notifies subscribers: those of this process at once, those of others by NOTIFY, where others listen. While no connection
 * listens, changes of other processes are found by polling; and while some may still write that began before they could
 * know that this process listens.
 */
export class Wakeups {
  readonly #options: WakeupsOptions;
  readonly #subscribers = new Subscribers();
  readonly #poll: ReturnType<typeof pollOf>;
  readonly #channel: string;
  readonly #sender = randomUUID();
  readonly #notify: string;
  /** Whether another process listens, as a condition of SQL. */
  readonly isHeard: string;
  readonly #registration: ReturnType<typeof registration>;
  /** Whether some who write may not know that this process listens. */
  #isUnknown = true;
  readonly #heard = new Map<string, number>();
  #secret: string | undefined;
  #sent = 0;
  #pending = new Map<number, number | undefined>();
  #sending: Promise<void> | undefined;
  #listening: Promise<(() => Promise<void>) | undefined> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryMs = reconnectMs.first;
  #closed = false;

  constructor(options: WakeupsOptions) {
    this.#options = options;
    this.#poll = pollOf(options.quoted, options.transactions, this.#subscribers);
    const { quoted: schema, transactions } = options;
    this.isHeard = isHeard(schema, this.#sender);
    // Nothing is lost with a notification that the disk does not have, and no commit waits behind it.
    this.#notify = `SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true) WHERE ${this.isHeard}`;
    this.#registration = registration({
      ...{ ...options, schema, id: this.#sender, transactions },
      onKnown: () => {
        this.#isUnknown = false;
        this.#poll.stop();
      },
      onLapsed: () => {
        this.#isUnknown = true;
        this.#poll.run();
        this.#subscribers.notifyAll();
      },
    });
    this.#channel = `baton_${createHash('sha256').update(options.schema).digest('hex').slice(0, 16)}`;
  }

  /** Called after the transaction is committed. `mayBeHeard`: false if no other process listened when it began. */
  announce(topics: readonly Notification[], mayBeHeard = true): void {
    if (topics.length === 0) return;
    this.#subscribers.notifyOf(topics);
    if (!this.#options.notify || !mayBeHeard) return;
    for (const topic of topics) this.#pending.set(topicNumber(topic), topic.version);
    this.#sending ??= this.#send();
  }

  async subscribe(topic: Topic, notify: (version?: number) => void): Promise<Unsubscribe> {
    const remove = this.#subscribers.add(topic, notify);
    // What changes after this promise is resolved must be noticed: the connection listens, or the poll looks.
    if (!(this.#options.notify && (await this.#listen()))) this.#poll.start();
    else if (this.#isUnknown) this.#poll.run();
    return () => {
      remove();
      if (this.#subscribers.isEmpty) this.#poll.stop();
    };
  }

  /** Sends the remaining notifications, then closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#poll.stop();
    await this.#sending;
    const stop = await this.#listening;
    await Promise.all([this.#registration.end(), stop?.()]);
  }

  /** Sends in statements of their own: NOTIFY inside a commit makes all commits of the server wait for each other. */
  async #send(): Promise<void> {
    // The changes of one round of the event loop share a message, and so do those while a message is sent.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.size > 0) {
      const touched = [...this.#pending].slice(0, topicsOfMessage);
      for (const [number] of touched) this.#pending.delete(number);
      const pairs = touched.flatMap(([number, version]) => [number, version ?? null]);
      const body = JSON.stringify([this.#sender, ++this.#sent, ...pairs]);
      // A lost notification is one that subscribers make up for by reading.
      await this.#knowSecret()
        .then((secret) =>
          this.#options.database.query(this.#notify, [this.#channel, `${codeOf(secret, body)} ${body}`]),
        )
        .catch(() => {});
    }
    this.#sending = undefined;
  }

  #receive(message: string): void {
    const [, code, body = '', sender = '', sent] = messageOfStore.exec(message) ?? [];
    if (this.#secret === undefined || code !== codeOf(this.#secret, body)) return;
    const number = Number(sent);
    if (sender === this.#sender || number <= (this.#heard.get(sender) ?? 0)) return;
    remember(this.#heard, sender, number, mostSenders);
    this.#subscribers.notifyPairs(JSON.parse(body).slice(2));
  }

  async #knowSecret(): Promise<string> {
    this.#secret ??= await this.#options.secret();
    return this.#secret;
  }

  /** Resolves whether the connection listens. */
  async #listen(): Promise<boolean> {
    this.#listening ??= this.#connect();
    return (await this.#listening) !== undefined;
  }

  async #connect(): Promise<(() => Promise<void>) | undefined> {
    try {
      await this.#knowSecret();
      this.#isUnknown = !(await this.#registration.begin());
      const stop = await this.#options.database.listen(this.#channel, {
        onMessage: (message) => this.#receive(message),
        onLost: () => this.#reconnect(),
      });
      this.#retryMs = reconnectMs.first;
      if (!this.#isUnknown) this.#poll.stop();
      return stop;
    } catch {
      this.#reconnect();
      return undefined;
    }
  }

  /** Polls until the connection listens again. */
  #reconnect(): void {
    if (this.#closed) return;
    this.#poll.start();
    clearTimeout(this.#retry);
    this.#retry = setTimeout(async () => {
      this.#listening = this.#connect();
      // Notifications of the meantime are lost, and those of the poll may be.
      if (await this.#listening) this.#subscribers.notifyAll();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(reconnectMs.longest, this.#retryMs * 2);
  }
}

const codeOf = (secret: string, body: string): string =>
  createHmac('sha256', secret).update(body).digest('base64url');
