import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import type { Command } from 'commander';
import { CliError, usage } from '../errors/cli-error.ts';
import { type CommonOptions, toTexts } from '../flags/agent-flags.ts';
import type { RunContext } from '../run-context.ts';

/** A store that another process uses, and where it is. */
export interface OpenedStore {
  readonly store: TaskStore & PushConfigStore;
  readonly kind: 'sqlite' | 'redis' | 'postgres' | 'etcd';
  /** The path of a file, or the URL of a server. */
  readonly address: string;
}

export const storeText = 'sqlite:<path>, redis://…, postgres://… or etcd://…';

type Open = (address: string) => Promise<OpenedStore['store']>;

const servers: readonly (readonly [RegExp, OpenedStore['kind'], Open])[] = [
  [
    /^rediss?:\/\//,
    'redis',
    // A policy that evicts is a finding of `doctor`, and no reason not to look.
    async (url) => (await import('@batonjs/store-redis')).redisStore({ url, allowEviction: true }),
  ],
  [
    /^postgres(ql)?:\/\//,
    'postgres',
    async (url) => (await import('@batonjs/store-postgres')).postgresStore(url),
  ],
  [
    /^etcds?:\/\//,
    'etcd',
    async (url) => {
      const [, protocol, members = ''] = /^etcd(s?):\/\/(.*)$/.exec(url) ?? [];
      const { etcdStore } = await import('@batonjs/store-etcd');
      return etcdStore(members.split(',').map((member) => `http${protocol}://${member}`));
    },
  ],
];

/**
 * Opens the store that `sqlite:<path>`, a path, `redis://…`, `postgres://…` or `etcd://host:2379,host:2379` names. Makes
 * no file where there is none, unless it may be new.
 */
export async function openStore(url: string, cwd: string, mayBeNew = false): Promise<OpenedStore> {
  for (const [scheme, kind, open] of servers) if (scheme.test(url)) return reached(kind, url, open);
  // The rest of a URL may hold a password.
  if (/^[a-z]+:\/\//i.test(url)) throw usage(`A store is ${storeText}`);
  const path = resolve(cwd, url.replace(/^sqlite:/, ''));
  if (!mayBeNew && !existsSync(path))
    throw new CliError(
      'A2ACLI_ERR_UNREACHABLE',
      `There is no file ${path}`,
      'Check the path, and that the agent has run with it once',
    );
  return reached('sqlite', path, async (file) => (await import('@batonjs/store-sqlite')).sqliteStore(file));
}

/** Resolves when the store answers, and closes one that does not. */
async function reached(kind: OpenedStore['kind'], address: string, open: Open): Promise<OpenedStore> {
  let store: OpenedStore['store'] | undefined;
  try {
    store = await open(address);
    await store.ping();
    return { store, kind, address };
  } catch (cause) {
    await store?.close();
    const message = `The store cannot be opened: ${(cause as Error).message}`;
    throw new CliError('A2ACLI_ERR_UNREACHABLE', message, undefined, cause);
  }
}

/** Opens the store of a command while `use` runs. */
export async function withStore<T>(
  { options, io }: RunContext<CommonOptions & { readonly store?: string }>,
  use: (store: OpenedStore['store']) => Promise<T>,
): Promise<T> {
  const { store } = await openStore(options.store ?? '', io.cwd);
  return use(store).finally(() => store.close());
}

/** Flags that say whose tasks are meant. */
export interface ScopeFlags extends CommonOptions<'tenant'> {
  readonly store: string;
  readonly agent: string;
  /** Several only for many tasks. */
  readonly caller?: readonly string[];
}

export const callerText =
  'the `scope` by which `authenticate` names the caller; none: those without authentication';

export const addScopeFlags = (command: Command): Command =>
  command
    .option('--agent <name>', 'the name of the agent in the store', 'agent')
    .option('--tenant <name>', 'the tenant')
    .option('--caller <name>', callerText, toTexts);

/** The caller of a command for the tasks of one. */
export function callerOf({ caller = [''] }: Pick<ScopeFlags, 'caller'>): string {
  const [one = '', ...others] = caller;
  if (others.length > 0)
    throw usage('--caller may be repeated only where many tasks are canceled, forked, deleted or sent again');
  return one;
}
