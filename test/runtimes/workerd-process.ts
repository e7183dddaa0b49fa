import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, run } from '../kit/processes.ts';
import { workerBundle } from './worker-bundle.ts';

const require = createRequire(import.meta.url);
/** The program that miniflare runs. */
const workerd: string = createRequire(require.resolve('miniflare'))('workerd').default;

export interface WorkerdOptions {
  /** The Worker: its place, or its code. */
  readonly module: URL | string;
  /** The classes of its Durable Objects, by the names that they have in its environment. */
  readonly classes: Readonly<Record<string, string>>;
  /** Where it listens on loopback. Default: a port that is free. */
  readonly port?: number;
  /** Texts that the Worker finds in its environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder of the objects' storage, which stays. Default: one that is deleted with the process. */
  readonly disk?: string;
  /** Whether the Worker may import modules of Node.js. */
  readonly node?: boolean;
  /** The classes among them whose objects have no SQLite. */
  readonly withoutSql?: readonly string[];
}

/** Starts workerd, without miniflare around it, so that it can be killed. Resolves once it listens. */
export async function startWorkerd({
  module,
  classes,
  port = 0,
  environment = {},
  disk,
  node = false,
  withoutSql = [],
}: WorkerdOptions): Promise<Command & { readonly url: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-workerd-'));
  const storage = disk ?? join(folder, 'disk');
  mkdirSync(storage, { recursive: true });
  writeFileSync(join(folder, 'worker.mjs'), await workerBundle(module));
  const text = JSON.stringify;
  const bindings = [
    ...Object.entries(classes).map(
      ([name, bound]) => `(name = "${name}", durableObjectNamespace = "${bound}")`,
    ),
    ...Object.entries(environment).map(([name, value]) => `(name = "${name}", text = ${text(value)})`),
  ];
  const config = `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "main", worker = .main),
        (name = "internet", network = (allow = ["private", "public"])),
        (name = "disk", disk = (path = ${text(storage)}, writable = true)),
      ],
      sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
    );
    const main :Workerd.Worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-07-01",
      compatibilityFlags = [${node ? '"nodejs_compat"' : ''}],
      durableObjectNamespaces = [
        ${Object.values(classes)
          .map(
            (name) =>
              `(className = "${name}", uniqueKey = "${name}", enableSql = ${!withoutSql.includes(name)})`,
          )
          .join(', ')}
      ],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [${bindings.join(', ')}],
    );`;
  writeFileSync(join(folder, 'config.capnp'), config);
  const started = run(workerd, ['serve', '--control-fd=1', join(folder, 'config.capnp')]);
  const output = await started.until(/"event":"listen".*"port":\d+/);
  const [, actual] = output.match(/"port":(\d+)/)!;
  return {
    ...started,
    get output() {
      return started.output;
    },
    url: `http://127.0.0.1:${actual}`,
    async [Symbol.asyncDispose]() {
      started.signal('SIGKILL');
      await started.ended;
      rmSync(folder, { recursive: true });
    },
  };
}
