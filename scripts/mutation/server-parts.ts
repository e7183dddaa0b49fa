import type { Part } from './part.ts';

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

/** The parts of the server besides its webhooks. */
export const partsOfServer: Readonly<Record<string, Part>> = {
  // The rest of the server, by folder. What needs other processes, or takes seconds, is left out.
  'server-http': {
    warm: true,
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
    // It fills the heap of a process of its own, which takes seconds.
    leftOut: `${otherSettings}|larger together than the heap`,
    mutate: [
      ...serverFiles(['operations', 'log'], ['base/limits']),
      '!packages/server/src/operations/{callbacks,card,recurring}/*.ts',
    ],
    tests: [
      ...serverTests(['operations/{,call/,accept/}*', 'log/**/*']),
      ...serverTests([
        'limits/{caller-limits,limits,overrun,reply-bytes,task-size}',
        'base/hooks/*',
        'worker',
      ]),
      ...serverTests(['turns/{cancel-hook,closing,end-of-turn,immediate-wakes,later,leases,rerun}']),
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
    mutate: [
      ...serverFiles(
        ['turns/{outside,retries,steps}', 'agent/retries', 'operations/callbacks'],
        ['front/callbacks/callbacks'],
      ),
      '!packages/server/src/turns/steps/{budgets,day-usage}.ts',
    ],
    tests: [
      ...serverTests(['turns/retries/{memory,retry-policy,step-retries,turn-retries}']),
      ...serverTests(['turns/agent-turn/{idempotency-keys,steps}', 'turns/claim/attempts']),
      ...serverTests(['wrong-options', 'callbacks/{callbacks,statuses}', 'log/write/task-limits']),
      'packages/testing/test/*.test.ts',
    ],
  },
  // What models use and cost: of a task, its children, a context and a day.
  'server-usage': {
    warm: true,
    mutate: [
      'packages/server/src/turns/steps/{budgets,day-usage}.ts',
      'packages/lifecycle/src/facts/costs.ts',
      'packages/extensions/src/task-usage/*.ts',
    ],
    tests: [
      ...serverTests(['turns/agent-turn/{usage,day-usage}', 'operations/call/view-for']),
      'packages/extensions/test/task-usage/*.test.ts',
    ],
  },
  // Files, and uploads that go on.
  'server-files': {
    warm: true,
    mutate: [
      ...serverFiles(['turns/files', 'front/files']),
      'packages/store/src/bucket-files.ts',
      'packages/server-node/src/{folder,s3}-files.ts',
    ],
    tests: [
      ...serverTests(['files/{files,resumable,routes,s3,sweep}']),
      'packages/server-node/test/{folder,s3}-files.test.ts',
    ],
  },
  // Runs of hosts that keep no process, and who calls them.
  'server-due': {
    mutate: ['front/due', 'operations/recurring/run-due', 'turns/steps/run-limit'].map(
      (name) => `packages/server/src/${name}.ts`,
    ),
    tests: [...serverTests(['due/*'])],
  },
  // What A2A 1.1 and catalogs of agents add.
  'server-preview': {
    mutate: [
      ...serverFiles(['log/generation'], ['front/http/catalog']),
      'packages/client/src/card/catalog.ts',
      'packages/extensions/src/generation/*.ts',
    ],
    tests: [
      ...serverTests(['front/http/catalog', 'webhooks/generation']),
      'packages/client/test/card/catalog.test.ts',
      'packages/extensions/test/generation/*.test.ts',
      'test/preview/*.test.ts',
    ],
  },
  // Pages for people who answer.
  'server-pages': {
    mutate: serverFiles([], ['front/pages/answer-page', 'base/page-words']),
    tests: serverTests(['front/pages/answer-page', 'callbacks/{answer-links,people}']),
  },
  // What operators and programs have done to tasks.
  'server-operators': {
    warm: true,
    leftOut: otherSettings,
    mutate: [...serverFiles(['operations/recurring']), 'packages/operator/src/**/*.ts'],
    tests: [...serverTests(['operations/recurring/*']), 'packages/operator/test/*.test.ts'],
  },
  'server-turns': {
    warm: true,
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
      // It kills other processes, in which nothing is mutated.
      '!packages/server/test/turns/retries/killed.test.ts',
    ],
  },
};
