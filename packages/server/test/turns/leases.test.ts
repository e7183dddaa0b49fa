import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { type Agent, type AgentServer, completed, working } from '../../src/index.ts';
import { manualClock } from '../webhooks/kit/stored-task.ts';

/** What a process may do that stood still, hears nothing or shares its fate with others. */

const now = { returnImmediately: true };
const leaseMs = 200;

const serve = serveWith({ timeouts: { leaseMs, sweepMs: 50 } });

const start = async (server: AgentServer, text = 'go'): Promise<string> =>
  (await rpc(server, 'SendMessage', { message: say(text), configuration: now })).task.id;

/**
 * A process that was stopped: no timer of it fires, and nothing that happens to the log reaches it. `resume` moves its
 * clock by the time that passed, or by none.
 */
function stopped(store: TaskStore) {
  let monotonic = 0;
  return {
    store: change(store, { subscribe: () => async () => () => {} }),
    clock: {
      monotonic: () => monotonic,
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
    },
    resume: (ms: number) => {
      monotonic += ms;
    },
  };
}

/** An agent whose first attempt waits before its step, and that counts how often the step has its effect. */
function charging() {
  const go = Promise.withResolvers<void>();
  const seen = { effects: 0, refusals: [] as unknown[] };
  const agent: Agent = async function* ({ attempt, step }) {
    yield working(`attempt ${attempt}`);
    if (attempt === 1) await go.promise;
    try {
      await step('charge', () => ++seen.effects);
    } catch (error) {
      seen.refusals.push(error);
      throw error;
    }
    yield completed();
  };
  return { agent, go: () => go.resolve(), seen };
}

describe('a step is not entered', () => {
  it.each([
    ['and does not know for how long', 0],
    ['and knows that its lease is over', 10_000],
  ])("by a process that was stopped while another one ran the turn, under 'rerun', %s", async (_, ms) => {
    const memory = memoryStore();
    const { agent, go, seen } = charging();
    const { resume, ...about } = stopped(memory);
    const zombie = serve(agent, { store: about.store, restart: 'rerun', clock: about.clock });
    const id = await start(zombie);
    const other = serve(agent, { store: memory, restart: 'rerun' });
    await until(other, id, 'COMPLETED');
    expect(seen.effects).toBe(1);
    resume(ms);
    go();
    await vi.waitFor(() => expect(seen.refusals).toMatchObject([{ code: 'FENCED' }]));
    expect(seen.effects).toBe(1);
  });

  it("by a process that was stopped while another one failed the task, under 'fail'", async () => {
    const memory = memoryStore();
    const { agent, go, seen } = charging();
    const { resume, ...about } = stopped(memory);
    const zombie = serve(agent, { store: about.store, clock: about.clock });
    const id = await start(zombie);
    await until(serve(agent, { store: memory }), id, 'FAILED');
    resume(10_000);
    go();
    await vi.waitFor(() => expect(seen.refusals).toMatchObject([{ code: 'FENCED' }]));
    expect(seen.effects).toBe(0);
  });

  it.each([
    [0, 'a tenth of the lease', 6_000],
    [1, 'less than that', 5_999],
  ])('after a cancel of another process, or %s times, if the last commit is %s ago', async (n, _, ms) => {
    const memory = memoryStore();
    const { agent, go, seen } = charging();
    // It hears nothing of the log until it reads it.
    const { resume, ...about } = stopped(memory);
    const server = serve(agent, { ...about, restart: 'rerun', timeouts: { leaseMs: 60_000 } });
    const id = await start(server);
    await until(server, id, 'WORKING');
    const other = serve(agent, {
      store: memory,
      restart: 'rerun',
      run: 'workers',
      timeouts: { cancelMs: 1 },
    });
    await rpc(other, 'CancelTask', { id });
    resume(ms);
    go();
    await until(other, id, 'CANCELED');
    expect(seen.effects).toBe(n);
    expect(seen.refusals).toMatchObject(n === 0 ? [{ code: 'CANCELED' }] : []);
  });

  it("after the turn's own process canceled it, though the agent goes on", async () => {
    const { agent, go, seen } = charging();
    const server = serve(agent, { timeouts: { cancelMs: 1 } });
    const id = await start(server);
    await until(server, id, 'WORKING');
    await rpc(server, 'CancelTask', { id });
    go();
    await until(server, id, 'CANCELED');
    expect(seen.refusals).toMatchObject([{ code: 'CANCELED' }]);
    expect(seen.effects).toBe(0);
  });

  it.each([
    ['reads', 'while the lease surely lives', 6_000, [1, 0], Number.POSITIVE_INFINITY],
    ['renewals', 'when the lease may be over', 60_000, [0, 1], 1],
  ])(
    'before the store says that the turn may, however often it has to be asked: by %s %s',
    async (...row) => {
      let refusals = 0;
      let aheadMs = 0;
      const asked = [0, 0];
      const answer = <Args extends unknown[], T>(nr: 0 | 1, ask: (...args: Args) => Promise<T>) => {
        return async (...args: Args) => {
          if (aheadMs > 0 && ++refusals <= 3) throw unavailable();
          if (aheadMs > 0) asked[nr]!++;
          return ask(...args);
        };
      };
      const store = change(memoryStore(), {
        lease: (lease) => answer(0, lease!),
        renew: (renew) => answer(1, renew),
      });
      const seenAt: number[][] = [];
      // A lease that may be over is renewed by the heartbeat, too.
      const see = () => seenAt.push(asked.map((times) => Math.min(times, row[4])));
      const server = serve(
        async function* ({ step }) {
          await step('at once', () => see());
          aheadMs = row[2];
          await step('later', () => see());
          await step('right after it', () => see());
          aheadMs += 6_000;
          yield working();
          await step('right after a commit', () => see());
          yield completed();
        },
        {
          ...{ store, restart: 'rerun', timeouts: { leaseMs: 60_000 } },
          clock: { monotonic: () => performance.now() + aheadMs, now: () => Date.now() + aheadMs },
        },
      );
      await until(server, await start(server), 'COMPLETED');
      expect(seenAt).toEqual([[0, 0], row[3], row[3], row[3]]);
    },
  );
});

