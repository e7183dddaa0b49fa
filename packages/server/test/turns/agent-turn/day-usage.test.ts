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
import { eventually } from '../../../../../test/kit/until.ts';
import { type Agent, completed, inputRequired, type TaskUpdate, working } from '../../../src/index.ts';
import { systemClock } from '../../../src/internals.ts';

const used = { model: 'small', inputTokens: 7, outputTokens: 3, cachedTokens: 5, cost: 0.1, currency: 'USD' };
const serve = serveWith({ authenticate: ({ headers }) => ({ scope: String(headers['x-caller'] ?? 'ann') }) });
const send = async (server: ReturnType<typeof serve>, text = 'go', caller = 'ann') =>
  (await rpc(server, 'SendMessage', { message: say(text) }, { 'x-caller': caller })).task;
const stateOf = async (...args: Parameters<typeof send>) => (await send(...args)).status.state;

/** Calls a model once, and says what else was used. */
const asks: Agent = async function* (turn) {
  await turn.step('ask', { usage: () => used }, () => 'well');
  yield turn.text === 'more' && turn.contextId !== 'trip' ? inputRequired('More?') : completed();
};

const at = (time: string) => ({ ...systemClock, now: () => Date.parse(time) });
const counting = { limits: { dailyTokens: 1e9 } };

const ofCaller = 'of this day (UTC) that it allows one caller';
const ofAll = 'of this day (UTC) that it allows';

it.each([
  ['tokens of a caller', { dailyTokensPerCaller: 20 }, `tokens ${ofCaller}`, true],
  ['tokens of all callers', { dailyTokens: 20 }, `tokens ${ofAll}`, false],
  ['money of a caller', { dailyCostPerCaller: { EUR: 0.01, USD: 0.2 } }, `money (USD) ${ofCaller}`, true],
  ['money of all callers', { dailyCost: { USD: 0.2 }, dailyTokens: 50 }, `money (USD) ${ofAll}`, false],
])('the limit of a day of %s holds over processes, until it is over', async (_, limits, why, isOthers) => {
  const store = closedAfterTest(sqliteStore(join(temporaryFolder(), 'tasks.db')));
  let now = '2026-11-29T23:00:00.000Z';
  const clock = { ...systemClock, now: () => Date.parse(now) };
  const servers = [1, 2].map(() => serve(asks, { store, limits, clock } as ServeOptions));
  for (const server of servers) expect(await stateOf(server)).toBe('TASK_STATE_COMPLETED');
  for (const server of servers) {
    const { status } = await send(server);
    expect(status).toMatchObject({ state: 'TASK_STATE_FAILED', message: { parts: [{}, {}] } });
    const [{ text }, { data }] = status.message.parts;
    expect(text).toBe(`The models of this agent have used the ${why}`);
    const limit = Object.keys(limits)[0];
    const currency = /\((USD)\)/.exec(why)?.[1];
    const details = { reason: 'BUDGET_EXCEEDED', limit, ...(currency && { currency }) };
    expect(data).toMatchObject({ code: 'RESOURCE_EXHAUSTED', details });
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
    await turn.usage('told', {
      model: 'large',
      calls: 2,
      outputTokens: 100,
      cost: 0.0000015,
      currency: 'EUR',
    });
    await turn.usage('unknown', { model: 'large', calls: 0 });
    if (turn.attempt < 3) throw new Error('Again');
    yield completed();
  };
  const more = { restart: 'rerun', retry: { retries: 2, backoff: { initialMs: 1 } } } as const;
  const server = serve(agent, { store, ...counting, ...more, clock: at('2026-11-29T12:00:00Z') });
  await send(server);
  await send(server, 'go', 'bob');
  const models = (times: number) => ({
    small: {
      calls: times,
      inputTokens: 7 * times,
      outputTokens: 3 * times,
      cachedTokens: 5 * times,
      costs: { USD: 100_000 * times },
    },
    large: {
      calls: 2 * times,
      inputTokens: 0,
      outputTokens: 100 * times,
      cachedTokens: 0,
      costs: { EUR: 2 * times },
    },
  });
  const day = { day: '2026-11-29', agent: 'agent' };
  const rowOf = (name: string) => ({
    ...{ ...day, scope: scopeOf('agent', '', name) },
    ...{ tokens: 110, costs: { USD: 100_000, EUR: 2 }, models: models(1) },
  });
  const all = { ...day, tokens: 220, costs: { USD: 200_000, EUR: 4 }, models: models(2) };
  expect(await dailyUsage(store, 'agent')).toEqual([all, rowOf('ann'), rowOf('bob')]);
  await eraseTasks(server, { caller: 'ann' });
  expect(await dailyUsage(store, 'agent')).toEqual([all, rowOf('bob')]);
});

/** Says that a child used 30 tokens, calls a model, and asks for more until it is stopped. */
const goesOn: Agent = async function* (turn) {
  const child = { name: 'hotels', agent: 'Hotels', usage: { tokens: 30, costs: { USD: 300_000 } } };
  yield { ...working(), child } as TaskUpdate;
  yield* asks(turn) as AsyncIterable<TaskUpdate>;
};

