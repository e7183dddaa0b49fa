import { eraseTasks } from '@batonjs/operator';
import type { Task } from '@batonjs/protocol';
import { StoreError, type TaskStore } from '@batonjs/store';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { change } from '../../../../test/kit/faulty-store.ts';
import { passableClock } from '../../../../test/kit/passable-clock.ts';
import { brief, rpc, type Seen, say, stream } from '../../../../test/kit/rpc.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { slowStore } from '../../../../test/kit/slow-store.ts';
import { until } from '../../../../test/kit/until.ts';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  append,
  artifact,
  authRequired,
  completed,
  inputRequired,
  type Logger,
  text,
  working,
} from '../../src/index.ts';
import { createWorker } from '../../src/worker.ts';

/** Several servers and workers on one store behave as one. `newStore` makes an empty store; the caller closes it. */
export function severalServersScenarios(newStore: () => TaskStore): void {
  const now = { returnImmediately: true };
  const serve = serveWith({ timeouts: { leaseMs: 2_000, storeMs: 2_000 } });
  const work = (agent: Agent, options: Partial<AgentServerOptions> & { store: TaskStore }) =>
    closedAfterTest(createWorker({ agent, logger: () => {}, ...options }));
  const start = async (server: AgentServer): Promise<Task> =>
    (await rpc(server, 'SendMessage', { message: say('go'), configuration: now })).task;
  const codeOf = (task: Task) =>
    task.status.message?.parts.flatMap((part) =>
      'data' in part ? [(part.data as { code: string }).code] : [],
    )[0];

  /**
   * A store whose process was killed: nothing of it reaches the log any more, nothing is renewed. When the test ends, its
   * calls fail, so that closing what used it does not wait for their time limits.
   */
  function mortal(store: TaskStore): TaskStore & { kill(): void } {
    let call = (act: () => unknown): unknown => act();
    const kill = () => {
      const over = Promise.withResolvers<never>();
      over.promise.catch(() => {});
      call = () => over.promise;
      onTestFinished(() => over.reject(new StoreError('UNAVAILABLE', 'The process was killed')));
    };
    return new Proxy(store, {
      get(target, name, receiver) {
        if (name === 'kill') return kill;
        const member = Reflect.get(target, name, receiver);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => call(() => member.apply(target, args));
      },
    }) as TaskStore & { kill(): void };
  }

  async function* count(to: number) {
    for (let i = 0; i < to; i++)
      yield i === 0 ? artifact('count', text('0')) : append('count', text(String(i)));
  }

  const counting: Agent = async function* () {
    yield working();
    yield* count(120);
    yield completed();
  };

  const hanging: Agent = async function* () {
    yield working();
    await new Promise(() => {});
  };

  it('stops an agent that runs in another process, and says the same everywhere', async () => {
    const store = newStore();
    const followed = Promise.withResolvers<void>();
    const counted = Promise.withResolvers<void>();
    const agent: Agent = async function* ({ signal }) {
      yield working();
      await followed.promise;
      yield* count(4);
      await untilAborted(signal);
    };
    const [a, b] = [serve(agent, { store }), serve(agent, { store })];
    const { id } = await start(a);
    const events: string[] = [];
    const following = (async () => {
      for await (const { event } of stream(a, 'SubscribeToTask', { id })) {
        events.push(brief(event));
        followed.resolve();
        if (events.at(-1) === 'count:3') counted.resolve();
      }
    })();
    await counted.promise;
    expect((await rpc(b, 'CancelTask', { id })).status.state).toBe('TASK_STATE_CANCELED');
    await following;
    expect(events.at(-1)).toBe('CANCELED');
    expect((await rpc(a, 'GetTask', { id })).status.state).toBe('TASK_STATE_CANCELED');
  });

  it.each(['erased', 'pruned'])('hears late that a task was %s, and not that it was lost', async (how) => {
    const store = newStore();
    const errors: string[] = [];
    const logger: Logger = (level, message) => level === 'error' && errors.push(message);
    let mayRead = Promise.resolve();
    const slow = change(store, {
      subscribe: () => async () => () => {},
      readFacts:
        (read) =>
        (...args) =>
          mayRead.then(() => read(...args)),
    });
    const late = serve(hanging, { store: slow, run: 'workers', timeouts: { sweepMs: 20 }, logger });
    const here = serve(hanging, { store, timeouts: { cancelGraceMs: 30 }, logger });
    const { id } = await start(here);
    await until(here, id, 'WORKING');
    const following = stream(late, 'SubscribeToTask', { id });
    await following.next();
    const gone = Promise.withResolvers<void>();
    mayRead = gone.promise;
    if (how === 'erased')
      expect(await eraseTasks(here, { taskId: id })).toMatchObject({ tasks: 1, left: [] });
    else {
      await rpc(here, 'CancelTask', { id });
      const closedBefore = new Date(Date.now() + 60_000).toISOString();
      expect(await store.prune({ closedBefore, limit: 9 })).toBe(1);
    }
    gone.resolve();
    const notFound = { reason: 'TASK_NOT_FOUND' };
    await expect(following.next()).rejects.toMatchObject(notFound);
    await expect(rpc(late, 'GetTask', { id })).rejects.toMatchObject(notFound);
    expect(errors).toEqual([]);
  });

  it('shows the same events in every process', async () => {
    const store = newStore();
    const followed = Promise.withResolvers<void>();
    const agent: Agent = async function* () {
      yield working();
      await followed.promise;
      yield* count(30);
      yield completed();
    };
    const [a, b] = [serve(agent, { store }), serve(agent, { store })];
    const { id } = await start(a);
    let followers = 0;
    const follow = async (server: AgentServer) => {
      const seen: [string | undefined, string][] = [];
      for await (const { id: position, event } of stream(server, 'SubscribeToTask', { id })) {
        if (!('task' in event)) seen.push([position, brief(event)]);
        else if (++followers === 2) followed.resolve();
      }
      return seen;
    };
    const [here, there] = await Promise.all([follow(a), follow(b)]);
    expect(there.length).toBeGreaterThan(30);
    expect(here.slice(-31)).toEqual(there.slice(-31));
  });

  /** Short, so that a death is noticed soon. */
  const mortality = { timeouts: { leaseMs: 500, storeMs: 2_000 } };

  describe('a task whose process dies', () => {
    it("fails with a reason under 'fail'", async () => {
      const store = newStore();
      const doomed = mortal(store);
      const { id } = await start(serve(hanging, { store: doomed, ...mortality }));
      doomed.kill();
      const b = serve(hanging, { store, ...mortality });
      const task = await until(b, id, 'FAILED');
      expect(codeOf(task)).toBe('PROCESS_LOST');
    });

    it("runs again under 'rerun', without repeating its steps", async () => {
      const store = newStore();
      const doomed = mortal(store);
      const attempts: number[] = [];
      let charged = 0;
      const agent: Agent = async function* ({ attempt, step, task }) {
        attempts.push(attempt);
        const receipt = await step('charge', () => `receipt ${++charged}`);
        yield working(`${receipt}, ${task?.status.state}`);
        if (attempt === 1) await new Promise(() => {});
        yield completed(receipt);
      };
      const first = serve(agent, { store: doomed, ...mortality, restart: 'rerun' });
      const { id } = await start(first);
      await until(first, id, 'WORKING');
      doomed.kill();
      const task = await until(serve(agent, { store, ...mortality, restart: 'rerun' }), id, 'COMPLETED');
      expect(task.status.message?.parts).toEqual([{ text: 'receipt 1' }]);
      expect([attempts, charged]).toEqual([[1, 2], 1]);
    });

    it('fails after so many attempts', async () => {
      const store = newStore();
      let attempts = 0;
      const agent: Agent = async function* () {
        attempts++;
        yield working();
        await new Promise(() => {});
      };
      let id = '';
      for (let i = 0; i < 2; i++) {
        const doomed = mortal(store);
        const server = serve(agent, { store: doomed, ...mortality, restart: { maxAttempts: 2 } });
        if (i === 0) id = (await start(server)).id;
        await vi.waitFor(() => expect(attempts).toBe(i + 1));
        doomed.kill();
      }
      const task = await until(
        serve(agent, { store, ...mortality, restart: { maxAttempts: 2 } }),
        id,
        'FAILED',
      );
      expect([codeOf(task), attempts]).toEqual(['PROCESS_LOST', 2]);
    });

    it('is canceled and not run again if a cancel was requested', async () => {
      const store = newStore();
      const doomed = mortal(store);
      let runs = 0;
      const agent: Agent = async function* () {
        runs++;
        yield working();
        await new Promise(() => {});
      };
      const { id } = await start(serve(agent, { store: doomed, ...mortality, restart: 'rerun' }));
      await vi.waitFor(() => expect(runs).toBe(1));
      doomed.kill();
      const b = serve(agent, {
        store,
        ...mortality,
        restart: 'rerun',
        timeouts: { ...mortality.timeouts, cancelGraceMs: 60_000 },
      });
      expect((await rpc(b, 'CancelTask', { id })).status.state).toBe('TASK_STATE_CANCELED');
      expect(runs).toBe(1);
    });

    it('aborts the signal of its agent, and lets it change nothing', async () => {
      const store = newStore();
      let cut = false;
      const paused = new Proxy(store, {
        get(target, name, receiver) {
          const member = Reflect.get(target, name, receiver);
          if (name !== 'renew') return member;
          return (...args: unknown[]) => (cut ? new Promise(() => {}) : member.apply(target, args));
        },
      });
      let aborted: unknown;
      let wrote: unknown;
      const agent: Agent = async function* ({ signal, attempt }) {
        yield working(`attempt ${attempt}`);
        if (attempt > 1) return yield completed('second');
        await untilAborted(signal);
        aborted = signal.reason;
        try {
          yield completed('first');
        } catch (error) {
          wrote = error;
        }
      };
      const first = serve(agent, { store: paused, ...mortality, restart: 'rerun' });
      const { id } = await start(first);
      cut = true;
      const task = await until(serve(agent, { store, ...mortality, restart: 'rerun' }), id, 'COMPLETED');
      expect(task.status.message?.parts).toEqual([{ text: 'second' }]);
      expect(aborted).toBeInstanceOf(Error);
      expect(wrote).toBeUndefined();
    });
  });

  describe("run: 'workers'", () => {
    it('leaves the turns to workers and serves the rest', async () => {
      const store = newStore();
      const front = serve(counting, { store, run: 'workers' });
      const sent = rpc(front, 'SendMessage', { message: say('hi') });
      await vi.waitFor(async () => expect(await store.waiting('agent')).toBe(1));
      const worker = work(
        async function* ({ text: said }) {
          yield working();
          yield completed(`worked on ${said}`);
        },
        { store },
      );
      expect((await sent).task.status).toMatchObject({
        state: 'TASK_STATE_COMPLETED',
        message: { parts: [{ text: 'worked on hi' }] },
      });
      // The client may hear of the end before the worker has come back from writing it.
      await vi.waitFor(() => expect(worker.running).toBe(0));
    });

    it('asks, answers and cancels through workers', async () => {
      const store = newStore();
      const agent: Agent = async function* ({ messages }) {
        if (messages.length === 1) return yield inputRequired('Which?');
        yield working();
        await new Promise(() => {});
      };
      const front = serve(agent, { store, run: 'workers', timeouts: { cancelGraceMs: 20 } });
      work(agent, { store, timeouts: { cancelGraceMs: 20 } });
      const { task } = await rpc(front, 'SendMessage', { message: say('hi') });
      expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      await rpc(front, 'SendMessage', { message: say('that', { taskId: task.id }), configuration: now });
      await until(front, task.id, 'WORKING');
      expect((await rpc(front, 'CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');
    });
  });

  describe('AUTH_REQUIRED', () => {
    it('goes on when it is woken, in any process', async () => {
      const store = newStore();
      let key = '';
      const agent: Agent = async function* ({ task, wakeKey }) {
        if (task?.status.state === 'TASK_STATE_SUBMITTED') {
          key = wakeKey;
          return yield authRequired('Log in at …');
        }
        yield completed('logged in');
      };
      const [a, b] = [serve(agent, { store }), serve(agent, { store })];
      const { task } = await rpc(a, 'SendMessage', { message: say('go') });
      expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
      await b.wake(key);
      expect((await until(a, task.id, 'COMPLETED')).status.message?.parts).toEqual([{ text: 'logged in' }]);
      await expect(b.wake(key)).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
      await expect(b.wake('nonsense')).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    });

    it('keeps streams open and the agent running', async () => {
      const store = newStore();
      const loggedIn = Promise.withResolvers<void>();
      const a = serve(
        async function* () {
          yield authRequired('Log in');
          await loggedIn.promise;
          yield working('Thanks');
          yield completed();
        },
        { store },
      );
      const seen: string[] = [];
      for await (const { event } of stream(a, 'SendStreamingMessage', { message: say('go') })) {
        seen.push(brief(event));
        if (seen.at(-1) === 'AUTH_REQUIRED') loggedIn.resolve();
      }
      expect(seen).toEqual(['task SUBMITTED', 'AUTH_REQUIRED', 'WORKING', 'COMPLETED']);
    });
  });

  describe('clocks', () => {
    it('end a task that its client does not answer, though no process holds it', async () => {
      const store = newStore();
      const agent: Agent = async function* () {
        yield inputRequired('Well?');
      };
      const a = serve(agent, { store, timeouts: { interruptedMs: 60 } });
      const { task } = await rpc(a, 'SendMessage', { message: say('go') });
      // The store decides by its own clock. On a busy machine it is over before the answer is here.
      expect(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_FAILED']).toContain(task.status.state);
      expect(codeOf(await until(a, task.id, 'FAILED'))).toBe('DEADLINE_EXCEEDED');
    });

    it('end a turn that says nothing for too long', async () => {
      const { clock, pass } = passableClock();
      const a = serve(
        async function* () {
          // Together longer than the limit, but none of the pauses is.
          for (let i = 0; i < 5; i++) {
            pass(40_000);
            yield working(String(i));
          }
          pass(60_000);
          await new Promise(() => {});
        },
        { store: newStore(), clock, timeouts: { inactivityMs: 60_000 } },
      );
      const { id } = await start(a);
      const task = await until(a, id, 'FAILED');
      expect(codeOf(task)).toBe('DEADLINE_EXCEEDED');
      expect(task.history?.length).toBe(6);
    });

    it('bound how long a send blocks', async () => {
      const a = serve(hanging, { store: newStore(), timeouts: { blockingMs: 30 } });
      const { task } = await rpc(a, 'SendMessage', { message: say('go') });
      expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(task.status.state);
    });
  });

  describe('the same messageId', () => {
    it.each([0, 5])('starts one task on several servers, with a store that takes %i ms', async (ms) => {
      const store = slowStore(newStore(), ms);
      let runs = 0;
      const agent: Agent = async function* () {
        runs++;
        yield completed(`run ${runs}`);
      };
      const servers = [0, 1, 2].map(() => serve(agent, { store, messages: { idempotency: true } }));
      const message = say('once');
      const answers = await Promise.all(servers.map((server) => rpc(server, 'SendMessage', { message })));
      expect(new Set(answers.map(({ task }) => task.id)).size).toBe(1);
      expect(runs).toBe(1);
    });

    it('with another body is a conflict [R-IDX-04]', async () => {
      const a = serve(counting, {
        store: newStore(),
        timeouts: { blockingMs: 1 },
        messages: { idempotency: true },
      });
      const message = say('once');
      const { task } = await rpc(a, 'SendMessage', { message });
      await expect(
        rpc(a, 'SendMessage', { message: { ...message, parts: [{ text: 'twice' }] } }),
      ).rejects.toMatchObject({ reason: 'MESSAGE_ID_CONFLICT' });
      expect((await rpc(a, 'SendMessage', { message, configuration: { historyLength: 0 } })).task.id).toBe(
        task.id,
      );
    });

    it('of a follow-up is taken once', async () => {
      let turns = 0;
      const a = serve(
        async function* () {
          yield ++turns === 1 ? inputRequired('More?') : inputRequired(`Turn ${turns}`);
        },
        { store: newStore() },
      );
      const { task } = await rpc(a, 'SendMessage', { message: say('go') });
      const message = say('more', { taskId: task.id });
      const [one, two] = await Promise.all([
        rpc(a, 'SendMessage', { message }),
        rpc(a, 'SendMessage', { message }),
      ]);
      expect([turns, one.task.status.message.parts]).toEqual([2, two.task.status.message.parts]);
    });
  });

  describe('resuming a stream', () => {
    it('continues after the last event, in another process, also after the end', async () => {
      const store = newStore();
      const [a, b] = [serve(counting, { store }), serve(counting, { store })];
      const all: Seen[] = [];
      for await (const seen of stream(a, 'SendStreamingMessage', { message: say('go') })) all.push(seen);
      const first = all[0];
      if (!first || !('task' in first.event)) throw new Error('A stream starts with its task');
      const { id } = first.event.task;
      for (const at of [0, 1, 60, all.length - 2]) {
        const rest: Seen[] = [];
        const headers = { 'last-event-id': all[at]?.id ?? '' };
        for await (const seen of stream(b, 'SubscribeToTask', { id }, headers)) rest.push(seen);
        expect(rest).toEqual(all.slice(at + 1));
      }
    });

    it.each(['other.3', '999999', 'garbage', ''])(
      'says that there is a gap when asked to go on after "%s"',
      async (lastEventId) => {
        const a = serve(counting, { store: newStore() });
        const { task } = await rpc(a, 'SendMessage', { message: say('go') });
        const seen: Seen[] = [];
        for await (const event of stream(
          a,
          'SubscribeToTask',
          { id: task.id },
          { 'last-event-id': lastEventId },
        ))
          seen.push(event);
        expect(seen.map(({ event }) => brief(event))).toEqual(['task COMPLETED']);
        expect(seen[0]?.id).toMatch(/\.\d+~\w+$/);
      },
    );
  });

  describe('draining', () => {
    it('lets turns finish and answers the requests that wait', async () => {
      const store = newStore();
      const goOn = Promise.withResolvers<void>();
      const a = serve(
        async function* () {
          yield working();
          await goOn.promise;
          yield completed('in time');
        },
        { store },
      );
      const sent = rpc(a, 'SendMessage', { message: say('go') });
      await vi.waitFor(() => expect(a.load.turns).toBe(1));
      const closing = a.close({ graceMs: 30_000 });
      goOn.resolve();
      await closing;
      expect((await sent).task.status.state).toBe('TASK_STATE_COMPLETED');
      await expect(rpc(a, 'SendMessage', { message: say('more') })).rejects.toMatchObject({
        reason: 'UNAVAILABLE',
      });
      expect(await a.ready()).toBe(false);
    });

    it("fails what does not finish under 'fail', and hands it back under 'rerun'", async () => {
      const stuck: Agent = async function* ({ attempt }) {
        yield working();
        if (attempt === 1) await new Promise(() => {});
        yield completed();
      };
      for (const [restart, state] of [
        ['fail', 'FAILED'],
        ['rerun', 'COMPLETED'],
      ] as const) {
        const store = newStore();
        const a = serve(stuck, { store, restart });
        const { id } = await start(a);
        await until(a, id, 'WORKING');
        await a.close({ graceMs: 10 });
        await until(serve(stuck, { store, restart }), id, state);
      }
    });
  });
}
