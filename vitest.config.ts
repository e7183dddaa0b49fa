import { defineConfig } from 'vitest/config';
import { orderOf } from './test/support/shared-process/order.ts';
import { ONE_PROCESS } from './test/support/shared-process/sharing.ts';

// Tests run on the sources, so that no build stands between an edit and its test.
const conditions = ['@batonjs/source', 'module', 'node', 'development|production'];

/**
 * Tests that need a process of their own: they set something for the whole process, or measure how its CPU time grows. All
 * others share one process for each worker: half of their CPU time was loading the sources again for each file.
 */
const alone = [
  'test/language-models/*.test.ts',
  'apps/{boat-designer,currency,expense-agent}/test/agent.test.ts',
  'packages/bindings-grpc/test/leaving.test.ts',
  'packages/bindings-websocket/test/{client-timers,timers}.test.ts',
  'packages/bindings/test/json-body.test.ts',
  'packages/cli/test/deployment.test.ts',
  'packages/inspector/test/{activity,links,http/timers,timeline/idle-recording}.test.ts',
  'packages/mcp/test/http/keep-alive.test.ts',
  'packages/react/test/{feed,list-feed,pause}.test.ts',
  'packages/server/test/webhooks/address-policy/**/*.test.ts',
  'packages/server/test/webhooks/configs/hostile-webhooks.test.ts',
  'packages/server/test/base/timing/sleep.test.ts',
  'packages/store-sqlite/test/notifications/sweep.test.ts',
  'packages/store-sqlite/test/tasks/read-slices.test.ts',
  'packages/store/test/{database-clock,steady-now}.test.ts',
  'packages/telemetry/test/**/*.test.ts',
  'packages/transactions/test/turns/patience.test.ts',
  'test/frameworks/recipes.test.ts',
  'test/secrets/server.test.ts',
];

/** Mostly child processes. They start first, in this order: a long one at the end would leave a core idle. */
const longest = [
  'packages/nested-tasks/test/killed/killed.test.ts',
  'packages/server/test/turns/retries/step-retries.test.ts',
  'packages/store-{etcd,postgres,sqlite}/test/conformance.test.ts',
  'test/commands/{chaos,gateway-chaos,start,upgrade}.test.ts',
  'test/{memory,runtimes}/**/*.test.ts',
  'test/stores/*-scenarios.test.ts',
];

/** More that take long. One of them at the end would leave a core idle, too. */
const long = [
  'apps/{gallery,sample-store,trip-planner,two-servers}/test/*.test.ts',
  'packages/bindings-websocket/test/{lifetime,processes}.test.ts',
  'packages/inspector/test/{app,performance}.test.ts',
  'packages/server/test/{webhooks/killed,scenarios/*,turns/claim/recovery}.test.ts',
  'packages/store-{etcd,postgres,redis}/test/**/{conformance,failures,faults}.test.ts',
  'packages/store-conformance/test/broken-task-stores.test.ts',
  'test/{commands,stores}/*.test.ts',
  'test/documents/tutorial.test.ts',
  'test/frameworks/recipes.test.ts',
  'test/later/later.test.ts',
];

/**
 * Tests of sources that Vite loads: with JSX, of which Node.js strips no types; and one of what V8 promotes for each request
 * over HTTP: 4,300 bytes with modules of Vite, 11,700 with those of Node.js. These are of Vitest's workers, and not of what
 * users run: in a process of Node.js without Vitest, with sources and with `dist` alike, it is 1,200.
 */
const throughVite = [
  'packages/react/test/{chat,hooks}.test.ts',
  'packages/server-node/test/die-young.test.ts',
];

/**
 * Node.js loads the sources itself, types stripped, as it does in the processes that tests start: they share what is compiled.
 * Most of what a test makes is gone soon: with more room for what is young, less of it is copied. Threads and other runtimes,
 * which name their pool, take no such flags.
 */
const namesPool = process.argv.some((argument) => argument.startsWith('--pool'));
const ofNode = { experimental: { viteModuleRunner: namesPool, nodeLoader: false } };
const flags = ['--conditions=@batonjs/source', '--max-semi-space-size=64'];