describe('a process whose event loop stood still for longer than its leases', () => {
  /** Nothing else happens in this process meanwhile. */
  const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

  it('loses none of its turns if no other process took them, and does not claim them itself', async () => {
    const go = Promise.withResolvers<void>();
    let runs = 0;
    const lines: unknown[][] = [];
    const server = serve(
      async function* () {
        runs++;
        yield working();
        await go.promise;
        yield completed();
      },
      { restart: 'rerun', logger: (...line) => lines.push(line), logsStalls: true },
    );
    const ids = await Promise.all(Array.from({ length: 20 }, () => start(server)));
    for (const id of ids) await until(server, id, 'WORKING');
    block(3 * leaseMs);
    // It claims tasks and renews its leases before the first request.
    await vi.waitFor(() =>
      expect(lines.map(([, message]) => message)).toContain('The event loop was blocked'),
    );
    go.resolve();
    for (const id of ids) await until(server, id, 'COMPLETED');
    expect(runs).toBe(20);
  });

  it('logs for how long, and the task whose agent was called last', async () => {
    const lines: unknown[][] = [];
    const go = Promise.withResolvers<void>();
    // Goes on only where an agent blocks: a busy machine makes the event loop stand still at any time.
    let at = 0;
    const server = serve(
      async function* ({ text }) {
        yield working();
        await go.promise;
        yield working('first');
        // The first of them blocks while the other one is about to go on.
        if (text === 'block') at += 5_000;
        yield completed();
      },
      // The lease outlives a stall of a busy machine: only what is logged matters here.
      {
        timeouts: { leaseMs: 20_000 },
        clock: { monotonic: () => at },
        logger: (...line) => lines.push(line),
        logsStalls: true,
      },
    );
    const blocking = await start(server, 'block');
    const innocent = await start(server);
    for (const id of [blocking, innocent]) await until(server, id, 'WORKING');
    go.resolve();
    for (const id of [blocking, innocent]) await until(server, id, 'COMPLETED');
    const stall = await vi.waitFor(() => {
      const found = lines.find(([, message]) => message === 'The event loop was blocked');
      return found ?? expect.fail('not yet');
    });
    expect(stall[0]).toBe('warn');
    // The watch was due a twentieth of the lease after it had begun.
    expect(stall[2]).toMatchObject({ ms: 4_000, latestTaskId: blocking });
  });
});

it('a process never claims a lease that it renews itself, also when the clock of the store jumps', async () => {
  let leaseNow = 0;
  let runs = 0;
  const go = Promise.withResolvers<void>();
  const memory = memoryStore({ monotonic: () => leaseNow });
  let claims = 0;
  const store = change(memory, {
    claim:
      (claim) =>
      (...args) => {
        claims++;
        return claim(...args);
      },
  });
  const server = serve(
    async function* () {
      runs++;
      yield working();
      await go.promise;
      yield completed();
    },
    { store },
  );
  const ids = await Promise.all(Array.from({ length: 10 }, () => start(server)));
  for (const id of ids) await until(server, id, 'WORKING');
  leaseNow += 3_600_000;
  const before = claims;
  await vi.waitFor(() => expect(claims).toBeGreaterThan(before + 1), { timeout: 5_000 });
  go.resolve();
  for (const id of ids) await until(server, id, 'COMPLETED');
  expect(runs).toBe(10);
});

it('two processes on a computer that slept leave each other their turns, whichever wakes first', async () => {
  let time = 0;
  const store = memoryStore({ monotonic: () => time });
  const [holding, waking] = [manualClock(), manualClock()];
  const go = Promise.withResolvers<void>();
  const attempts: number[] = [];
  const agent: Agent = async function* ({ attempt }) {
    attempts.push(attempt);
    yield working();
    await go.promise;
    yield completed();
  };
  const server = serve(agent, { store, restart: 'rerun', clock: holding.clock });
  await server.ready();
  await serve(agent, { store, restart: 'rerun', clock: waking.clock }).ready();
  const id = await start(server);
  await until(server, id, 'WORKING');
  await vi.waitFor(() => expect(waking.sleeps).not.toEqual([]));

  const sleptMs = 3_600_000;
  time += sleptMs;
  const before = waking.sleeps.length;
  waking.pass(sleptMs);
  // It looked for tasks, and waits again.
  await vi.waitFor(() => expect(waking.sleeps.length).toBeGreaterThan(before));
  holding.pass(sleptMs);
  go.resolve();
  await until(server, id, 'COMPLETED');
  expect(attempts).toEqual([1]);
});
