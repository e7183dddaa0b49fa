import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { type ServeOptions, serve } from '../../../../test/kit/serve.ts';
import { type Agent, completed, inputRequired, taskAgent, working } from '../../src/index.ts';
import { recurring } from '../../src/operations/recurring/schedules.ts';
import { heardStore } from './heard-store.ts';

/** A server that works only during calls: its runs, and what it leaves behind. */

const returnImmediately = { returnImmediately: true };
const [minute, hour] = [60_000, 3_600_000];
const seen: string[] = [];
let clock = testClock();
let { heard, store, clock: counted } = heardStore(clock);

beforeEach(() => {
  clock = testClock(new Date('2030-01-01T12:00:00Z'));
  seen.length = 0;
  ({ heard, store, clock: counted } = heardStore(clock));
});

/** Nothing that a run began outlives it: no timer, and it asks the store for nothing more, whatever time passes. */
afterEach(async () => {
  expect(heard).toMatchObject({ subscribed: 0, asleep: 0 });
  const before = heard.called.length;
  await clock.advance(2 * minute);
  expect(heard.called.slice(before)).toEqual([]);
});

const due = (agent: Agent, options: ServeOptions = {}) =>
  serve(agent, { store, clock: counted, run: 'due', restart: { maxAttempts: 2 }, ...options });

async function send(server: ReturnType<typeof due>, more: object = {}): Promise<string> {
  const sent = rpc(server, 'SendMessage', { message: say('go'), configuration: returnImmediately, ...more });
  return (await sent).task.id;
}

const stateOf = async (server: ReturnType<typeof due>, id: string) =>
  (await rpc(server, 'GetTask', { id })).status.state.replace('TASK_STATE_', '');

/** An agent of steps that take so many milliseconds each. */
const inSteps = (lengths: readonly number[], between: () => void = () => {}): Agent =>
  taskAgent(async function* ({ step, attempt }) {
    for (const [n, ms] of lengths.entries()) {
      await step(`s${n}`, async () => {
        seen.push(`${attempt}:s${n}`);
        await clock.sleep(ms);
      });
      between();
    }
    yield completed();
  });

/** A run, for which time passes. */
async function run(server: ReturnType<typeof due>, forMs: number, signal?: AbortSignal) {
  const running = server.runDue({ forMs, signal });
  running.catch(() => {});
  await clock.advance(forMs);
  return running;
}