/** These compile programs, which takes long: a part of `check:static`, with `--mode static`. */
const compiling = {
  extends: true,
  test: { name: 'compiled', include: ['test/static/*.test.ts'], ...ofNode },
};

/**
 * Whole programs: many kills, clusters, other runtimes, pages in a browser, the first start of a clone. They take a third of the
 * time of all: a run of their own, `--mode programs`. `test` kills processes and opens pages too, once or twice for each thing.
 */
const programs = [
  'apps/chat/test/chat.test.ts',
  'apps/gallery/test/inspector.test.ts',
  'apps/trip-planner/test/end-to-end.test.ts',
  'apps/two-servers/test/end-to-end.test.ts',
  'packages/bindings-websocket/test/{load,processes}.test.ts',
  'packages/cli/test/{bridge/mcp,dev,dev-mcp,outside,shared-options,store/copy}.test.ts',
  'packages/inspector/test/{app,models-page,operator,performance,reader,stranger,truths,waiting}.test.ts',
  'packages/mcp/test/tasks/killed/host.test.ts',
  'packages/nested-tasks/test/killed/killed.test.ts',
  'packages/server/test/{bare/worker-alive,webhooks/killed}.test.ts',
  'packages/store-etcd/test/{buckets,conformance,failures,security}.test.ts',
  'packages/store-postgres/test/{pgbouncer,pglite}.test.ts',
  'packages/store-redis/test/{connection/faults,database/cluster,valkey}.test.ts',
  'packages/store-sqlite/test/object/conformance.test.ts',
  'test/browser/access.test.ts',
  'test/closing/alive.test.ts',
  'test/commands/{chaos,drain,file-kills,fuzz,gateway-chaos,leader-kills,ledger,start,upgrade,usage-kills}.test.ts',
  'test/documents/{chat,page-settings}.test.ts',
  'test/proxies/configurations.test.ts',
  'test/interop/tus.test.ts',
  'test/later/{budgets,recurring,versions,without-process}.test.ts',
  'test/stores/{backup,outage-lines,redis-lost-past,rights}.test.ts',
  'test/{memory,runtimes}/**/*.test.ts',
];

/** Many files in each process. */
const inOneProcess = (include: readonly string[], exclude: readonly string[]) => ({
  extends: true,
  test: {
    name: 'in one process',
    include: [...include],
    exclude: [...exclude, ...compiling.test.include, '**/node_modules/**'],
    isolate: false,
    ...ofNode,
    env: { [ONE_PROCESS]: 'true' },
  },
});

const everywhere = ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts'];
const elsewhere = [...alone, ...throughVite, 'test/{frameworks,language-models}/large/**'];
const ownProcesses = [
  { extends: true, test: { name: 'alone', include: alone, ...ofNode } },
  { extends: true, test: { name: 'through Vite', include: throughVite } },
];

/** Whether the command names files or folders: those run, also if they belong to another mode. */
const namesFiles = process.argv.slice(3).some((argument) => /^(\.\/)?(test|packages|apps)\//.test(argument));

/** What a run is made of, by its `--mode`. `long` has all but what compiles programs. */
const projectsOf = (mode: string) => {
  if (mode === 'static') return [compiling];
  if (mode === 'programs') return [inOneProcess(programs, [])];
  const isWhole = mode === 'long' || namesFiles;
  return [inOneProcess(everywhere, isWhole ? elsewhere : [...elsewhere, ...programs]), ...ownProcesses];
};

export default defineConfig(({ mode }) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: projectsOf(mode),
    sequence: { sequencer: orderOf(longest, long) },
    // Much of what is tested waits for other processes: as many files as cores would leave a core idle.
    maxWorkers: 5,
    execArgv: namesPool ? [] : flags,
    globalSetup: ['test/support/say-what-is-missing.ts', 'test/support/compile-once.ts'],
    setupFiles: ['test/support/patience.ts', 'test/support/shared-process/check.ts'],
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
}));
