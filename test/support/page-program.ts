import { createServer } from 'node:http';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import type { AgentServer, AgentServerOptions } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { onTestFinished } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { root } from '../repository/source-files.ts';

/** How the programs of pages run. */
export interface Setting {
  /** Replace what a program says of its server and its worker. */
  readonly more?: Partial<AgentServerOptions>;
  /** Are for a program that says nothing of them. */
  readonly usual?: Partial<AgentServerOptions>;
  /** Whether a worker with a store of its own on the same file runs the turns. */
  readonly worker?: boolean;
  /** The port on which the program listens. */
  readonly port: number;
  /** Where clients reach that port, if not there: the origin of a proxy. */
  readonly proxy?: string | undefined;
}

/** What a program needs that its page does not show. */
export interface Surroundings {
  /** The values of the names that the program declares, or has from Node.js. */
  readonly named?: Readonly<Record<string, unknown>>;
  /** Members of modules that it imports. */
  readonly modules?: Readonly<Record<string, object>>;
  /** Texts of the program, and what stands there instead. */
  readonly replaced?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The path at which the program serves its agent, unless its `publicUrl` has one. */
  readonly path?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: what a page exports, or a module, those know who use it
type Exported = Record<string, any>;

export interface Running {
  /** Where the agent is. */
  readonly url: string;
  readonly exported: Exported;
  /** What was logged as an error. */
  readonly faults: readonly unknown[];
}

type Options = Partial<AgentServerOptions> & Pick<AgentServerOptions, 'agent' | 'store'>;

/**
 * Runs a program of a page in this process until the test ends, with SQLite where it names a database and the port of the
 * setting where it names one. Where it serves its agent nowhere, or has only a worker, this adds the rest.
 */
export async function runProgram(code: string, setting: Setting, given: Surroundings): Promise<Running> {
  const { more, usual, worker = false, port, proxy } = setting;
  const { named = {}, modules = {}, replaced = {}, env = {}, headers = {}, path = '' } = given;
  const origin = proxy ?? `http://127.0.0.1:${port}`;
  const servesItself = /\blisten\(|export const app\b/.test(code);
  const file = join(temporaryFolder(), 'tasks.db');
  const faults: unknown[] = [];
  const servers: AgentServer[] = [];
  const exported: Exported = {};
  let url = origin + path;
  let ofWorker: Options | undefined;

  const { createAgentServer } = await import('@batonjs/server');
  const { createWorker } = await import('@batonjs/server/worker');
  const openStore = () => {
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    return store;
  };
  const logger = (level: string, message: string, details?: unknown) => {
    if (level === 'error') faults.push([message, details]);
  };
  const complete = (options: Options) => {
    const { publicUrl, callbacks } = options;
    const moved = (address: string) => origin + new URL(address).pathname;
    if (publicUrl) url = moved(publicUrl);
    const all = { logger, ...(proxy && { publicUrl: url }), ...usual, ...options, ...more };
    if (publicUrl) all.publicUrl = url;
    if (typeof callbacks === 'object' && callbacks.url)
      all.callbacks = { ...callbacks, url: moved(callbacks.url) };
    return all;
  };
  const startServer = (options: AgentServerOptions) => {
    const all = { ...complete(options), card: options.card };
    if (worker && !all.run) {
      all.run = 'workers';
      closedAfterTest(createWorker({ ...all, store: openStore() }));
    }
    const server = closedAfterTest(createAgentServer(all));
    servers.push(server);
    if (!servesItself && servers.length === 1) {
      const http = createServer(nodeHandler(server, { path: new URL(url).pathname })).listen(
        port,
        '127.0.0.1',
      );
      onTestFinished(() => http.close().closeAllConnections());
    }
    return server;
  };
  const database = () => openStore();
  const closed = (promise: Promise<{ close(): Promise<void> }>) =>
    promise.then((opened) => closedAfterTest(opened));
  const ours: Record<string, (real: Exported) => object> = {
    '@batonjs/server': () => ({ createAgentServer: startServer }),
    '@batonjs/server/worker': () => ({
      createWorker(options: Options) {
        ofWorker = complete(options);
        return closedAfterTest(createWorker(ofWorker));
      },
    }),
    '@batonjs/server-node': (real) => ({
      listen: (server: AgentServer, options: object) => closed(real.listen(server, options)),
      folderFiles: () => real.folderFiles(`${file}.files`),
      listenProbes: (of: object, options: object) => closed(real.listenProbes(of, { ...options, port: 0 })),
    }),
    '@batonjs/bindings-grpc': (real) => ({
      listenGrpc: (server: object, options: object) =>
        closed(real.listenGrpc(server, { ...options, port: 0 })),
    }),
    '@batonjs/client': () => ({
      connect: (where: string, options: object) => connect(where, { headers, ...options }),
    }),
    '@batonjs/store-memory': () => (worker ? { memoryStore: database } : {}),
    '@batonjs/store-sqlite': () => ({ sqliteStore: database }),
    '@batonjs/store-redis': () => ({ redisStore: database }),
    '@batonjs/store-postgres': () => ({ postgresStore: database }),
    express: ({ default: express }) => ({
      default() {
        const app = express();
        const listen = app.listen.bind(app);
        app.listen = (...where: unknown[]) => {
          const http = listen(...where);
          onTestFinished(() => http.close().closeAllConnections());
          return http;
        };
        return app;
      },
    }),
  };
  const load = async (name: string) => {
    const real = await import(name).catch(() => ofFrameworks(name));
    return { ...real, ...ours[name]?.(real), ...modules[name] };
  };
  for (const role of code.includes('process.env.ROLE') ? ['worker', 'server'] : [''])
    await execute(code.replaceAll(/\b(3000|4000|9999)\b/g, String(port)), replaced, {
      load,
      exported,
      console: { log: () => {}, error: (...error: unknown[]) => faults.push(error) },
      process: { env: { ...env, ROLE: role }, pid: process.pid, once: () => {} },
      fetch,
      ...named,
    });
  if (servers.length === 0 && ofWorker) {
    const { callbacks } = ofWorker;
    const publicUrl = typeof callbacks === 'object' ? callbacks.url : url;
    const card = { name: 'Agent', description: 'Of the worker' };
    startServer({ ...ofWorker, card, run: 'workers', store: openStore(), callbacks: !!callbacks, publicUrl });
  }
  const { app } = exported;
  if (app) {
    const http = await app.listen(port, '127.0.0.1');
    onTestFinished(() => http.close().closeAllConnections?.());
  }
  return { url, exported, faults };
}

const AsyncFunction = (async () => {}).constructor as new (
  ...names: string[]
) => (...values: unknown[]) => Promise<void>;

/** Runs the code of a module as the body of a function that has these values. */
function execute(
  code: string,
  replaced: Readonly<Record<string, string>>,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  let program = stripTypeScriptTypes(code)
    .replaceAll(/^import \{([^}]+)\} from ('.+');$/gm, (_, names: string, from: string) => {
      return `const {${names.replaceAll(' as ', ': ')}} = await load(${from});`;
    })
    .replaceAll(/^import (\w+) from ('.+');$/gm, 'const { default: $1 } = await load($2);')
    .replaceAll(/^export const (\w+) =/gm, 'const $1 = exported.$1 =')
    .replaceAll(/^export \{.+\};$/gm, '');
  for (const [from, to] of Object.entries(replaced)) {
    if (!program.includes(from)) throw new Error(`The program has no ${from}`);
    program = program.replaceAll(from, to);
  }
  return new AsyncFunction(...Object.keys(values), `{${program}\n}`)(...Object.values(values));
}

/** What only the recipes of frameworks need is installed for their tests. */
const ofFrameworks = (name: string): object =>
  createRequire(join(root, 'test/frameworks/package.json'))(name);
