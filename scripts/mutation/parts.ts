/** The files mutated in one run, and the tests that have to fail. Paths begin at the root of the repository. */
export interface Part {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /**
   * Only the tests whose whole name matches this regular expression: one of several configurations is enough,
   * and on a clock of its own it waits for nothing.
   */
  readonly names?: string;
  /** Whether the tests use Redis. */
  readonly redis?: boolean;
}

const sourcesOf = (name: string): readonly string[] => [
  `packages/${name}/src/**/*.ts`,
  `!packages/${name}/src/**/index.ts`,
];

const testsOf = (name: string): string => `packages/${name}/test/**/*.test.ts`;

const structures = ['closed-logs', 'groups', 'log', 'schedule', 'sorted-list', 'subscribers'];
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
  // Stores call `admit` and the like: what they must do is in the suite that every store passes.
  store: {
    mutate: sourcesOf('store'),
    tests: [testsOf('store'), 'packages/store-memory/test/memory-store.test.ts'],
  },
  auth: { mutate: sourcesOf('auth'), tests: [testsOf('auth')] },
  // What goes by its arguments alone. Tests without webhooks and stores notice in a fraction of a second.
  'push-rules': {
    mutate: [`packages/server/src/push/{${pushRules.join(',')}}.ts`],
    tests: ['packages/server/test/push/{options,rules}.test.ts'],
  },
  push: {
    mutate: ['packages/server/src/push/*.ts', `!packages/server/src/push/{${pushRules.join(',')}}.ts`],
    // Without a server: on a clock that stands still they wait for nothing.
    tests: ['attempt', 'deliver', 'delivered-log', 'deliverer', 'failed-delivery'].map(
      (name) => `packages/server/test/push/${name}.test.ts`,
    ),
  },
  'store-memory-structures': {
    mutate: [`packages/store-memory/src/{${structures.join(',')}}.ts`],
    tests: ['packages/store-memory/test/{sorted-list,structures}.test.ts'],
  },
  'store-memory': {
    mutate: [...sourcesOf('store-memory'), `!packages/store-memory/src/{${structures.join(',')}}.ts`],
    tests: [testsOf('store-memory')],
    names: '^(?!memoryStore)|on its own clock',
  },
  'store-sqlite': {
    mutate: ['packages/store-sqlite/src/tasks/{commits,leases,prune}.ts'],
    tests: ['tasks/claim', 'tasks/contents', 'conformance'].map(
      (name) => `packages/store-sqlite/test/${name}.test.ts`,
    ),
    names: '^(?!sqliteStore)|in memory',
  },
  'store-redis': {
    mutate: ['packages/store-redis/src/tasks/{commits,leases,prune}.ts'],
    tests: ['tasks/claim', 'tasks/claimed', 'conformance'].map(
      (name) => `packages/store-redis/test/${name}.test.ts`,
    ),
    names: '^(?!Redis redisStore)|that two share',
    redis: true,
  },
};