it.each([
  ['one task', { tokensPerTask: 20 }, 2],
  ['one task', { costPerTask: { EUR: 1, USD: 0.3 } }, 3],
  ['one task and its children', { tokensPerTree: 41, tokensPerTask: 41 }, 2],
  ['one task and its children', { costPerTree: { USD: 0.4 } }, 1],
  ['one context', { tokensPerContext: 20 }, 2],
  ['one context', { costPerContext: { USD: 0.3 } }, 3],
])('a limit of %s holds over its turns: %o', async (what, limits, calls) => {
  const store = closedAfterTest(memoryStore());
  const lines: string[] = [];
  const logger: ServeOptions['logger'] = (_level, message) => lines.push(message);
  const server = serve(goesOn, { store, limits, logger } as ServeOptions);
  const isTask = !what.includes('context');
  let of: object = isTask ? {} : { contextId: 'trip' };
  for (let n = 0; n < calls; n++) {
    const { task } = await rpc(server, 'SendMessage', { message: { ...say('more'), ...of } });
    expect(task.status.state).toBe(`TASK_STATE_${isTask ? 'INPUT_REQUIRED' : 'COMPLETED'}`);
    if (isTask) of = { taskId: task.id };
  }
  const { task } = await rpc(server, 'SendMessage', { message: { ...say('more'), ...of } });
  expect(task.status.message.parts[0].text).toMatch(new RegExp(`that it allows ${what}$`));
  expect(lines).not.toContain('The usage of a model was not counted');
  expect(await stateOf(server)).toBe('TASK_STATE_COMPLETED');
  expect(await dailyUsage(store, 'agent')).toEqual([]);
});

it('of all processes, one tells once that 80 % of a limit are used, and once that all are', async () => {
  const store = closedAfterTest(memoryStore());
  const events: unknown[] = [];
  const onEvent: ServeOptions['onEvent'] = (event) => event.type === 'budget' && events.push(event);
  const warned: unknown[] = [];
  const logger: ServeOptions['logger'] = (level, message, about) =>
    message.includes('limit') && warned.push([level, about]);
  const limits = {
    dailyTokens: 100,
    dailyCostPerCaller: { USD: 1e9 },
    dailyCost: { USD: 1 },
    tokensPerContext: 8,
  };
  const servers = [1, 2].map(() => serve(asks, { store, limits, onEvent, logger }));
  const told: unknown[] = [];
  for (let n = 1; n <= 11; n++) {
    const about = { type: 'budget', taskId: (await send(servers[n % 2]!)).id, contextId: expect.any(String) };
    // The last one is refused.
    if (n < 11) told.push({ ...about, share: 1, limit: 'tokensPerContext', used: 10, most: 8 });
    if (n !== 8 && n !== 10) continue;
    const share = n === 8 ? 0.8 : 1;
    told.push({ ...about, share, limit: 'dailyTokens', used: 10 * n, most: 100 });
    told.push({ ...about, share, limit: 'dailyCost', currency: 'USD', used: n / 10, most: 1 });
  }
  expect(events).toEqual(expect.arrayContaining(told));
  expect(events).toHaveLength(told.length);
  expect(warned).toEqual(events.map((event) => ['warn', { ...(event as object), type: undefined }]));
});

it('a turn that is tried again goes on when the day is over', async () => {
  const store = closedAfterTest(memoryStore());
  const clock = at('2026-11-29T23:59:59.700Z');
  const options = { store, limits: { dailyTokens: 10 }, retry: { retries: 1 }, restart: 'rerun' } as const;
  const server = serve(asks, { ...options, clock });
  expect(await stateOf(server)).toBe('TASK_STATE_COMPLETED');
  const { task } = await rpc(server, 'SendMessage', {
    ...{ message: say('go'), configuration: { returnImmediately: true } },
  });
  await eventually(async () => {
    const stored = await store.readFacts(scopeOf('agent', '', 'ann'), task.id, 0, 99);
    const [failed] = stored.flatMap(({ fact }) => (fact.type === 'turn-failed' ? [fact] : []));
    // Whole seconds, so that it is not too early.
    expect(failed?.retryAt).toBe('2026-11-30T00:00:00.700Z');
  });
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
  expect(lines).toContain('error The usage of a model was not counted');
});

it('counts the models after the first 50 together, and reads and counts nothing where no limit is set', async () => {
  const agent: Agent = async function* (turn) {
    await turn.step('ask', { usage: () => ({ ...used, model: 'm0' }) }, () => 'well');
    for (let n = 1; n < 52; n++) await turn.usage(`${n}`, { ...used, model: `m${n}` });
    yield completed();
  };
  const counted = closedAfterTest(memoryStore());
  const not = change<TaskStore>(closedAfterTest(memoryStore()), {
    getRecord: (get) => (name) => (name.includes('usage/') ? Promise.reject(unavailable()) : get(name)),
  });
  await send(serve(agent, { store: counted, ...counting }));
  expect(await stateOf(serve(agent, { store: not, limits: { tokensPerTask: 1e6 } }))).toBe(
    'TASK_STATE_COMPLETED',
  );
  const [{ models = {}, tokens = 0 } = {}] = await dailyUsage(counted, 'agent');
  expect(Object.keys(models)).toHaveLength(51);
  const costs = { USD: 200_000 };
  expect(models.other).toEqual({ calls: 2, inputTokens: 14, outputTokens: 6, cachedTokens: 10, costs });
  expect(tokens).toBe(520);
  expect(await dailyUsage(not, 'agent')).toEqual([]);
});

it.each([{ usd: 50 }, { US: 50 }, { USD: -1 }, { USD: Number.NaN }, 50 as never])(
  'refuses %o as a limit',
  (most) => {
    for (const name of ['dailyCost', 'dailyCostPerCaller', 'costPerTask', 'costPerTree', 'costPerContext'])
      expect(() => serve(asks, { limits: { [name]: most } })).toThrow(
        `\`limits.${name}\` must be numbers from 0 by currencies of three capital letters: \`{ USD: 50 }\``,
      );
  },
);
