import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createAgentServer, reply } from '@batonjs/server';
import { signTick } from '@batonjs/server/due';
import { postgresStore } from '@batonjs/store-postgres';
import { build } from 'esbuild';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { rpc, say } from '../kit/rpc.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { eventually } from '../kit/until.ts';
import { root } from '../repository/source-files.ts';
import { postgresForTests } from '../support/postgres.ts';
import { lambdaApi } from './lambda-api.ts';

/** The program of the page, as hosts run it that keep no process. */

const postgres = await postgresForTests();
const secret = 'a secret of the deployment';
const configuration = { returnImmediately: true };

/** The page's search, and one that says that it runs, and takes longer for a text. */
const searches = [
  'const search = async (text: string) => [text];',
  `const search = async (text: string) => {
  process.send?.('searching');
  await new Promise((resolve) => setTimeout(resolve, text === 'slow' ? 500 : 0));
  return [text];
};`,
] as const;

/** Answers with the handlers of the page, and says when all that it waits for is over: a host freezes it then. */
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

/** What the runtime of Lambda does around a handler. */
const lambda = `
const api = 'http://' + process.env.AWS_LAMBDA_RUNTIME_API + '/2018-06-01/runtime/invocation/';
for (;;) {
  const next = await fetch(api + 'next');
  const id = next.headers.get('lambda-runtime-aws-request-id');
  const deadline = Number(next.headers.get('lambda-runtime-deadline-ms'));
  const context = { awsRequestId: id, getRemainingTimeInMillis: () => deadline - Date.now() };
  const ended = await next.json().then((event) => handler(event, context)).then(
    (result) => ['/response', result],
    (error) => ['/error', { errorMessage: String(error) }],
  );
  await fetch(api + id + ended[0], { method: 'POST', body: JSON.stringify(ended[1] ?? null) });
}`;

/** Starts the program of the page with a host around it, on a database of the test. */
async function start(around: string, env: Record<string, string>): Promise<ChildProcess> {
  const [page = ''] = codeBlocks('docs/operating/hosts.md');
  expect(page).toContain(searches[0]);
  const outfile = join(temporaryFolder(), 'page.mjs');
  const require = `createRequire(${JSON.stringify(join(root, 'package.json'))})`;
  await build({
    stdin: { contents: page.replace(...searches) + around, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@batonjs/source'],
    external: ['pg-native'],
    banner: { js: `import { createRequire } from 'node:module'; const require = ${require};` },
    logLevel: 'silent',
  });
  const child = fork(outfile, { env: { ...process.env, CRON_SECRET: secret, ...env }, execArgv: [] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

/** The program as a function of Vercel. */
async function startVercel(DATABASE_URL: string) {
  const child = await start(vercel, { DATABASE_URL });
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

/** A database of its own, and a server that looks into it. */
async function prepare() {
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
  const card = { name: 'Report', description: 'Writes reports' };
  const server = closedAfterTest(
    createAgentServer({ card, store, run: 'due', restart: 'rerun', agent: () => reply('') }),
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

describe.skipIf(!postgres)('the program of the page', () => {
  it('answers on Vercel, goes on after the reply, and loses nothing when it is frozen at any point', async () => {
    const { url, stateOf, send } = await prepare();
    const first = await startVercel(url);
    const isIdle = first.said('idle');
    const after = await send(first);
    await isIdle;
    expect(await stateOf(after)).toBe('TASK_STATE_COMPLETED');
    // Frozen at once after a reply, or in the middle of a step.
    const frozen = [];
    const ids = [await send()];
    for (const [point, host] of [
      ['replied', first],
      ['searching', await startVercel(url)],
    ] as const) {
      const isThere = host.said(point);
      ids.push(await send(host, 'slow'));
      await isThere;
      host.child.kill('SIGSTOP');
      frozen.push(host);
    }
    const last = await startVercel(url);
    expect((await last.cron({})).status).toBe(401);
    await eventually(async () => {
      expect((await last.cron(await signTick(secret))).status).toBe(200);
      for (const id of ids) expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED');
    });
    for (const host of frozen) {
      host.child.kill('SIGCONT');
      expect((await host.cron({ authorization: `Bearer ${secret}` })).status).toBe(200);
    }
    for (const id of ids) expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED');
  });

  it('works on Lambda for EventBridge and for SQS, and fails a call without time or store', async () => {
    const { url, stateOf, send, open } = await prepare();
    const api = await lambdaApi();
    await start(lambda, { DATABASE_URL: url, AWS_LAMBDA_RUNTIME_API: api.address });
    const scheduled = {
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      time: '2026-11-29T16:00:00Z',
      resources: ['arn:aws:events:eu-central-1:123456789012:rule/each-minute'],
      detail: {},
    };
    const id = await send();
    expect(await api.invoke(scheduled)).toMatchObject({ result: { turns: 1 } });
    expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED');
    expect(await api.invoke(scheduled)).toEqual({ result: { turns: 0 } });
    const error = { errorMessage: expect.any(String) };
    expect(await api.invoke(scheduled, 1)).toEqual({ error });
    // A message that comes twice. A call that fails brings both again.
    const record = { messageId: randomUUID(), body: 'look', eventSource: 'aws:sqs', attributes: {} };
    const messages = { Records: [record, record] };
    const other = await send();
    await open(false);
    expect(await api.invoke(messages)).toEqual({ error });
    await open(true);
    expect(await api.invoke(messages)).toEqual({ result: { turns: 1 } });
    expect(await stateOf(other)).toBe('TASK_STATE_COMPLETED');
  });
});
