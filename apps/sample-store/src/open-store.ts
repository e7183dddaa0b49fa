import type { PushConfigStore, TaskStore } from '@batonjs/store';

export type SampleStore = TaskStore & PushConfigStore;

/** A kind of store, under the scheme of its URLs. */
interface Kind {
  /** Whether several processes can open it at the same time. */
  readonly isShared: boolean;
  /** Opens it. `rest` is the URL without its scheme and colon. Loads the adapter and its driver only now. */
  readonly open: (url: string, rest: string) => Promise<SampleStore>;
}

const redis: Kind = {
  isShared: true,
  open: async (url) => (await import('@batonjs/store-redis')).redisStore(url),
};

const postgres: Kind = {
  isShared: true,
  open: async (url) => (await import('@batonjs/store-postgres')).postgresStore(url, { textSearch: true }),
};

const kinds: Readonly<Record<string, Kind>> = {
  memory: {
    isShared: false,
    open: async () => (await import('@batonjs/store-memory')).memoryStore(),
  },
  sqlite: {
    isShared: true,
    open: async (_, path) => (await import('@batonjs/store-sqlite')).sqliteStore(path, { textSearch: true }),
  },
  pglite: { isShared: false, open: async (_, folder) => openPGlite(folder) },
  redis,
  rediss: redis,
  postgres,
  postgresql: postgres,
  etcd: { isShared: true, open: async (_, members) => openEtcd(members) },
};

/** PostgreSQL inside this process, in a folder that one process at a time may have open. */
async function openPGlite(folder: string): Promise<SampleStore> {
  const [{ PGlite }, { postgresStore }, { mkdir }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@batonjs/store-postgres'),
    import('node:fs/promises'),
  ]);
  if (folder) await mkdir(folder, { recursive: true });
  const database = await PGlite.create(folder || 'memory://');
  const store = postgresStore(database, { textSearch: true });
  return {
    ...store,
    async close() {
      await store.close();
      if (!database.closed) await database.close();
    },
  };
}

/** A cluster of etcd, by its members: `//one:2379,two:2379`. The port may be left out. */
async function openEtcd(members: string): Promise<SampleStore> {
  const { etcdStore } = await import('@batonjs/store-etcd');
  const hosts = members.replace(/^\/\//, '').split(',');
  return etcdStore(hosts.map((host) => `http://${/:\d+$/.test(host) ? host : `${host}:2379`}`));
}

export interface OpenStoreOptions {
  /** Several processes are going to open it: refuses a store that lives in one. */
  readonly shared?: boolean;
}

/**
 * Opens the store that a URL names: `memory:`, `sqlite:<path>`, `pglite:<folder>`, `redis://…`,
 * `postgres://…` or `etcd://host,host`. Resolves once it answers. Throws an `Error` with one line for people if the URL names no store,
 * or the store does not answer.
 */
export async function openStore(
  url: string,
  { shared = false }: OpenStoreOptions = {},
): Promise<SampleStore> {
  const [scheme] = url.split(':', 1);
  const kind = scheme !== url && Object.hasOwn(kinds, scheme!) ? kinds[scheme!] : undefined;
  if (!kind) {
    // The rest of a URL may hold a password.
    throw new Error(`BATON_STORE names no store: it begins with ${schemes(() => true)}`);
  }
  if (shared && !kind.isShared)
    throw new Error(`${scheme}: is of one process. Several share ${schemes((one) => one.isShared)}`);
  const store = await kind.open(url, url.slice(scheme!.length + 1));
  try {
    await store.identity();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

const schemes = (isMeant: (kind: Kind) => boolean): string =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(
    Object.entries(kinds).flatMap(([scheme, kind]) => (isMeant(kind) ? [`${scheme}:`] : [])),
  );
