import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Command, freePort, node, run } from '../kit/processes.ts';
import { root } from '../repository/source-files.ts';
import { builtProgram } from './built-program.ts';

/** A sample agent that runs alone, as `pnpm --filter <app> start` would run it, on a port and a database of its own. */
export interface SampleApp {
  readonly url: string;
  /** Kills its process where it stands. */
  kill(): Promise<void>;
  /** Starts it again, at the same place. */
  restart(): Promise<void>;
  /** Its own client, run to its end. */
  converse(): Promise<Command>;
  /** Ends it as Ctrl-C does. Resolves to how it ended. */
  stop(): Promise<number | NodeJS.Signals>;
}

type Environment = Readonly<Record<string, string>>;

/**
 * Runs `apps/<name>` during the tests of the calling file or block, and tests that its own client's conversation
 * succeeds and that the app ends by itself. `env` is added to its environment; a function is called before it starts.
 */
export function sampleApp(name: string, env: Environment | (() => Environment) = {}): SampleApp {
  let app: SampleApp;
  beforeAll(async () => {
    app = await startApp(name, typeof env === 'function' ? env() : env);
  });
  afterAll(async () => {
    expect(await app.stop()).toBe(0);
  });
  it('holds the conversation of its own client', async () => {
    const client = await app.converse();
    expect(await client.ended, client.output).toBe(0);
  });
  return {
    get url() {
      return app.url;
    },
    kill: () => app.kill(),
    restart: () => app.restart(),
    converse: () => app.converse(),
    stop: () => app.stop(),
  };
}

/** Starts `apps/<name>` on a port and a database of its own. */
export async function startApp(name: string, env: Environment): Promise<SampleApp> {
  const cwd = join(root, 'apps', name);
  const data = mkdtempSync(join(tmpdir(), `baton-${name}-`));
  const [main = '', converse = ''] = await Promise.all(
    ['main', 'converse'].map((name) => builtProgram(pathToFileURL(join(cwd, `src/${name}.ts`)))),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = async () => {
    const started = run(node, [main], {
      cwd,
      env: { PORT: String(port), BATON_DATA: data, ...env },
    });
    await started.until(/is at http/);
    return started;
  };
  let server = await start();
  return {
    url,
    async kill() {
      server.signal('SIGKILL');
      await server.ended;
    },
    async restart() {
      server = await start();
    },
    async converse() {
      const client = run(node, [converse, url], { cwd });
      await client.ended;
      return client;
    },
    async stop() {
      server.signal('SIGINT');
      const how = await server.ended;
      rmSync(data, { recursive: true });
      return how;
    },
  };
}
