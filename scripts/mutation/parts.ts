/** The files mutated in one run, and the tests that have to fail. Paths begin at the root of the repository. */
export interface Part {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /**
   * Whether the tests run in one process for all mutations, which is several times faster. Only for tests that leave
   * nothing behind, and use no more of vitest than `warm/vitest.ts` has.
   */
  readonly warm?: boolean;
  /** Tests of a warm part whose names match this regular expression are left out. */
  readonly leftOut?: string;
  /** Whether the tests use Redis. */
  readonly redis?: boolean;
  /** The score that the tests reach so far, where that is below 90 % or survivors are not explained yet. */
  readonly soFar?: number;
}

const sourcesOf = (name: string): readonly string[] => [
  `packages/${name}/src/**/*.ts`,
  `!packages/${name}/src/**/index.ts`,
];

const testsOf = (name: string): string => `packages/${name}/test/**/*.test.ts`;

const structures = ['buckets', 'groups', 'logs/*', 'order/*', 'queues/*'];
const pushRules = [
  'attempt-outcome',
  'dead-letters',
  'delivery-id',
  'hosts/failing-webhooks',
  'hosts/host-shares',
  'push-format',
  'retry-delay',
  'wanted-update',
  'webhooks',
];

/** A whole package, and the tests in it of these names. */
function warm(name: string, tests: readonly string[], without: readonly string[] = []): Part {
  const path = (test: string): string => `packages/${name}/test/${test}.test.ts`;
  const excluded = without.map((test) => `!${path(test)}`);
  return { warm: true, mutate: sourcesOf(name), tests: [...tests.map(path), ...excluded] };
}

/** Sources of the server: these folders, and these files beside them. */
const serverFiles = (folders: readonly string[], files: readonly string[] = []): readonly string[] => [
  ...files.map((file) => `packages/server/src/${file}.ts`),
  ...folders.map((folder) => `packages/server/src/${folder}/**/*.ts`),
  '!packages/server/src/**/{index,internals}.ts',
  // For browsers and edge runtimes, where other tests run.
  '!packages/server/src/**/*-web.ts',
];

const serverTests = (names: readonly string[]): readonly string[] =>
  names.map((name) => `packages/server/test/${name}.test.ts`);

/** One setting of those that a test of the protocol is run in is enough: in process, over JSON-RPC or HTTP+JSON. */
const otherSettings =
  '(GRPC|(?<!WebSocket, )Express|Fastify|Hono|(?<!`)server\\.fetch|SQLite|Redis|PostgreSQL|etcd|a store that takes 10 ms|event loop stood still)';

