import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createAgentServer, reply } from '@batonjs/server';
import { postgresStore } from '@batonjs/store-postgres';
import { build } from 'esbuild';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { closedAfterTest } from '../../kit/closed-after-test.ts';
import { rpc, say } from '../../kit/rpc.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';
import { root } from '../../repository/source-files.ts';
import { postgresForTests } from '../../support/postgres.ts';

/** Programs as hosts run them that keep no process, on a database of the test. */

export const postgres = await postgresForTests();
export const secret = 'a secret of the deployment';
const configuration = { returnImmediately: true };

/** Answers with the handlers `answer` and `cron` of a program, and says when all that it waits for is over: a host freezes it then. */
const vercel = `
import { createServer } from 'node:http';
createServer(async (incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const body = method === 'POST' ? Buffer.concat(await incoming.toArray()) : undefined;
  const request = new Request('https://report.example' + url, { method, headers, body });
  const works = [];
  const response = url === '/cron' ? await cron(request) : await answer(request, (work) => works.push(work));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
  process.send('replied');
  await Promise.all(works);
  process.send('idle');
}).listen(0, '127.0.0.1', function () { process.send(this.address()); });`;

/** A program, and the folder that its imports count from. Default: that of the repository. */
interface Program {
  readonly code: string;
  readonly folder?: string;
}

async function bundled({ code, folder = root }: Program): Promise<string> {
  const outfile = join(temporaryFolder(), 'program.mjs');
  const require = `createRequire(${JSON.stringify(join(root, 'package.json'))})`;
  await build({
    stdin: { contents: code, resolveDir: folder, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@batonjs/source'],
    external: ['pg-native'],
    banner: { js: `import { createRequire } from 'node:module'; const require = ${require};` },
    logLevel: 'silent',
  });
  return outfile;
}

function start(file: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  const options = { env: { ...process.env, CRON_SECRET: secret, ...env }, execArgv: [] };
  const child = fork(file, args, options);
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

/** The program as a function of Lambda, whose handler has this name. */
export async function startLambda(program: Program, handler: string, env: Record<string, string>) {
  return start(join(import.meta.dirname, 'lambda-runtime.ts'), [await bundled(program), handler], env);
}

/** The program as a function of Vercel. */
export async function startVercel({ code, folder }: Program, DATABASE_URL: string) {
  const file = await bundled({ code: code + vercel, ...(folder && { folder }) });
  const child = start(file, [], { DATABASE_URL });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const origin = `http://127.0.0.1:${port}`;
  return {
    child,
    /** Resolves when it says so for the first time from now on. */
    said: (what: string) =>
      new Promise<void>((resolve) => child.on('message', (message) => message === what && resolve())),
    cron: (headers: Record<string, string>) => fetch(`${origin}/cron`, { method: 'POST', headers }),
    async fetch(request: Request) {
      const { method, headers } = request;
      return fetch(origin, { method, headers, body: await request.text() });
    },
  };
}

/** A database of its own, and a server that looks into it. `agent`: whose tasks are there. */
export async function prepare(agent?: { readonly name: string; readonly title: string }) {
  const name = `hosts_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client({ connectionString: postgres!.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(postgres!.url), { pathname: name }).href;
  const store = postgresStore(url, { notify: false, connections: 1 });
  onTestFinished(async () => {
    await store.close();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  });
  const named = agent && { name: agent.name };
  const card = { name: agent?.title ?? 'Report', description: 'Writes reports' };
  const server = closedAfterTest(
    createAgentServer({ ...named, card, store, run: 'due', restart: 'rerun', agent: () => reply('') }),
  );
  return {
    url,
    stateOf: async (id: string): Promise<string> => (await rpc(server, 'GetTask', { id })).status.state,
    send: async (to: Parameters<typeof rpc>[0] = server, text = 'rivers'): Promise<string> =>
      (await rpc(to, 'SendMessage', { message: say(text), configuration })).task.id,
    /** Whether the database can be reached. */
    async open(isOpen: boolean) {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isOpen}`);
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    },
  };
}
