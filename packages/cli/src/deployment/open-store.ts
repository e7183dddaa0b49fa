import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { CliError, usage } from '../errors/cli-error.ts';

/** A store that another process uses, and where it is. */
export interface OpenedStore {
  readonly store: TaskStore & PushConfigStore;
  readonly kind: 'sqlite' | 'redis' | 'postgres' | 'etcd';
  /** The path of a file, or the URL of a server. */
  readonly address: string;
}

/**
 * Opens the store that `sqlite:<path>`, a path, `redis://…`, `postgres://…` or `etcd://host:2379,host:2379` names. Makes
 * no file where there is none.
 */
export async function openStore(url: string, cwd: string): Promise<OpenedStore> {
  const unreachable = (cause: unknown) =>
    new CliError(
      'A2ACLI_ERR_UNREACHABLE',
      `The store cannot be opened: ${(cause as Error).message}`,
      undefined,
      cause,
    );
  try {
    if (/^rediss?:\/\//.test(url)) {
      const { redisStore } = await import('@batonjs/store-redis');
      // A policy that evicts is a finding of `doctor`, and no reason not to look.
      const store = redisStore({ url, allowEviction: true });
      return await reached({ store, kind: 'redis', address: url });
    }
    if (/^postgres(ql)?:\/\//.test(url)) {
      const { postgresStore } = await import('@batonjs/store-postgres');
      const store = postgresStore(url);
      return await reached({ store, kind: 'postgres', address: url });
    }
    if (/^etcds?:\/\//.test(url)) {
      const { etcdStore } = await import('@batonjs/store-etcd');
      const [, protocol, members = ''] = /^etcd(s?):\/\/(.*)$/.exec(url) ?? [];
      const store = etcdStore(members.split(',').map((member) => `http${protocol}://${member}`));
      return await reached({ store, kind: 'etcd', address: url });
    }
  } catch (cause) {
    throw unreachable(cause);
  }
  // The rest of a URL may hold a password.
  if (/^[a-z]+:\/\//i.test(url)) throw usage('A store is sqlite:<path>, redis://…, postgres://… or etcd://…');
  const path = resolve(cwd, url.replace(/^sqlite:/, ''));
  if (!existsSync(path))
    throw new CliError(
      'A2ACLI_ERR_UNREACHABLE',
      `There is no file ${path}`,
      'Check the path, and that the agent has run with it once',
    );
  try {
    const { sqliteStore } = await import('@batonjs/store-sqlite');
    const store = sqliteStore(path);
    return await reached({ store, kind: 'sqlite', address: path });
  } catch (cause) {
    throw unreachable(cause);
  }
}

/** Resolves when the store answers, and closes one that does not. */
async function reached(opened: OpenedStore): Promise<OpenedStore> {
  try {
    await opened.store.ping();
    return opened;
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}