/** What `pnpm mutate` takes as arguments. */
export const parts: Readonly<Record<string, Part>> = {
  // The properties take seconds each, and would be run for nearly every mutation: the examples have to notice alone.
  lifecycle: {
    mutate: sourcesOf('lifecycle'),
    tests: [testsOf('lifecycle'), '!**/cost.test.ts', '!**/properties.test.ts'],
  },
  // The rules of every store, by their own tables and properties.
  'store-rules': {
    warm: true,
    mutate: ['packages/store/src/rules/*.ts'],
    tests: ['packages/store/test/rules/*.test.ts'],
  },
  // Here and below, one of the configurations that a store is tested in is enough.
  store: {
    mutate: [...sourcesOf('store'), '!packages/store/src/rules/*.ts'],
    tests: [testsOf('store'), 'scripts/mutation/stores/memory.test.ts'],
  },
  auth: { mutate: sourcesOf('auth'), tests: [testsOf('auth')] },
  // Without Prisma, which is too large to install for the tests.
  transactions: {
    mutate: [...sourcesOf('transactions'), '!packages/transactions/src/drivers/prisma.ts'],
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
  'store-memory-structures': {
    warm: true,
    mutate: [`packages/store-memory/src/{${structures.join(',')}}.ts`],
    tests: [
      'packages/store-memory/test/{buckets,list-chunks,logs,sorted-list,structures,turn-queues}.test.ts',
    ],
  },
  'store-memory': {
    warm: true,
    mutate: ['packages/store-memory/src/{memory-rows,memory-store,task-index}.ts'],
    tests: [
      'scripts/mutation/stores/memory.test.ts',
      'packages/store-memory/test/{bound,clocks,notifications}.test.ts',
    ],
  },
  'store-sqlite': {
    warm: true,
    mutate: ['packages/store-sqlite/src/{rows-on-tables,tables/*}.ts'],
    tests: [
      'scripts/mutation/stores/sqlite.test.ts',
      'packages/store-sqlite/test/{database/clocks,tasks/{claim,contents,notifications,waiting}}.test.ts',
    ],
  },
  'store-redis': {
    warm: true,
    mutate: ['packages/store-redis/src/{redis-rows,rows/*}.ts'],
    tests: [
      'scripts/mutation/stores/redis.test.ts',
      'packages/store-redis/test/{database/out-of-memory,tasks/*}.test.ts',
    ],
    redis: true,
  },
  // From here on real servers answer: the tests that start processes of their own are too slow for so many runs.
  'nested-tasks': warm('nested-tasks', ['*']),
  oauth: { ...warm('oauth', ['**/*']), soFar: 96 },
  // Without `main.ts`, which only starts the program, and the test that starts it.
  mcp: {
    ...warm('mcp', ['*', '{http,server,tools}/*'], ['program']),
    mutate: [...sourcesOf('mcp'), '!packages/mcp/src/main.ts'],
    soFar: 95,
  },
  // What the extension for tasks is made of, on the side of a server and in agents.
  'mcp-tasks': {
    ...warm(
      'mcp',
      [
        '*',
        '{http,server,stdio,tools,translation}/*',
        'tasks/{deferred,failure,handle,listen,listen-request,requirements}',
      ],
      ['program'],
    ),
    // On a clock that stands still, it goes by when the pause began.
    leftOut: 'gives its process back',
    soFar: 83,
    mutate: [
      'packages/mcp/src/{tasks,stdio}/*.ts',
      'packages/mcp/src/http/{refusal,request-body,task-streams}.ts',
      'packages/mcp/src/server/{start-task,tool-call}.ts',
      'packages/mcp/src/tools/{call-tool,open-tasks,pending-call,response-of,tool-task,wait-for-task}.ts',
    ],
  },
  'task-gateway': warm('task-gateway', ['**/*'], ['browser']),
  'bindings-websocket': {
    ...warm('bindings-websocket', ['*'], ['browser', 'processes', 'load']),
    soFar: 91,
  },
  'bindings-grpc': warm('bindings-grpc', ['*']),
  'ai-sdk': {
    ...warm('ai-sdk', ['*', '{agent,durable,history,model,tools}/*']),
    mutate: [...sourcesOf('ai-sdk'), '!packages/ai-sdk/src/{chat,chat/*}.ts'],
    soFar: 94,
  },
  // Without the page, which needs a browser.
  'ai-sdk-chat': {
    ...warm('ai-sdk', ['chat/{chat,chat-handler,chunks,history}']),
    mutate: ['packages/ai-sdk/src/chat/*.ts'],
  },
  'ag-ui': { ...warm('ag-ui', ['*'], ['killed']), soFar: 97 },
  // Without the hooks, which need a browser.
  react: {
    ...warm('react', ['{conversation-feed,task-feed,list-feed,pause,json-schema}']),
    mutate: ['packages/react/src/{feeds,form}/*.ts'],
    soFar: 77,
  },
  // Without what runs in a process of its own.
  cli: {
    ...warm('cli', ['*'], ['dev', 'process']),
    mutate: [...sourcesOf('cli'), '!packages/cli/src/{main,deployment/{dev,serve-file}}.ts'],
    soFar: 90,
  },
  // What operators see and measure: metrics, probes, and a load on an agent.
  telemetry: {
    warm: true,
    soFar: 68,
    mutate: [...sourcesOf('telemetry'), 'packages/server-node/src/listen-probes.ts'],
    tests: [testsOf('telemetry'), 'packages/server-node/test/probes.test.ts'],
  },
  'cli-load': {
    ...warm('cli', ['load', 'load/*']),
    soFar: 59,
    mutate: ['packages/cli/src/load/*.ts'],
  },
  // Without the page, which needs a browser, and `cli.ts`, which only starts the program.
  inspector: {
    ...warm('inspector', [
      '{agents,http,tasks,timeline,wire}/*',
      '{card-report,graph,guard,program,recording,scopes,store-timeline,timeline,wire}',
    ]),
    mutate: [...sourcesOf('inspector'), '!packages/inspector/src/{cli.ts,{app,api}/**}'],
    soFar: 91,
  },
  // The rest of the server, by folder. What needs other processes, or takes seconds, is left out.
  'server-http': {
    warm: true,
    soFar: 91,
    leftOut: otherSettings,
    mutate: serverFiles(
      ['front', 'operations/card', 'base/{hooks,system}', 'webhooks/address-policy'],
      ['*'],
    ),
    tests: [
      ...serverTests([
        '{front/{http,calls},operations/card,base/{hooks,system},webhooks/address-policy}/*',
        'agent-server',
        'worker',
      ]),
      ...serverTests(['wrong-options', 'scenarios/queue-owners', 'base/{store/store-outage,timing/times}']),
      ...serverTests([
        'limits/{caller-limits,caller-rates,limits,overrun}',
        'callbacks/{callbacks,statuses}',
      ]),
      'test/protocol/{cors,headers,http-json,json-rpc,wire}.test.ts',
      'test/protocol/{callers,cards}/*.test.ts',
      'packages/telemetry/test/{log,requests,shared-work}.test.ts',
      '!packages/server/test/front/http/body-limit.test.ts',
      '!packages/server/test/webhooks/address-policy/{long-urls,ip-version}.test.ts',
    ],
  },
  'server-tasks': {
    warm: true,
    soFar: 98,
    // It fills the heap of a process of its own, which takes seconds.
    leftOut: `${otherSettings}|larger together than the heap`,
    mutate: [
      ...serverFiles(['operations', 'log'], ['base/{limits,same-json}']),
      '!packages/server/src/operations/{bulk,callbacks,card,erase,fork,recurring}/*.ts',
    ],
    tests: [
      ...serverTests(['operations/{,call/,accept/}*', 'log/**/*', 'base/same-json']),
      ...serverTests([
        'limits/{caller-limits,limits,overrun,reply-bytes,task-size}',
        'base/hooks/*',
        'worker',
      ]),
      ...serverTests(['turns/{cancel-hook,closing,end-of-turn,hasty-turns,later,leases,rerun}']),
      ...serverTests(['turns/{claim/unreadable-tasks,context/*,order/*}', 'scenarios/*', 'agent-server']),
      ...serverTests(['webhooks/{configs/{push-config-operations,repeated-send},delivery,generation}']),
      ...serverTests(['front/calls/*', 'callbacks/{callbacks,statuses}']),
      'test/protocol/{callers/skill-security,cards/cards,headers,wire}.test.ts',
      'test/protocol/tasks/*.test.ts',
      'packages/extensions/test/{scheduling,typed-skills}/*.test.ts',
      'packages/telemetry/test/{requests,shared-work,turns}.test.ts',
      'packages/extensions/test/{generation,state-history}/*.test.ts',
      '!test/protocol/tasks/*.property.test.ts',
    ],
  },
  // What an agent's own work is kept by: memory, steps, retries, callbacks.
  'server-durable': {
    warm: true,
    mutate: serverFiles(
      ['turns/{outside,retries,steps}', 'agent/retries', 'operations/callbacks'],
      ['front/callbacks/callbacks'],
    ),
    tests: [
      ...serverTests(['turns/retries/{memory,retry-policy,step-retries,turn-retries}']),
      ...serverTests(['turns/agent-turn/{idempotency-keys,steps}', 'turns/claim/attempts']),
      ...serverTests([
        'wrong-options',
        'callbacks/{callbacks,statuses}',
        'turns/testing/*',
        'log/write/task-limits',
      ]),
    ],
  },
  // What operators and programs have done to tasks.
  'server-operators': {
    warm: true,
    soFar: 63,
    leftOut: otherSettings,
    mutate: serverFiles(['bulk', 'erase', 'fork', 'recurring'].map((folder) => `operations/${folder}`)),
    tests: serverTests(['operations/{bulk,erase,fork}', 'operations/recurring/*']),
  },
  'server-turns': {
    warm: true,
    soFar: 90,
    leftOut: otherSettings,
    mutate: serverFiles(['turns', 'agent', 'base/{store,timing}'], ['base/linked-list']),
    tests: [
      ...serverTests(['{turns,agent,base/{store,timing}}/**/*', 'scenarios/{later,loss,queue-owners}']),
      ...serverTests(['callbacks/{callbacks,statuses}']),
      'packages/server/test/operations/call/view-for.test.ts',
      'test/protocol/tasks/context.test.ts',
      'packages/telemetry/test/{steps,turns}.test.ts',
      // On a busy machine they see that the event loop was blocked.
      '!packages/server/test/turns/{claim/recovery,stale,turn-event}.test.ts',
      '!packages/server/test/agent/misbehaving-agents.test.ts',
    ],
  },
};
