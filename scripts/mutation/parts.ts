import type { Part } from './part.ts';
import { partsOfServer } from './server-parts.ts';

const sourcesOf = (name: string): readonly string[] => [
  `packages/${name}/src/**/*.ts`,
  `!packages/${name}/src/**/index.ts`,
];

const testsOf = (name: string): string => `packages/${name}/test/**/*.test.ts`;

const pushRules = ['hosts/failing-webhooks', 'webhooks'];

/** A whole package, and the tests in it of these names. */
function warm(name: string, tests: readonly string[], without: readonly string[] = []): Part {
  const path = (test: string): string => `packages/${name}/test/${test}.test.ts`;
  const excluded = without.map((test) => `!${path(test)}`);
  return { warm: true, mutate: sourcesOf(name), tests: [...tests.map(path), ...excluded] };
}

/** What `pnpm mutate` takes as arguments. */
export const parts: Readonly<Record<string, Part>> = {
  // The properties take seconds each, and would be run for nearly every mutation: the examples have to notice alone.
  lifecycle: warm('lifecycle', ['**/*'], ['cost', 'properties']),
  // The rules of every store, by their own tables and properties, and by the suite of stores: pins, records and prunes.
  'store-rules': {
    warm: true,
    mutate: ['packages/store/src/rules/*.ts'],
    tests: ['packages/store/test/rules/*.test.ts', 'scripts/mutation/stores/memory.test.ts'],
  },
  // Here and below, one of the configurations that a store is tested in is enough.
  store: {
    warm: true,
    mutate: [...sourcesOf('store'), '!packages/store/src/rules/*.ts'],
    tests: [testsOf('store'), 'scripts/mutation/stores/memory.test.ts', 'test/add-a-store/map-store.test.ts'],
  },
  auth: { mutate: sourcesOf('auth'), tests: [testsOf('auth')] },
  // Without Prisma, which is too large to install for the tests.
  transactions: {
    mutate: sourcesOf('transactions'),
    tests: [testsOf('transactions')],
  },
  // What goes by its arguments alone. Tests without webhooks and stores notice in a fraction of a second.
  'push-rules': {
    mutate: [`packages/server/src/webhooks/{${pushRules.join(',')}}.ts`],
    tests: ['packages/server/test/webhooks/configs/{options,rules}.test.ts'],
  },
  push: {
    warm: true,
    mutate: [
      'packages/server/src/webhooks/*.ts',
      `!packages/server/src/webhooks/{${pushRules.join(',')}}.ts`,
    ],
    // Without a server: on a clock that stands still they wait for nothing.
    tests: ['attempt', 'deliver', 'delivered-log', 'deliverer', 'failed-delivery'].map(
      (name) => `packages/server/test/webhooks/${name}.test.ts`,
    ),
  },
  'store-memory': {
    warm: true,
    mutate: sourcesOf('store-memory'),
    tests: [
      'packages/store-memory/test/*.test.ts',
      '!packages/store-memory/test/memory-store.test.ts',
      'scripts/mutation/stores/memory.test.ts',
      'test/stores/unknown-options.test.ts',
    ],
  },
  'store-sqlite': {
    warm: true,
    mutate: ['packages/store-sqlite/src/{rows-on-tables,tables/*}.ts'],
    tests: [
      'scripts/mutation/stores/sqlite.test.ts',
      'packages/store-sqlite/test/{buckets,database/{clocks,replaced-file},tasks/*}.test.ts',
    ],
  },
  'store-redis': {
    warm: true,
    mutate: ['packages/store-redis/src/{redis-rows,rows/*}.ts'],
    tests: [
      'scripts/mutation/stores/redis.test.ts',
      'packages/store-redis/test/{buckets,database/out-of-memory,round-trips,tasks/*}.test.ts',
    ],
    server: 'redis',
  },
  'store-postgres': {
    warm: true,
    mutate: ['packages/store-postgres/src/{postgres-store,changes/*,tables/*,database/columns}.ts'],
    tests: [
      'scripts/mutation/stores/postgres.test.ts',
      'packages/store-postgres/test/{notifications,plans,round-trips,shared-reads,transactions}.test.ts',
    ],
    // They make a role and a log that stay.
    leftOut: 'has the password of the pool|ignores messages that no store has sent',
    server: 'postgres',
  },
  'store-etcd': {
    warm: true,
    mutate: ['packages/store-etcd/src/{etcd-store,rows/*,layout/*,logs/*}.ts'],
    tests: [
      'scripts/mutation/stores/etcd.test.ts',
      'packages/store-etcd/test/{buckets,damaged,large-changes,large-webhooks,layout,meanwhile,outcomes,prune,queue-fronts,reads,round-trips,watches}.test.ts',
    ],
    server: 'etcd',
  },
  // From here on real servers answer: the tests that start processes of their own are too slow for so many runs.
  'nested-tasks': warm('nested-tasks', ['*']),
  oauth: warm('oauth', ['**/*']),
  mcp: warm('mcp', ['*', '{http,server,tools}/*']),
  // What the extension for tasks is made of, on the side of a server and in agents.
  'mcp-tasks': {
    ...warm(
      'mcp',
      [
        '*',
        '{http,server,stdio,tools,translation}/*',
        'tasks/{deferred,failure,handle,input-requests,listen,listen-request,requirements}',
      ],
      ['program'],
    ),
    // On a clock that stands still, it goes by when the pause began.
    leftOut: 'gives its process back',
    mutate: [
      'packages/mcp/src/{tasks,stdio}/*.ts',
      'packages/mcp/src/http/{mcp-handler,task-streams}.ts',
      'packages/mcp/src/server/{conversation,start-task}.ts',
      'packages/mcp/src/tools/{call-tool,pending-call,tool-task,wait-for-task}.ts',
    ],
  },
  'task-gateway': warm('task-gateway', ['**/*'], ['browser']),
  'bindings-websocket': warm('bindings-websocket', ['*'], ['browser', 'processes', 'load']),
  'bindings-grpc': warm('bindings-grpc', ['*']),
  'ai-sdk': {
    ...warm('ai-sdk', ['*', '{agent,durable,history,tools}/*']),
    mutate: [...sourcesOf('ai-sdk'), '!packages/ai-sdk/src/{chat,chat/*}.ts'],
  },
  // Without the page, which needs a browser.
  'ai-sdk-chat': {
    ...warm('ai-sdk', ['chat/{chat,chat-handler,chunks,conversation,history,said-again,transport}']),
    mutate: ['packages/ai-sdk/src/chat/*.ts'],
  },
  'ag-ui': warm('ag-ui', ['*'], ['killed']),
  // Without the hooks, which need a browser.
  react: {
    ...warm('react', ['{calls,conversation-feed,feed,list-feed,pause,task-feed}']),
    mutate: ['packages/react/src/feeds/*.ts'],
  },
  // Without what runs in a process of its own.
  cli: {
    ...warm('cli', ['*'], ['dev', 'process']),
    mutate: [...sourcesOf('cli'), '!packages/cli/src/{main,development/*}.ts'],
  },
  // What operators see and measure: metrics and probes.
  telemetry: {
    warm: true,
    mutate: [...sourcesOf('telemetry'), 'packages/server-node/src/listen.ts'],
    tests: [testsOf('telemetry'), 'packages/server-node/test/probes.test.ts'],
  },
  // What ended in a day, and lists of all callers.
  fleet: {
    warm: true,
    mutate: ['packages/server/src/log/ended/*.ts', 'packages/operator/src/search/list-tasks.ts'],
    tests: [
      'packages/server/test/log/ended-runs.test.ts',
      'packages/inspector/test/agents/all-callers.test.ts',
      'packages/inspector/test/tasks/{assignees,lists,text-search}.test.ts',
      'packages/operator/test/{pages,search}.test.ts',
    ],
  },
  // The language of searches, rows and what they are looked at for, and the counts of all agents.
  search: {
    warm: true,
    mutate: [
      'packages/operator/src/search/{language,row-tests,task-rows}.ts',
      'packages/inspector/src/tasks/overview.ts',
    ],
    tests: [
      'packages/operator/test/{last-said,pages,search}.test.ts',
      'packages/inspector/test/tasks/*.test.ts',
      'packages/inspector/test/agents/{all-callers,looking}.test.ts',
    ],
  },
  // Links for colleagues, and what was done.
  links: {
    warm: true,
    mutate: ['packages/inspector/src/{links,activity}.ts', 'packages/inspector/src/routes/link-routes.ts'],
    tests: ['packages/inspector/test/{activity,links}.test.ts', 'test/secrets/links.test.ts'],
  },
  // Without the page, which needs a browser, and `cli.ts`, which only starts the program.
  inspector: {
    warm: true,
    tests: [
      'packages/inspector/test/{agents,clients,http,models,tasks,timeline,wire}/*.test.ts',
      'packages/inspector/test/{card-report,guard,leaving,program,recording,store-timeline,timeline,wire}.test.ts',
      'test/secrets/{client-requests,inspector}.test.ts',
    ],
    mutate: [...sourcesOf('inspector'), '!packages/inspector/src/{cli.ts,{app,api}/**}'],
  },
  ...partsOfServer,
};
