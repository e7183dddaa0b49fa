import { createCluster, type RedisClusterOptions } from 'redis';
import { crc16 } from './crc16.ts';
import type { RedisReply } from './driver.ts';
import {
  type Client,
  type ClientOptions,
  closeNow,
  firstServer,
  fixedOptions,
  infoOf,
} from './first-server.ts';
import type { Link } from './reconnecting.ts';

type Cluster = ReturnType<typeof createCluster>;

export interface CommandConnectionOptions {
  /** The URLs to try first. Nodes of a Cluster are added when they become known. */
  readonly seeds: Set<string>;
  readonly timeoutMs: number;
  readonly client: ClientOptions;
  readonly lost: (cause: unknown) => void;
}

/** A connection for commands: to one server, or to the nodes of a Cluster. */
export class CommandConnection implements Link {
  readonly ready: Promise<void>;
  readonly #options: CommandConnectionOptions;
  readonly #since = performance.now();
  readonly #clients = new Set<Client>();
  #cluster: Cluster | undefined;
  #single: Client | undefined;
  #infos: readonly string[] = [];

  constructor(options: CommandConnectionOptions) {
    this.#options = options;
    this.ready = this.#connect();
  }

  /** What `INFO` said of every primary when this was connected. */
  get infos(): readonly string[] {
    return this.#infos;
  }

  /** Whether a command that took too long is reason enough to connect anew: not where that was done just now. */
  get mayBeReplaced(): boolean {
    return !this.#cluster || performance.now() - this.#since > this.#options.timeoutMs;
  }

  send(key: string, args: readonly string[]): Promise<RedisReply> {
    if (this.#cluster) return this.#sendToNode(this.#cluster, key, args);
    return this.#single?.sendCommand(args as string[]) as Promise<RedisReply>;
  }

  destroy(): void {
    for (const client of this.#clients) closeNow(client);
    if (this.#cluster?.isOpen) this.#cluster.destroy();
  }

  async #connect(): Promise<void> {
    const { seeds, client, timeoutMs, lost } = this.#options;
    const seed = await firstServer([...seeds], client, timeoutMs, this.#clients);
    if (infoOf(seed.info, 'cluster_enabled') !== '1') {
      this.#infos = [seed.info];
      this.#single = seed.client.on('error', lost);
      return;
    }
    seed.client.destroy();
    this.#clients.clear();
    await this.#connectCluster(seed.url);
  }

  async #connectCluster(url: string): Promise<void> {
    const { seeds, client, timeoutMs } = this.#options;
    const { protocol, username, password } = new URL(url);
    const secure = protocol === 'rediss:';
    const account = {
      username: decodeURIComponent(username) || client.username,
      password: decodeURIComponent(password) || client.password,
    };
    const cluster = createCluster({
      rootNodes: [{ url }],
      // The nodes of a Cluster come and go: each is connected to when it is needed.
      minimizeConnections: true,
      defaults: {
        ...client,
        ...account,
        socket: { ...client.socket, connectTimeout: timeoutMs, ...(secure && { tls: true }) },
        ...fixedOptions,
      },
      commandOptions: fixedOptions.commandOptions,
    } as RedisClusterOptions) as Cluster;
    // Commands reject by themselves; an `error` event without a listener would end the process.
    this.#cluster = cluster.on('error', () => {});
    await cluster.connect();
    this.#infos = await Promise.all(
      cluster.masters.map(async (node) => {
        const { hostname, port } = new URL(`redis://${node.address}`);
        const known = new URL(url);
        known.hostname = hostname;
        known.port = port;
        seeds.add(known.href);
        return String(await (await cluster.nodeClient(node)).sendCommand(['INFO']));
      }),
    );
  }

  async #sendToNode(cluster: Cluster, key: string, args: readonly string[]): Promise<RedisReply> {
    const node = cluster.slots[slotOf(key)]?.master;
    // What waits for a connection inside the client could be sent long after it was given up here.
    if (node && !node.client?.isReady) await this.#untilReady(cluster.nodeClient(node));
    return cluster.sendCommand(key, false, args as string[]) as Promise<RedisReply>;
  }

  async #untilReady(connecting: Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const giveUp = () => {
        const error = new Error('a node of the Cluster cannot be reached');
        if (this.mayBeReplaced) this.#options.lost(error);
        reject(error);
      };
      timer = setTimeout(giveUp, Math.min(1_000, this.#options.timeoutMs));
    });
    await Promise.race([connecting, late]).finally(() => clearTimeout(timer));
  }
}

/** The slot of a key that has a tag in braces. */
function slotOf(key: string): number {
  const start = key.indexOf('{');
  const end = key.indexOf('}', start + 1);
  return crc16(start >= 0 && end > start + 1 ? key.slice(start + 1, end) : key) % 16_384;
}
