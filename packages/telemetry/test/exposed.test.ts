import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { completed, failed, inputRequired, working } from '@batonjs/server';
import { createWorker } from '@batonjs/server/worker';
import { memoryStore } from '@batonjs/store-memory';
import { metricsHandler, telemetry } from '@batonjs/telemetry';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { observed } from './observed.ts';

const token = 'sixteen-characters-or-more';

async function read(handler: ReturnType<typeof metricsHandler>, accept?: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, ...(accept && { accept }) };
  const response = await handler.fetch(new Request('http://127.0.0.1/metrics', { headers }));
  expect(response.status).toBe(200);
  return response.text();
}

/** The samples of a metric, by their labels. */
const samples = (text: string, name: string): Record<string, number> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .map((line) => [
        line.slice(name.length, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' '))),
      ]),
  );

/** An agent that asks, fails, or completes, as it is told. */
async function* told({ text }: { text: string }) {
  yield working();
  if (text === 'ask') yield inputRequired('How many?');
  else if (text.startsWith('fail')) yield failed({ code: text.slice(5), message: 'canary-7' });
  else yield completed();
}

describe('metrics without an SDK', () => {
  it('count the tasks whose turn waits for a version that no process runs', async () => {
    const store = memoryStore();
    const begin = (version: string, options: object = {}) =>
      serve(
        async function* () {
          yield working();
          await new Promise(() => {});
        },
        { store, version: { name: version, deploys: 'pinned' }, restart: 'rerun', ...options },
      );
    const old = begin('v1');
    const configuration = { returnImmediately: true };
    await Promise.all(
      ['one', 'two'].map((text) => rpc(old, 'SendMessage', { message: say(text), configuration })),
    );
    await vi.waitFor(() => expect(old.load.turns).toBe(2));
    await old.close({ graceMs: 0 });
    const server = begin('v2', { telemetry: telemetry({ expose: true }) });
    const handler = metricsHandler(server, { token });
    await vi.waitFor(
      async () => {
        const text = await read(handler);
        expect(samples(text, 'baton_tasks_unserved')).toEqual({ '{baton_queue="agent"}': 2 });
        expect(samples(text, 'baton_versions_unserved')).toEqual({ '{baton_queue="agent"}': 1 });
      },
      { timeout: 30_000, interval: 250 },
    );
  });

  it('count what the process did, and begin at zero', async () => {
    const server = serve(told, { name: 'a"b\\c', telemetry: telemetry({ expose: true }) });
    const handler = metricsHandler(server, { token });
    const before = await read(handler);
    expect(samples(before, 'baton_tasks_created_total')).toEqual({ '': 0 });
    expect(samples(before, 'baton_tasks_ended_total')).toMatchObject({
      '{a2a_task_state="TASK_STATE_FAILED"}': 0,
    });
    for (const text of ['go', 'ask', 'fail NO_FUNDS'])
      await rpc(server, 'SendMessage', { message: say(text) });
    const text = await read(handler);
    expect(samples(text, 'baton_tasks_created_total')).toEqual({ '': 3 });
    expect(samples(text, 'baton_tasks_failed_total')).toEqual({ '{error_type="NO_FUNDS"}': 1 });
    const queue = 'baton_queue="a\\"b\\\\c"';
    expect(samples(text, 'baton_ready')).toEqual({ [`{${queue}}`]: 1 });
    expect(samples(text, 'baton_turns_limit')).toEqual({ [`{${queue}}`]: 1_000 });
    expect(samples(text, 'baton_turn_duration_seconds_count')).toMatchObject({
      '{a2a_task_state="TASK_STATE_COMPLETED",baton_turn_cause="message"}': 1,
    });
    const commits = samples(text, 'baton_store_operation_duration_seconds_bucket');
    const last = '{baton_store_operation="commit",db_system_name="memory",le="+Inf"}';
    expect(commits[last]).toBeGreaterThan(8);
    expect(text).not.toContain('canary-7');
  });

  it('say how much waits in the queue, whichever process is asked', async () => {
    const store = memoryStore();
    const shared = telemetry({ expose: true });
    const server = serve(told, { name: 'q', store, run: 'workers', telemetry: shared });
    const now = { returnImmediately: true };
    await rpc(server, 'SendMessage', { message: say('ask'), configuration: now });
    const handler = metricsHandler(server, { token });
    const waiting = samples(await read(handler), 'baton_turns_waiting');
    expect(waiting).toEqual({ '{baton_queue="q"}': 1 });
    const elsewhere = telemetry({ expose: true });
    const worker = createWorker({ agent: told, name: 'q', store, telemetry: elsewhere });
    onTestFinished(() => worker.close());
    // A process measures at most every five seconds: another one has not yet.
    await vi.waitFor(async () => {
      const seen = telemetry({ expose: true });
      const fresh = createWorker({ agent: told, name: 'q', store, limits: { turns: 1 }, telemetry: seen });
      try {
        const text = await read(metricsHandler(fresh, { token }));
        expect(samples(text, 'baton_questions_open')).toMatchObject({
          '{a2a_task_state="TASK_STATE_INPUT_REQUIRED",baton_queue="q"}': 1,
        });
        expect(samples(text, 'baton_turns_waiting')).toEqual({ '{baton_queue="q"}': 0 });
      } finally {
        await fresh.close();
      }
    });
  });

  it('leave out what the store cannot tell now, and say why the process is not ready', async () => {
    const broken = { ...memoryStore(), measure: () => Promise.reject(new Error('canary-8')) };
    const server = serve(told, { name: 'q', store: broken, telemetry: telemetry({ expose: true }) });
    const handler = metricsHandler(server, { token });
    const text = await read(handler);
    expect(samples(text, 'baton_turns_waiting')).toEqual({});
    expect(samples(text, 'baton_turns_running')).toEqual({ '{baton_queue="q"}': 0 });
    expect(text).not.toContain('canary-8');
    await server.close();
    // A process that has closed is shown no more.
    expect(samples(await read(handler), 'baton_ready')).toEqual({});
  });

  it('show a process that drains as not ready while a turn runs', async () => {
    const held = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        yield working();
        await held.promise;
        yield completed();
      },
      { name: 'q', telemetry: telemetry({ expose: true }) },
    );
    const handler = metricsHandler(server, { token });
    await rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } });
    await vi.waitFor(async () => expect(server.load.turns).toBe(1));
    const closed = server.close({ graceMs: 60_000 });
    const text = await read(handler);
    expect(samples(text, 'baton_ready')).toEqual({ '{baton_queue="q",baton_reason="closing"}': 0 });
    expect(samples(text, 'baton_turns_running')).toEqual({ '{baton_queue="q"}': 1 });
    held.resolve();
    await closed;
  });

  it('have a bounded number of series, whatever codes an agent chooses', async () => {
    const made = telemetry({ expose: true });
    const server = serve(told, { telemetry: made });
    for (let n = 0; n < 1_000; n++) made.transition('TASK_STATE_WORKING', 'TASK_STATE_FAILED', `CODE_${n}`);
    const series = samples(await read(metricsHandler(server, { token })), 'baton_tasks_failed_total');
    expect(Object.keys(series).length).toBe(201);
    expect(series['{otel_metric_overflow="true"}']).toBe(800);
  });

  it('have the names that an SDK gives a collector, and both count at once', async () => {
    const { providers, metrics } = observed();
    const server = serve(told, { name: 'q', telemetry: telemetry({ ...providers, expose: true }) });
    for (const text of ['go', 'fail X']) await rpc(server, 'SendMessage', { message: say(text) });
    const text = await read(metricsHandler(server, { token }));
    const exported = await metrics();
    const translated = new Map(
      exported.map(({ name, value }) => [name.replaceAll('.', '_'), value] as const),
    );
    for (const name of ['baton_turns_waiting', 'baton_turns_running', 'baton_ready', 'baton_turns_limit'])
      expect([name, translated.get(name)]).toEqual([name, Object.values(samples(text, name))[0]]);
    const written = new Set(
      [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) =>
        name.replace(/_total$/, '').replace(/_seconds$/, ''),
      ),
    );
    for (const { name } of exported) expect(written).toContain(name.replaceAll('.', '_'));
  });
});

