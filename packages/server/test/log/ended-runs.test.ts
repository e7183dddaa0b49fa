import { join } from 'node:path';
import { eraseTasks } from '@batonjs/operator';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scopeOf } from '../../../../test/kit/scope.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { type Agent, completed, inputRequired } from '../../src/index.ts';
import { callersOf, runsSince, systemClock } from '../../src/internals.ts';

const agent: Agent = async function* (turn) {
  const [part] = turn.message.parts;
  if (part && 'text' in part && part.text === 'fail') throw new Error('No');
  await turn.step(
    'ask',
    { usage: () => ({ model: 'm', inputTokens: 7, cost: 0.5, currency: 'EUR' }) },
    () => 1,
  );
  yield completed();
};
const serve = serveWith({ authenticate: ({ headers }) => ({ scope: String(headers['x-caller'] ?? '') }) });
const send = (server: ReturnType<typeof serve>, text: string, caller = 'ann') =>
  rpc(server, 'SendMessage', { message: say(text) }, { 'x-caller': caller });

/** A clock whose idle waits end when they are told, and whose days begin where they are set. */
function handClock(start: string) {
  let now = Date.parse(start);
  const waits = new Set<() => void>();
  const sleep: typeof systemClock.sleep = (ms, signal, kind) =>
    kind === 'idle' && ms === 2_000
      ? new Promise((resolve) => {
          waits.add(resolve);
          signal?.addEventListener('abort', () => resolve(), { once: true });
        })
      : systemClock.sleep(ms, signal, kind);
  const pass = (ms: number) => {
    now += ms;
    for (const end of waits) end();
    waits.clear();
  };
  return { clock: { ...systemClock, now: () => now, sleep }, pass, waits };
}

it('counts what ended by the hour, over processes, with what it used, and keeps who called', async () => {
  const store = closedAfterTest(sqliteStore(join(temporaryFolder(), 'tasks.db')));
  const { clock, pass } = handClock('2026-11-30T12:59:59.000Z');
  const servers = [1, 2].map(() => serve(agent, { store, clock }));
  for (const server of servers) await send(server, 'go');
  await send(servers[1]!, 'fail', 'zoe');
  pass(2_000);
  await send(servers[0]!, 'go', 'carl');
  await Promise.all(servers.map((server) => server.close()));
  const runs = await runsSince(store, 'agent', Date.parse('2026-11-30T12:30:00.000Z'));
  expect([...runs.keys()]).toEqual(['2026-11-30T12', '2026-11-30T13']);
  const { took, ...first } = runs.get('2026-11-30T12')!;
  expect(first).toEqual({ ended: 3, failed: 1, tokens: 14, costs: { EUR: 1_000_000 } });
  expect(Object.values(took).reduce((sum, count) => sum + count)).toBe(3);
  expect(await runsSince(store, 'agent', Date.parse('2026-11-30T14:00:00.000Z'))).toEqual(new Map());
  const callers = await callersOf(store, 'agent');
  expect(callers.map(({ caller }) => caller)).toEqual(['ann', 'zoe', 'carl']);
  expect(callers[0]).toMatchObject({ scope: scopeOf('agent', '', 'ann'), since: '2026-11-30T12:59:59.000Z' });
});

it('writes after two seconds, nothing while nothing ends, and knows a caller again who was erased', async () => {
  const store = memoryStore();
  const { clock, pass, waits } = handClock('2026-11-30T12:00:00.000Z');
  const server = serve(agent, { store, clock });
  await send(server, 'go');
  expect(waits.size).toBe(1);
  expect(await callersOf(store, 'agent')).toEqual([]);
  pass(2_000);
  await expect.poll(async () => (await runsSince(store, 'agent', clock.now())).size).toBe(1);
  expect(waits.size).toBe(0);
  await eraseTasks(server, { caller: 'ann' });
  expect(await callersOf(store, 'agent')).toEqual([]);
  await send(server, 'go');
  pass(2_000);
  await expect
    .poll(async () => (await runsSince(store, 'agent', clock.now())).get('2026-11-30T12')?.ended)
    .toBe(2);
  expect(await callersOf(store, 'agent')).toEqual([]);
  pass(3_600_000);
  await send(server, 'go');
  await server.close();
  expect((await callersOf(store, 'agent')).map(({ caller }) => caller)).toEqual(['ann']);
});

it.each([
  ['at once', 0, { 0: 1 }],
  ['in a second', 1_000, { 20: 1 }],
  ['in exactly a step', 1_024, { 20: 1 }],
  ['in a minute', 60_000, { 32: 1 }],
])(
  'a task that ends %s is counted with its time, and kept for 400 days with its tenant',
  async (_, tookMs, took) => {
    const { clock, pass, waits } = handClock('2026-11-30T12:00:00.000Z');
    const kept: unknown[] = [];
    const store = change(memoryStore(), {
      putRecord: (original) => (name, revision, value, options) => {
        if (/^(runs|callers)/.test(name)) kept.push(options);
        return original(name, revision, value, options);
      },
    });
    const slow: Agent = async function* ({ message }) {
      pass(tookMs);
      yield message.taskId ? completed() : inputRequired('How?');
      yield completed();
    };
    const server = serveWith({})(slow, { store, clock });
    const asked = await rpc(server, 'SendMessage', { message: say('go') });
    expect([asked.task.status.state, waits.size]).toEqual(['TASK_STATE_INPUT_REQUIRED', 0]);
    expect(await callersOf(store, 'agent')).toEqual([]);
    const own: Agent = async function* () {
      pass(tookMs);
      yield completed();
    };
    const other = serveWith({})(own, { store, clock, name: 'other' });
    await rpc(other, 'SendMessage', { tenant: 'eu', message: say('go') });
    await Promise.all([server.close(), other.close()]);
    expect([...(await runsSince(store, 'other', clock.now() - 3_600_000)).values()]).toEqual([
      { ended: 1, failed: 0, took, tokens: 0, costs: {} },
    ]);
    expect((await callersOf(store, 'other')).map(({ tenant, caller }) => [tenant, caller])).toEqual([
      ['eu', undefined],
    ]);
    const ttlMs = 400 * 86_400_000;
    expect(kept).toEqual([{ ttlMs, scope: scopeOf('other', 'eu') }, { ttlMs }]);
  },
);

it('a store that does not answer keeps no task from its end, and callers without a name are not kept', async () => {
  const lines: unknown[] = [];
  const store = change(memoryStore(), {
    putRecord:
      (original) =>
      (name, ...more) =>
        name.startsWith('runs/') ? Promise.reject(unavailable()) : original(name, ...more),
  });
  const server = serveWith({})(agent, { store, logger: (...line) => void lines.push(line) });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  await server.close();
  expect(JSON.stringify(lines)).toContain('It cannot be reached');
  expect(await callersOf(store, 'agent')).toEqual([]);
});