describe('a run', () => {
  it('costs one read if nothing is due, and says so', async () => {
    const server = due(inSteps([]));
    expect(await server.runDue({ forMs: minute })).toEqual({ turns: 0, nextAt: undefined });
    expect(heard.called).toEqual(['measure']);
  });

  it('works on a message that waits, and ends at once after it', async () => {
    const server = due(inSteps([100]));
    const id = await send(server);
    await clock.advance(hour);
    expect(await stateOf(server, id)).toBe('SUBMITTED');
    const running = server.runDue({ forMs: hour });
    await clock.advance(2_000);
    expect(await running).toEqual({ turns: 1, nextAt: undefined });
    expect(await stateOf(server, id)).toBe('COMPLETED');
  });

  it('hands a turn on between two steps as often as it must, which no attempt counts', async () => {
    const between = vi.fn();
    const server = due(inSteps([300, 300, 300, 300, 300], between));
    const id = await send(server);
    for (let runs = 1; runs <= 3; runs++)
      expect(await run(server, 1_000)).toEqual({
        turns: 1,
        // At once: the turn was handed on after 600 ms.
        nextAt: runs < 3 ? clock.now() - 400 : undefined,
      });
    expect(await stateOf(server, id)).toBe('COMPLETED');
    // No step twice. What follows a step before it was handed on is for the next run alone.
    expect(seen).toEqual(['1:s0', '1:s1', '2:s2', '2:s3', '3:s4']);
    expect(between).toHaveBeenCalledTimes(1 + (2 + 1) + (4 + 1));
  });

  it('hands a turn on after an update', async () => {
    const server = due(async function* ({ attempt }) {
      for (let n = 0; attempt === 1 || n < 2; n++) {
        await clock.sleep(250);
        seen.push(`${attempt}:${n}`);
        yield working(`${n}`);
      }
      yield completed();
    });
    const id = await send(server);
    expect(await run(server, 1_000)).toMatchObject({ turns: 1, nextAt: expect.any(Number) });
    expect(seen).toEqual(['1:0', '1:1', '1:2']);
    expect(await run(server, 1_000)).toMatchObject({ turns: 1 });
    expect(await stateOf(server, id)).toBe('COMPLETED');
  });

  it('waits for the steps that run side by side, begins no other, and hands on when the last has ended', async () => {
    const server = due(
      taskAgent(async function* ({ step, attempt }) {
        const say = (name: string, ms: number) =>
          step(name, async () => {
            seen.push(`${attempt}:${name}`);
            await clock.sleep(ms);
          });
        await Promise.all([say('long', 800), say('short', 650).then(() => say('next', 10))]);
        yield completed();
      }),
    );
    const id = await send(server);
    expect(await run(server, 1_000)).toMatchObject({ nextAt: expect.any(Number) });
    await run(server, 1_000);
    expect(seen).toEqual(['1:long', '1:short', '2:next']);
    expect(await stateOf(server, id)).toBe('COMPLETED');
  });

  it('fails a step that takes longer than a run, by name, after the attempts that there are', async () => {
    const server = due(inSteps([10, 5_000]));
    const id = await send(server);
    expect(await run(server, 1_000)).toMatchObject({ turns: 1, nextAt: expect.any(Number) });
    expect(await run(server, 1_000)).toMatchObject({ turns: 1 });
    const { status } = await rpc(server, 'GetTask', { id });
    expect(status.state).toBe('TASK_STATE_FAILED');
    const [text, data] = status.message.parts;
    expect(text.text).toBe('The step "s1" takes longer than a run of 1000 ms (2 attempts)');
    expect(data.data).toMatchObject({ code: 'STEP_TIMEOUT' });
    expect(seen).toEqual(['1:s0', '1:s1', '2:s1']);
  });

  it('gives a step that began late a whole run more before an attempt counts', async () => {
    const server = due(inSteps([500, 500, 500]), { restart: { maxAttempts: 1 } });
    const id = await send(server);
    for (let runs = 0; runs < 3; runs++) await run(server, 1_000);
    expect(await stateOf(server, id)).toBe('COMPLETED');
    expect(seen).toEqual(['1:s0', '1:s1', '2:s1', '2:s2', '3:s2']);
  });

  it('fails an agent that reaches no step and no update', async () => {
    const server = due(() => clock.sleep(hour) as never, { restart: { maxAttempts: 1 } });
    const id = await send(server);
    await run(server, 1_000);
    const { status } = await rpc(server, 'GetTask', { id });
    expect(status.message.parts[0].text).toMatch(/^The agent, between two steps or updates, takes longer/);
    await clock.advance(hour);
  });

  it('ends early for a signal, and begins nothing after it', async () => {
    const server = due(inSteps([300, 300]));
    const id = await send(server);
    const ending = new AbortController();
    const running = server.runDue({ forMs: minute, signal: ending.signal });
    await clock.advance(100);
    ending.abort();
    await clock.advance(1_000);
    expect(await running).toMatchObject({ turns: 1, nextAt: expect.any(Number) });
    expect(seen).toEqual(['1:s0']);
    expect(await server.runDue({ forMs: minute, signal: ending.signal })).toMatchObject({ turns: 0 });
    await run(server, minute);
    expect(await stateOf(server, id)).toBe('COMPLETED');
  });

  it('ends early when its server closes', async () => {
    const server = due(inSteps([300, 300]));
    await send(server);
    const running = server.runDue({ forMs: minute });
    await clock.advance(100);
    const closing = server.close();
    await clock.advance(1_000);
    expect(await running).toMatchObject({ turns: 1, nextAt: expect.any(Number) });
    await closing;
  });

  it('does nothing twice when two come at once', async () => {
    const server = due(inSteps([50, 50]));
    const other = due(inSteps([50, 50]));
    for (let n = 0; n < 40; n++) await send(server);
    const runs = await Promise.all([run(server, minute), run(other, minute), run(server, minute)]);
    expect(runs.reduce((sum, { turns }) => sum + turns, 0)).toBe(40);
    expect(seen.length).toBe(80);
  });

  it('says when the next time comes: of a wake, a deadline, and a schedule', async () => {
    const agent = taskAgent(async function* ({ wakeAt, text }) {
      if (text === 'later') await wakeAt(new Date(clock.now() + 30 * minute));
      yield inputRequired('Well?');
    });
    const schedules = recurring([{ name: 'daily', cron: '0 * * * *', message: 'later' }]);
    const began = clock.now();
    const server = due(agent, { schedules, timeouts: { taskMs: 3 * hour } });
    expect(await run(server, 1_000)).toMatchObject({ turns: 0, nextAt: began + hour });
    const id = await send(server);
    expect(await run(server, 1_000)).toMatchObject({ turns: 1, nextAt: began + hour });
    await clock.advance(began + hour - clock.now());
    // The schedule starts nothing by itself.
    expect((await rpc(server, 'ListTasks', {})).totalSize).toBe(1);
    expect(await run(server, 1_000)).toMatchObject({ turns: 1, nextAt: began + 1.5 * hour });
    // The deadline passes while no process is there. The clock of the process is set back meanwhile.
    await clock.advance(3 * hour);
    await run(server, minute);
    expect(await stateOf(server, id)).toBe('FAILED');
  });

  it('takes an answer that came in time, also if the deadline of its question passes before a run', async () => {
    const agent = taskAgent(async function* ({ messages }) {
      if (messages.length === 1) return yield inputRequired('Well?');
      yield completed();
    });
    const server = due(agent, { timeouts: { interruptedMs: minute } });
    const [answered, silent] = [await send(server), await send(server)];
    await run(server, 1_000);
    await send(server, { message: say('yes', { taskId: answered }) });
    await clock.advance(2 * minute);
    await run(server, minute);
    expect(await stateOf(server, answered)).toBe('COMPLETED');
    expect(await stateOf(server, silent)).toBe('FAILED');
  });

  it('deletes what was kept long enough, all of it', async () => {
    const retention = { closedAfterMs: hour, batch: 2 };
    const server = due(
      taskAgent(async function* () {
        yield completed();
      }),
      { retention },
    );
    const ids = [
      await send(server),
      await send(server),
      await send(server),
      await send(server),
      await send(server),
    ];
    await run(server, minute);
    await clock.advance(2 * hour);
    await run(server, minute);
    for (const id of ids)
      await expect(rpc(server, 'GetTask', { id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('deletes nothing more once its signal is aborted', async () => {
    const server = due(inSteps([]), { retention: { closedAfterMs: hour, batch: 1 } });
    const ids = [await send(server), await send(server), await send(server)];
    await run(server, minute);
    await clock.advance(2 * hour);
    const leaving = new AbortController();
    const { prune } = store;
    Object.assign(store, {
      prune: (...args: Parameters<typeof prune>) => {
        leaving.abort();
        return prune(...args);
      },
    });
    await run(server, minute, leaving.signal);
    const { totalSize } = await rpc(server, 'ListTasks', {});
    expect(totalSize).toBe(ids.length - 1);
  });

  it('keeps the options of steps, and what is said of one without a function', async () => {
    const agent = taskAgent(async function* ({ step }) {
      await step('again', { retries: 1, backoff: { initialMs: 1 } }, ({ attempt }) => {
        if (attempt === 1) throw new Error('not yet');
      });
      await expect(step('none', {}, undefined as never)).rejects.toThrow('The step "none" needs a function');
      yield completed();
    });
    const server = due(agent, { retry: { retries: 0, steps: { retries: 0 } } });
    const id = await send(server);
    await run(server, minute);
    expect(await stateOf(server, id)).toBe('COMPLETED');
  });

  it('touches nothing where the tasks of its name are those of another agent', async () => {
    const id = await send(due(inSteps([1])));
    // As of another process.
    const elsewhere = new Proxy(store, {});
    const card = { name: 'Other', description: 'Has the same name for its tasks' };
    const other = due(inSteps([1]), { card, store: elsewhere });
    const before = heard.called.length;
    expect(await run(other, minute)).toMatchObject({ turns: 0 });
    expect(heard.called.slice(before)).not.toContain('commit');
    expect(await stateOf(due(inSteps([1])), id)).toBe('SUBMITTED');
  });

  it('ends a webhook that hangs within its time, which counts as a failed attempt', async () => {
    const taskPushNotificationConfig = { url: await listen(() => {}) };
    const push = { allow: ['127.0.0.1'], http: true };
    const real = { store: memoryStore(), clock: {} };
    const server = due(inSteps([]), { ...real, push });
    const id = await send(server, { configuration: { ...returnImmediately, taskPushNotificationConfig } });
    const { nextAt = 0 } = await server.runDue({ forMs: 500 });
    expect(await stateOf(server, id)).toBe('COMPLETED');
    expect(nextAt).toBeGreaterThan(0);
    const [webhook] = await real.store.listPushConfigs('["agent","",""]', id, { limit: 1 });
    expect(webhook?.attempts).toBe(1);
  });

  it('is refused where it cannot work', async () => {
    expect(() => due(inSteps([]), { restart: 'fail' })).toThrow("`run: 'due'` needs `restart: 'rerun'`");
    const version = { name: '1', deploys: 'pinned' } as const;
    expect(() => due(inSteps([]), { version })).toThrow('`version.deploys`');
    await expect(due(inSteps([])).runDue({ forMs: 0 })).rejects.toThrow('`runDue.forMs` must be more than 0');
    await expect(serve(inSteps([])).runDue({ forMs: 1 })).rejects.toThrow("`runDue` needs `run: 'due'`");
  });
});

describe('a call', () => {
  it('that waits for its answer is worked on meanwhile, and its task alone', async () => {
    const server = due(inSteps([100, 100]));
    const waiting = await send(server);
    const answer = rpc(server, 'SendMessage', { message: say('go') });
    await clock.advance(5_000);
    expect((await answer).task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await stateOf(server, waiting)).toBe('SUBMITTED');
  });

  it('that waits for its answer is worked on no longer once its client has left', async () => {
    const server = due(inSteps([100, 100, 100]));
    const leaving = new AbortController();
    const request = new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: say('go') } }),
      signal: leaving.signal,
    });
    const answer = server.fetch(request).catch(() => {});
    await clock.advance(150);
    leaving.abort();
    await clock.advance(1_000);
    await answer;
    expect(seen).toEqual(['1:s0', '1:s1']);
  });

  it('that streams is worked on until its stream ends, by an update or by a client that leaves', async () => {
    const server = due(inSteps([100, 100, 100]));
    const events = collect(stream(server, 'SendStreamingMessage', { message: say('go') }));
    await clock.advance(1_000);
    expect(await events).toEqual(['task SUBMITTED', 'COMPLETED']);
    const left = stream(server, 'SendStreamingMessage', { message: say('go') });
    await left.next();
    await clock.advance(150);
    await left.return(undefined);
    await clock.advance(1_000);
    expect(seen.slice(3)).toEqual(['1:s0', '1:s1']);
  });
});
