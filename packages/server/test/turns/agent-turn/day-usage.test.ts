import { join } from 'node:path';
import { dailyUsage, eraseTasks } from '@batonjs/operator';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../../../test/kit/closed-after-test.ts';
import { change, unavailable } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scopeOf } from '../../../../../test/kit/scope.ts';
import { type ServeOptions, serveWith } from '../../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../../test/kit/temporary-folder.ts';
import { type Agent, completed } from '../../../src/index.ts';
import { systemClock } from '../../../src/internals.ts';

const used = { model: 'small', inputTokens: 7, outputTokens: 3, cachedTokens: 5 };
const serve = serveWith({ authenticate: ({ headers }) => ({ scope: String(headers['x-caller'] ?? 'ann') }) });
const send = async (server: ReturnType<typeof serve>, text = 'go', caller = 'ann') =>
  (await rpc(server, 'SendMessage', { message: say(text) }, { 'x-caller': caller })).task;
const stateOf = async (...args: Parameters<typeof send>) => (await send(...args)).status.state;

/** Calls a model once, and says what else was used. */
const asks: Agent = async function* (turn) {
  await turn.step('ask', { usage: () => used }, () => 'well');
  yield completed();
};

const at = (time: string) => ({ ...systemClock, now: () => Date.parse(time) });
const counting = { limits: { dailyTokens: 1e9 } };

it.each([
  ['a caller', { dailyTokensPerCaller: 20 }, 'that it allows one caller', true],
  ['all callers', { dailyTokens: 20 }, 'that it allows', false],
])('the tokens of a day of %s hold over processes, until it is over', async (_, limits, why, isOthers) => {
  const store = closedAfterTest(sqliteStore(join(temporaryFolder(), 'tasks.db')));
  let now = '2026-11-29T23:00:00.000Z';
  const clock = { ...systemClock, now: () => Date.parse(now) };
  const servers = [1, 2].map(() => serve(asks, { store, limits, clock } as ServeOptions));
  for (const server of servers) expect(await stateOf(server)).toBe('TASK_STATE_COMPLETED');
  for (const server of servers) {
    const { status } = await send(server);
    expect(status).toMatchObject({ state: 'TASK_STATE_FAILED', message: { parts: [{}, {}] } });
    const [{ text }, { data }] = status.message.parts;
    expect(text).toBe(`The models of this agent have used the tokens of this day (UTC) ${why}`);
    expect(data).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  }
  expect(await stateOf(servers[0]!, 'go', 'bob')).toBe(`TASK_STATE_${isOthers ? 'COMPLETED' : 'FAILED'}`);
  now = '2026-11-30T00:00:00.000Z';
  expect(await stateOf(servers[0]!)).toBe('TASK_STATE_COMPLETED');
  const days = (await dailyUsage(store, 'agent')).filter(({ scope }) => scope === undefined);
  expect(days.map(({ day, tokens }) => [day, tokens])).toEqual([
    ['2026-11-29', isOthers ? 30 : 20],
    ['2026-11-30', 10],
  ]);
  expect(await dailyUsage(store, 'agent', '2026-12-01')).toEqual([]);
});

it('counts each call that was made, for the agent and for its caller, and is erased with the caller', async () => {
  const store = closedAfterTest(memoryStore());
  const agent: Agent = async function* (turn) {
    await turn.step('ask', { usage: () => used }, () => 'well');
    await turn.usage('told', { model: 'large', calls: 2, outputTokens: 100 });
    if (turn.attempt < 3) throw new Error('Again');
    yield completed();
  };
  const more = { restart: 'rerun', retry: { retries: 2, backoff: { initialMs: 1 } } } as const;
  const server = serve(agent, { store, ...counting, ...more, clock: at('2026-11-29T12:00:00Z') });
  await send(server);
  await send(server, 'go', 'bob');
  const models = (times: number) => ({
    small: { calls: times, inputTokens: 7 * times, outputTokens: 3 * times, cachedTokens: 5 * times },
    large: { calls: 2 * times, inputTokens: 0, outputTokens: 100 * times, cachedTokens: 0 },
  });
  const day = { day: '2026-11-29', agent: 'agent' };
  const ofCaller = (name: string) => ({
    ...{ ...day, scope: scopeOf('agent', '', name) },
    ...{ tokens: 110, models: models(1) },
  });
  const all = { ...day, tokens: 220, models: models(2) };
  expect(await dailyUsage(store, 'agent')).toEqual([all, ofCaller('ann'), ofCaller('bob')]);
  await eraseTasks(server, { caller: 'ann' });
  expect(await dailyUsage(store, 'agent')).toEqual([all, ofCaller('bob')]);
});

it('counts a call that was paid and whose result was not stored', async () => {
  const store = closedAfterTest(memoryStore());
  const refused: unknown[] = [];
  const agent: Agent = async function* (turn) {
    const options = { usage: () => used, keep: 'task' } as const;
    await turn.step('ask', options, () => 'too long').catch((error: unknown) => refused.push(error));
    yield completed();
  };
  await send(serve(agent, { store, limits: { ...counting.limits, memoryBytes: 1 } }));
  expect(refused).toHaveLength(1);
  expect((await dailyUsage(store, 'agent'))[0]).toMatchObject({ tokens: 10 });
});

it('goes on where the row of a day cannot be written, and says so', async () => {
  const store = change<TaskStore>(memoryStore(), {
    putRecord: (put) => (name, revision, value, options) =>
      name.startsWith('usage/') ? Promise.reject(unavailable()) : put(name, revision, value, options),
  });
  const lines: string[] = [];
  const logger: ServeOptions['logger'] = (level, message) => lines.push(`${level} ${message}`);
  expect(await stateOf(serve(asks, { store, ...counting, logger }))).toBe('TASK_STATE_COMPLETED');
  expect(lines).toContain('error The usage of a model was not counted for its day');
});

it('counts the models after the first 50 together, and nothing where no limit is set', async () => {
  const agent: Agent = async function* (turn) {
    for (let n = 0; n < 52; n++) await turn.usage(`${n}`, { ...used, model: `m${n}` });
    yield completed();
  };
  const [counted, not] = [closedAfterTest(memoryStore()), closedAfterTest(memoryStore())];
  await send(serve(agent, { store: counted, ...counting }));
  await send(serve(agent, { store: not, limits: { tokensPerTask: 1e6 } }));
  const [{ models = {}, tokens = 0 } = {}] = await dailyUsage(counted, 'agent');
  expect(Object.keys(models)).toHaveLength(51);
  expect(models.other).toEqual({ calls: 2, inputTokens: 14, outputTokens: 6, cachedTokens: 10 });
  expect(tokens).toBe(520);
  expect(await dailyUsage(not, 'agent')).toEqual([]);
});