describe('the handler of metrics', () => {
  it('refuses who has no token, and every method but GET and HEAD', async () => {
    const server = serve(told, { telemetry: telemetry({ expose: true }) });
    const handler = metricsHandler(server, { token });
    const ask = (init: RequestInit) => handler.fetch(new Request('http://127.0.0.1/metrics', init));
    for (const authorization of [
      '',
      'Bearer',
      `Bearer ${token}x`,
      `Basic ${token}`,
      `Bearer ${token.slice(0, -1)}x`,
      `Bearer x${token.slice(1)}`,
    ]) {
      const response = await ask({ headers: { authorization } });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain('baton_');
    }
    const headers = { authorization: `Bearer ${token}` };
    const without = await ask({ method: 'POST' });
    expect([without.status, without.headers.get('www-authenticate'), await without.text()]).toEqual([
      401,
      'Bearer',
      'The token is missing or wrong\n',
    ]);
    const posted = await ask({ method: 'POST', headers });
    expect([posted.status, posted.headers.get('allow'), await posted.text()]).toEqual([
      405,
      'GET, HEAD',
      'Use GET\n',
    ]);
    expect(posted.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const head = await ask({ method: 'HEAD', headers });
    expect([head.status, head.headers.get('cache-control'), await head.text()]).toEqual([
      200,
      'no-store',
      '',
    ]);
  });

  it('serves both formats on node:http, without a token where null says so', async () => {
    const server = serve(told, { telemetry: telemetry({ expose: true }) });
    const { node } = metricsHandler(server, { token: null });
    const listener = createServer((request, response) => void node(request, response)).listen(0, '127.0.0.1');
    onTestFinished(() => void listener.close());
    await new Promise((resolve) => listener.once('listening', resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const plain = await fetch(url);
    expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await plain.text()).toMatch(/^# TYPE baton_tasks_created_total counter$/m);
    const open = await fetch(url, { headers: { accept: 'application/openmetrics-text; version=1.0.0' } });
    const text = await open.text();
    expect(text).toMatch(/^# TYPE baton_tasks_created counter$/m);
    expect(text).toMatch(/^# UNIT baton_turns_waiting_age_seconds seconds$/m);
    expect(text.endsWith('# EOF\n')).toBe(true);
  });

  it('says what is missing: telemetry that exposes metrics, a token that is long enough', () => {
    const silent = serve(told, { telemetry: telemetry() });
    expect(() => metricsHandler(silent, { token })).toThrow(/telemetry\(\{ expose: true \}\)/);
    const server = serve(told, { telemetry: telemetry({ expose: true }) });
    expect(() => metricsHandler(server, { token: 'x'.repeat(15) })).toThrow(/16 characters/);
    expect(() => metricsHandler(server, { token: 'x'.repeat(16) })).not.toThrow();
    // @ts-expect-error: it must be said.
    expect(() => metricsHandler(server, {})).toThrow(/or null/);
  });
});
