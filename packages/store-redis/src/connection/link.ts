import { setTimeout as sleep } from 'node:timers/promises';
import { crc16 } from './crc16.ts';
import type { RedisReply } from './driver.ts';
import { type Client, type Cluster, closeNow, isInCluster, type Servers } from './servers.ts';

/** How long a call waits for a connection, in milliseconds. */
export const graceMs = 1_000;

/** Channels, and who is told of their messages. */
export interface Subscription {
  readonly channels: readonly string[];
  readonly receive: (message: string, channel: string) => void;
}

/** The connections to one server, or to the nodes of a Cluster, from the moment at which connecting starts. */
export class Link {
  /** Resolves when it is connected. Rejects if it cannot connect. */
  readonly ready: Promise<void>;
  readonly #servers: Servers;
  readonly #lost: (cause: unknown) => void;
  readonly #since = performance.now();
  readonly #clients = new Set<Client>();
  readonly #close = new AbortController();
  readonly closed = this.#close.signal;
  #url = '';
  #single: Client | undefined;
  #cluster: Cluster | undefined;
  #infos: readonly string[] = [];
  #subscribed: Promise<void> | undefined;
  #underWay = 0;
  #isRetired = false;

  /** `lost`: called with what shows that another connection is needed. */
  constructor(servers: Servers, lost: (cause: unknown) => void) {
    this.#servers = servers;
    this.#lost = lost;
    this.ready = this.#connect();
  }

  /** What `INFO` said of every primary when this was connected. */
  get infos(): readonly string[] {
    return this.#infos;
  }

  /** Sends one command. Rejects with `late()` if it takes too long. */
  async send(key: string, args: readonly string[], late: () => Error): Promise<RedisReply> {
    this.#underWay++;
    try {
      return await within(this.#servers.timeoutMs, this.#send(key, args), late);
    } finally {
      this.#underWay--;
      if (this.#isRetired) this.retire();
    }
  }

  /** Another connection is needed. Not where a Cluster was discovered just now. */
  suspect(cause: unknown): void {
    if (!this.#cluster || performance.now() - this.#since > this.#servers.timeoutMs) this.#lost(cause);
  }

  /** Resolves when the channels are subscribed, on a connection of its own unless there is to be one only. */
  subscribe(subscription: Subscription): Promise<void> {
    this.#subscribed ??= this.#subscribe(subscription);
    return this.#subscribed;
  }

  /** Closes it as soon as nothing waits for an answer. */
  retire(): void {
    this.#isRetired = true;
    if (this.#underWay === 0) this.destroy();
  }

  /** Closes it at once. Calls under way reject. */
  destroy(): void {
    if (this.closed.aborted) return;
    this.#close.abort();
    for (const client of this.#clients) closeNow(client);
    if (this.#cluster?.isOpen) this.#cluster.destroy();
  }

  async #connect(): Promise<void> {
    const { url, client, info } = await this.#servers.first(this.#clients);
    this.#url = url;
    if (isInCluster(info)) {
      client.destroy();
      this.#clients.clear();
      await this.#connectCluster(url);
    } else {
      this.#infos = [info];
      this.#single = client.on('error', this.#lost);
    }
  }

  async #connectCluster(url: string): Promise<void> {
    const cluster = this.#servers.cluster(url);
    this.#cluster = cluster;
    await cluster.connect();
    const infos = cluster.masters.map(async (node) => {
      this.#servers.add(url, node.address);
      const asked = cluster.nodeClient(node).then((client) => client.sendCommand(['INFO']));
      return String(await this.#untilReached(asked));
    });
    // A node that is gone keeps no task of another one from going on.
    await Promise.any(infos);
    const known = await Promise.allSettled(infos);
    this.#infos = known.flatMap((info) => (info.status === 'fulfilled' ? info.value : []));
  }

  #send(key: string, args: readonly string[]): Promise<RedisReply> {
    if (this.#cluster) return this.#sendToNode(this.#cluster, key, args);
    return this.#single?.sendCommand(args as string[]) as Promise<RedisReply>;
  }

  async #sendToNode(cluster: Cluster, key: string, args: readonly string[]): Promise<RedisReply> {
    const node = cluster.slots[slotOf(key)]?.master;
    // What waits for a connection inside the client could be sent long after it was given up here.
    if (node && !node.client?.isReady) {
      await this.#untilReached(cluster.nodeClient(node)).catch((error) => {
        this.suspect(error);
        throw error;
      });
    }
    return cluster.sendCommand(key, false, args as string[]) as Promise<RedisReply>;
  }

  #untilReached<T>(answer: Promise<T>): Promise<T> {
    // The others of a Cluster are connected to within `timeoutMs` in all.
    const ms = Math.min(graceMs, this.#servers.timeoutMs / 2);
    return within(ms, answer, () => new Error('a node of the Cluster cannot be reached'));
  }

  async #subscribe({ channels, receive }: Subscription): Promise<void> {
    const { timeoutMs, connections } = this.#servers;
    const shared = connections === 1 ? this.#single : undefined;
    // Any node of a Cluster passes on the messages of all.
    const client = shared ?? this.#servers.client(this.#url).on('error', this.#lost);
    this.#clients.add(client);
    const connected = shared ? Promise.resolve() : client.connect();
    const subscribed = connected.then(() => client.subscribe([...channels], receive));
    await within(timeoutMs, subscribed, () => new Error(`no answer within ${timeoutMs} ms`));
    this.#listen(client).catch(this.#lost);
  }

  /** Pings: a connection that was cut silently is silent like one without messages. */
  async #listen(client: Client): Promise<void> {
    const { timeoutMs } = this.#servers;
    for (;;) {
      await sleep(timeoutMs / 2, undefined, { ref: false, signal: this.closed });
      await within(timeoutMs, client.ping(), () => new Error('the subscription is silent'));
    }
  }
}

/** The promise, or a rejection with `late()` after `ms` milliseconds. */
export const within = <T>(ms: number, promise: Promise<T>, late: () => Error): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    const end = () => clearTimeout(timer);
    promise.then(resolve, reject).then(end);
  });

/** The slot of a key that has a tag in braces. */
function slotOf(key: string): number {
  const start = key.indexOf('{');
  const end = key.indexOf('}', start + 1);
  return crc16(start >= 0 && end > start + 1 ? key.slice(start + 1, end) : key) % 16_384;
}
