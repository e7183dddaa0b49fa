import type { StoreChoice } from '../contenders/stores.ts';
import { inFolder, withEtcd, withPostgres, withRedis } from './contender.ts';
import { cpuOfTree } from './process-cpu.ts';

/** Gets somewhere new to keep tasks, and the CPU time that the database there has used so far, in microseconds. */
type Use = (choice: StoreChoice, databaseCpu: () => number) => Promise<void>;

export type Store = StoreChoice['store'];

/** Each calls with a place of its own, and takes it away afterwards. */
export const places: Readonly<Record<Store, (use: Use) => Promise<void>>> = {
  memory: (use) => use({ store: 'memory' }, () => 0),
  sqlite: (use) => inFolder((folder) => use({ store: 'sqlite', folder }, () => 0)),
  redis: (use) => withRedis(({ url, pid }) => use({ store: 'redis', redis: url }, () => cpuOfTree(pid) ?? 0)),
  postgres: (use) => withPostgres(({ url, cpu }) => use({ store: 'postgres', postgres: url }, cpu)),
  etcd: (use) =>
    withEtcd((etcd, pids) =>
      use({ store: 'etcd', etcd }, () => pids.reduce((sum, pid) => sum + (cpuOfTree(pid) ?? 0), 0)),
    ),
};
