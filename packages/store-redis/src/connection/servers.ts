import { createClient, createCluster, type RedisClientOptions, type RedisClusterOptions } from 'redis';

export type Client = ReturnType<typeof createClient>;
export type Cluster = ReturnType<typeof createCluster>;

/** Options of node-redis for connections to one server. */
export type ClientOptions = Pick<
  RedisClientOptions,
  'username' | 'password' | 'credentialsProvider' | 'name' | 'database' | 'socket' | 'RESP'
>;

/**
 * Nothing is queued while there is no connection. Commands have no timeout of node-redis's own, which guards only what
 * was not sent yet.
 */
const fixedOptions = {
  disableOfflineQueue: true,
  maintNotifications: 'disabled',
  commandOptions: { timeout: undefined },
} as const;

/** A server that answered, with its `INFO`. */
export interface Server {
  readonly url: string;
  readonly client: Client;
  readonly info: string;
}

/** The servers of a store: those that its options name, and the nodes of a Cluster once they are known. */
export class Servers {
  /** How long a server may take to answer, in milliseconds. */
  readonly timeoutMs: number;
  /** 1: the connection for commands has the subscription, too. */
  readonly connections: 1 | 2;
  readonly #urls: Set<string>;
  readonly #options: ClientOptions;
  readonly #template: Client;

  constructor(urls: readonly string[], options: ClientOptions, timeoutMs: number, connections: 1 | 2 = 2) {
    this.timeoutMs = timeoutMs;
    this.connections = connections;
    this.#urls = new Set(urls);
    this.#options = options;
    // A client makes a class with hundreds of methods, which takes 10 ms; its duplicates share the class.
    this.#template = createClient({ RESP: options.RESP, ...fixedOptions }) as Client;
  }

  /** A connection to one server, which does not reconnect. */
  client(url: string): Client {
    const socket = { ...this.#socket, reconnectStrategy: false as const };
    const options = { ...this.#options, ...fixedOptions, url, socket };
    return this.#template.duplicate(options as RedisClientOptions).on('error', () => {}) as Client;
  }

  /** The first server that answers and can be written to. `opened` has its connection; those to the others are closed. */
  async first(opened: Set<Client>): Promise<Server> {
    const probes = Array.from(this.#urls, async (url): Promise<Server> => {
      const client = this.client(url);
      opened.add(client);
      await client.connect();
      const info = String(await client.sendCommand(['INFO']));
      if (infoOf(info, 'role') !== 'master' && !isInCluster(info))
        throw new Error('it is a replica and cannot be written to');
      return { url, client, info };
    });
    const found = await Promise.any(probes).catch((error: AggregateError) => {
      throw error.errors[0];
    });
    for (const client of opened) {
      if (client === found.client) continue;
      opened.delete(client);
      closeNow(client);
    }
    return found;
  }

  /** The nodes of a Cluster, which node-redis connects to when they are needed, and reconnects to. */
  cluster(url: string): Cluster {
    const { protocol, username, password } = new URL(url);
    const defaults = {
      ...this.#options,
      username: decodeURIComponent(username) || this.#options.username,
      password: decodeURIComponent(password) || this.#options.password,
      socket: { ...this.#socket, ...(protocol === 'rediss:' && { tls: true }) },
      ...fixedOptions,
    };
    const { commandOptions } = fixedOptions;
    const options = { rootNodes: [{ url }], minimizeConnections: true, defaults, commandOptions };
    // Commands reject by themselves; an `error` event without a listener would end the process.
    return createCluster(options as RedisClusterOptions).on('error', () => {}) as Cluster;
  }

  /** Remembers a node of the Cluster that has this URL. */
  add(url: string, address: string): void {
    const { hostname, port } = new URL(`redis://${address}`);
    this.#urls.add(Object.assign(new URL(url), { hostname, port }).href);
  }

  get #socket() {
    return { ...this.#options.socket, connectTimeout: this.timeoutMs };
  }
}

/** Closes a connection at once. node-redis goes on with one that it is making, and would never close it. */
export function closeNow(client: Client): void {
  client.once('connect', () => client.destroy());
  client.destroy();
}

export const infoOf = (info: string, field: string): string | undefined =>
  new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1];

export const isInCluster = (info: string): boolean => infoOf(info, 'cluster_enabled') === '1';
