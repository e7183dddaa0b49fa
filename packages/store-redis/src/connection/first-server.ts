import { createClient, type RedisClientOptions } from 'redis';

export type Client = ReturnType<typeof createClient>;

/** Options of node-redis for connections to one server. */
export type ClientOptions = Pick<
  RedisClientOptions,
  'username' | 'password' | 'credentialsProvider' | 'name' | 'database' | 'socket' | 'RESP'
>;

/**
 * Nothing is queued while there is no connection. Commands have no timeout of node-redis's own: an `AbortSignal` for
 * each would cost more than everything else it does, and guards only what was not sent yet.
 */
export const fixedOptions = {
  disableOfflineQueue: true,
  maintNotifications: 'disabled',
  commandOptions: { timeout: undefined },
} as const;

/**
 * For each version of the protocol a client that never connects. node-redis makes a class with hundreds of methods for
 * clients whose options differ from those of the latest one, which takes 10 ms; duplicates share the class.
 */
const templates = new Map<ClientOptions['RESP'], Client>();

/** A connection to one server, which does not reconnect. */
export function clientOf(url: string, options: ClientOptions, connectTimeout: number): Client {
  const { RESP } = options;
  const template = templates.get(RESP) ?? (createClient({ RESP, ...fixedOptions }) as Client);
  templates.set(RESP, template);
  const socket = { ...options.socket, connectTimeout, reconnectStrategy: false as const };
  return template.duplicate({ ...options, ...fixedOptions, url, socket } as RedisClientOptions) as Client;
}

/** Closes a connection at once. node-redis goes on with one that it is making, and would never close it. */
export function closeNow(client: Client): void {
  client.once('connect', () => client.destroy());
  client.destroy();
}

/** The value of one field of an `INFO`. */
export const infoOf = (info: string, field: string): string | undefined =>
  new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1];

/** A server that answered, with its `INFO`. */
export interface Server {
  readonly url: string;
  readonly client: Client;
  readonly info: string;
}

/** The first of these servers that answers and can be written to. Connections to the others are closed. */
export async function firstServer(
  urls: readonly string[],
  options: ClientOptions,
  connectTimeout: number,
  clients: Set<Client>,
): Promise<Server> {
  const probes = urls.map(async (url): Promise<Server> => {
    const client = clientOf(url, options, connectTimeout).on('error', () => {});
    clients.add(client);
    await client.connect();
    const info = String(await client.sendCommand(['INFO']));
    if (infoOf(info, 'role') !== 'master' && infoOf(info, 'cluster_enabled') !== '1') {
      throw new Error('it is a replica and cannot be written to');
    }
    return { url, client, info };
  });
  const found = await Promise.any(probes).catch((error: AggregateError) => {
    throw error.errors[0];
  });
  for (const client of clients) {
    if (client === found.client) continue;
    clients.delete(client);
    closeNow(client);
  }
  return found;
}
