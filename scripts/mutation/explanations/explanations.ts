import { explanationsOfAiSdk } from './ai-sdk.ts';
import { explanationsOfAuth } from './auth.ts';
import { explanationsOfBindings } from './bindings.ts';
import { explanationsOfCli } from './cli.ts';
import type { Explanation } from './explanation.ts';
import { explanationsOfFrontEnds } from './front-ends.ts';
import { explanationsOfInspector } from './inspector.ts';
import { explanationsOfLifecycle } from './lifecycle.ts';
import { explanationsOfMcp } from './mcp.ts';
import { explanationsOfOAuth } from './oauth.ts';
import { explanationsOfPush } from './push.ts';
import { explanationsOfServer } from './server.ts';
import { explanationsOfStore } from './store.ts';
import { explanationsOfStoreEtcd } from './store-etcd.ts';
import { explanationsOfStoreMemory } from './store-memory.ts';
import { explanationsOfStorePostgres } from './store-postgres.ts';
import { explanationsOfStoreRedis } from './store-redis.ts';
import { explanationsOfStoreRules } from './store-rules.ts';
import { explanationsOfStoreSqlite } from './store-sqlite.ts';
import { explanationsOfTaskGateway } from './task-gateway.ts';

export const explanations: readonly Explanation[] = [
  {
    file: 'packages/transactions/src/drivers/sqlite.ts',
    line: 'if (!isBusy(error) || performance.now() > until) throw error;',
    replacements: ['performance.now() >= until'],
    why: 'The same: the two times are never equal.',
  },
  {
    file: 'packages/transactions/src/once.ts',
    line: 'for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, 5_000)) {',
    why: 'Only how often the database is asked.',
  },
  {
    file: 'packages/transactions/src/once.ts',
    line: 'for (let pauseMs = 10; ; pauseMs = Math.min(2 * pauseMs, 1_000)) {',
    why: 'Only how often a transaction is begun again.',
  },
  {
    file: 'packages/transactions/src/submissions/drain.ts',
    line: 'if (claimed.length > 0)',
    replacements: ['true'],
    why: 'Slower, but the same: a transaction without a statement changes nothing.',
  },
  ...explanationsOfAiSdk,
  ...explanationsOfAuth,
  ...explanationsOfBindings,
  ...explanationsOfCli,
  ...explanationsOfFrontEnds,
  ...explanationsOfInspector,
  ...explanationsOfLifecycle,
  ...explanationsOfMcp,
  ...explanationsOfOAuth,
  ...explanationsOfPush,
  ...explanationsOfServer,
  ...explanationsOfStore,
  ...explanationsOfStoreEtcd,
  ...explanationsOfStoreMemory,
  ...explanationsOfStorePostgres,
  ...explanationsOfStoreRedis,
  ...explanationsOfStoreRules,
  ...explanationsOfStoreSqlite,
  ...explanationsOfTaskGateway,
];
