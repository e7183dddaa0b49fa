import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { connect, textOf } from '@batonjs/client';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { token } from '../../packages/auth/test/callers/tokens.ts';
import { newKey, serveKeys } from '../../packages/auth/test/keys/sample-keys.ts';
import { look, submit } from '../../packages/server/test/callbacks/asking-agent.ts';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { listen } from '../kit/listen.ts';
import { type Command, freePort, node, run } from '../kit/processes.ts';
import { postgresForTests } from '../support/postgres.ts';

const names = ['agent.ts', 'books.ts', 'shared.ts', 'server.ts', 'worker.ts'];
const folder = import.meta.dirname;
const postgres = await postgresForTests();

it('docs/start/product.md shows the programs that are run', () => {
  const programs = names.map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(codeBlocks('docs/start/product.md')).toEqual(programs);
});

/** A server of somebody else: what it gets, and what it answers. */
async function elsewhere(answer: (body: string, count: number) => { status?: number; body?: string }) {
  const got: string[] = [];
  const http = createServer(async (request, response) => {
    let text = '';
    for await (const bytes of request) text += bytes;
    got.push(text);
    const { status = 200, body = '' } = answer(text, got.length);
    response.writeHead(status, { 'content-type': 'text/event-stream' }).end(body);
  });
  return { got, url: await listen(http) };
}

/** A model with the API of OpenAI: it pays, and says so once it is told that it has. */
const modelled = (asked: string) => {
  const call = {
    index: 0,
    id: 'call-1',
    type: 'function',
    function: { name: 'pay', arguments: '{"number":"7"}' },
  };
  const isDone = asked.includes('"role":"tool"');
  const delta = isDone ? { content: 'Invoice 7 is paid.' } : { tool_calls: [call] };
  const finish_reason = isDone ? 'stop' : 'tool_calls';
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`;
  return {
    body: `${chunk({ delta: { role: 'assistant', ...delta } })}${chunk({ delta: {}, finish_reason })}data: [DONE]\n\n`,
  };
};

async function database(): Promise<string> {
  const url = new URL(postgres!.url);
  const name = `product_${process.pid}`;
  const admin = async (query: string) => {
    const client = new Client({ connectionString: postgres!.url });
    await client.connect();
    await client.query(query).finally(() => client.end());
  };
  await admin(`CREATE DATABASE ${name}`);
  onTestFinished(() => admin(`DROP DATABASE ${name} WITH (FORCE)`));
  url.pathname = `/${name}`;
  return url.href;
}

describe.skipIf(!postgres)('one product, whole', { timeout: 180_000 }, () => {
  it('pays what a person allowed by a link, tells a webhook, reports each night, and shows who asked', async () => {
    const DATABASE_URL = await database();
    const key = newKey('k-1');
    const [bank, mail, hook, model] = await Promise.all([
      elsewhere((_, count) => ({ status: count === 1 ? 503 : 200 })),
      elsewhere(() => ({})),
      elsewhere(() => ({})),
      elsewhere(modelled),
    ]);
    const ports = [await freePort(), await freePort()];
    const PUBLIC_URL = `http://127.0.0.1:${ports[0]}`;
    const env = {
      ...{
        DATABASE_URL,
        PUBLIC_URL,
        SHOP_KEY: 'shop-0123456789abcdef',
        REPORT_KEY: 'report-0123456789abcdef',
      },
      ...{ BANK_URL: bank.url, MAIL_URL: mail.url, MODEL_URL: model.url.replace(/\/$/, '') },
      ...{ ISSUER: 'https://id.example', JWKS_URL: (await serveKeys(key)).url, REPORT_CRON: '* * * * * *' },
      ...{ METRICS_TOKEN: 'metrics-0123456789', WEBHOOK_HOSTS: '127.0.0.1:*' },
      NODE_OPTIONS: '--conditions=@batonjs/source --disable-warning=ExperimentalWarning',
    };
    const start = (name: string, PORT = ''): Command => {
      const command = run(node, [join(folder, name)], { env: { ...env, PORT } });
      onTestFinished(() => command[Symbol.asyncDispose]());
      return command;
    };
    const processes = [...ports.map((port) => start('server.ts', `${port}`)), start('worker.ts')];
    await Promise.all(processes.map((each) => each.until(/listens|works/)));

    const shop = await connect(`${PUBLIC_URL}/agent`, { headers: { 'X-API-Key': env.SHOP_KEY } });
    const { task } = await shop.send('Pay invoice 7', {
      returnImmediately: true,
      configuration: { taskPushNotificationConfig: { url: hook.url, token: 'token-of-the-hook' } },
    });
    await expect.poll(() => mail.got).toEqual([expect.stringContaining('To ana@shop.example')]);
    const link = /https?:\S+/.exec(mail.got[0]!)![0];
    const asked = await look(globalThis, link);
    expect(asked.text).toContain('pay');
    const field = /name="([^"]+)" value="\d"/.exec(asked.text)![1]!;
    expect((await submit(globalThis, link, asked, { [field]: '0' })).text).toContain('Thank you');
    // The second server knows the task, too.
    const other = await fetch(`http://127.0.0.1:${ports[1]}/agent/tasks/${task!.id}`, {
      headers: { 'X-API-Key': env.SHOP_KEY, 'A2A-Version': '1.0' },
    });
    expect(other.status).toBe(200);
    const ended = await shop.follow(task!.id).result();
    expect(ended.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(ended.task?.artifacts?.at(-1))).toBe('Invoice 7 is paid.');
    // The bank was down once.
    expect(bank.got).toHaveLength(2);
    expect(await (await fetch(`${PUBLIC_URL}/invoices/7`)).json()).toMatchObject({ paid: true });
    await expect.poll(() => hook.got.some((text) => text.includes('TASK_STATE_COMPLETED'))).toBe(true);

    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: env.ISSUER, aud: PUBLIC_URL, sub: 'bob', iat: now, exp: now + 600 };
    const headers = { authorization: `Bearer ${await token(claims, key)}` };
    const bob = await connect(`${PUBLIC_URL}/agent`, { headers });
    expect((await bob.listTasks()).tasks).toEqual([]);
    expect((await shop.listTasks({ labels: ['from:shop'] })).tasks).toHaveLength(1);

    const reports = await connect(`${PUBLIC_URL}/agent`, { headers: { 'X-API-Key': env.REPORT_KEY } });
    await expect
      .poll(async () => {
        const { tasks } = await reports.listTasks({ includeArtifacts: true });
        return tasks.flatMap(({ artifacts = [] }) => artifacts.map(textOf)).join();
      })
      .toMatch(/^\d{4}-\d\d-\d\d: 7/);
    const metrics = await fetch(`${PUBLIC_URL}/metrics`, {
      headers: { authorization: `Bearer ${env.METRICS_TOKEN}` },
    });
    expect(await metrics.text()).toContain('baton_turns_waiting');
    for (const each of processes) each.signal('SIGTERM');
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  });
});
