/** The files mutated in one run, and the tests that have to fail. Paths begin at the root of the repository. */
export interface Part {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /**
   * Whether the tests run in one process for all mutations, which is several times faster. Only for tests that leave
   * nothing behind, and use no more of vitest than `warm/vitest.ts` has.
   */
  readonly warm?: boolean;
  /** Whether the tests use Redis. */
  readonly redis?: boolean;
}

const sourcesOf = (name: string): readonly string[] => [
  `packages/${name}/src/**/*.ts`,
  `!packages/${name}/src/**/index.ts`,
];

const testsOf = (name: string): string => `packages/${name}/test/**/*.test.ts`;

const structures = ['groups', 'logs/*', 'order/*', 'subscribers'];
const pushRules = [
  'dead-letters',
  'delivery-id',
  'failing-webhooks',
  'host-shares',
  'push-format',
  'retry-delay',
  'wanted-update',
  'webhooks',
];

/** What `pnpm mutate` takes as arguments. */
export const parts: Readonly<Record<string, Part>> = {
  // The properties take seconds each, and would be run for nearly every mutation: the examples have to notice alone.
  lifecycle: {
    mutate: sourcesOf('lifecycle'),
    tests: [testsOf('lifecycle'), '!**/cost.test.ts', '!**/properties.test.ts'],
  },
  // Stores call `admit` and the like: what they must do is in the suite that every store passes. Here and below, one of
  // the configurations that a store is tested in is enough.
  store: {
    mutate: sourcesOf('store'),
    tests: [testsOf('store'), 'scripts/mutation/stores/memory.test.ts'],
  },
  auth: { mutate: sourcesOf('auth'), tests: [testsOf('auth')] },
  // What goes by its arguments alone. Tests without webhooks and stores notice in a fraction of a second.
  'push-rules': {
    mutate: [`packages/server/src/push/{${pushRules.join(',')}}.ts`],
    tests: ['packages/server/test/push/configs/{options,rules}.test.ts'],
  },
  push: {
    warm: true,
    mutate: ['packages/server/src/push/*.ts', `!packages/server/src/push/{${pushRules.join(',')}}.ts`],
    // Without a server: on a clock that stands still they wait for nothing.
    tests: ['attempt', 'deliver', 'delivered-log', 'deliverer', 'failed-delivery'].map(
      (name) => `packages/server/test/push/${name}.test.ts`,
    ),
  },
  'store-memory-structures': {
    warm: true,
    mutate: [`packages/store-memory/src/{${structures.join(',')}}.ts`],
    tests: ['packages/store-memory/test/{list-chunks,logs,structures}.test.ts'],
  },
  'store-memory': {
    warm: true,
    mutate: ['packages/store-memory/src/{memory-store,ready-queue}.ts'],
    tests: [
      'scripts/mutation/stores/memory.test.ts',
      'packages/store-memory/test/{bound,clocks,notifications,ready-queue}.test.ts',
    ],
  },
  'store-sqlite': {
    warm: true,
    mutate: ['packages/store-sqlite/src/tasks/{commits,leases,prune}.ts'],
    tests: [
      'scripts/mutation/stores/sqlite.test.ts',
      'packages/store-sqlite/test/{database/clocks,tasks/{claim,contents,notifications,waiting}}.test.ts',
    ],
  },
  'store-redis': {
    warm: true,
    mutate: ['packages/store-redis/src/tasks/{commits,leases,prune}.ts'],
    tests: [
      'scripts/mutation/stores/redis.test.ts',
      'packages/store-redis/test/{database/out-of-memory,tasks/*}.test.ts',
    ],
    redis: true,
  },
};
