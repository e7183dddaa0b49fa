import type { Fact } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { passableClock } from '../../../../../test/kit/passable-clock.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../../test/kit/until.ts';
import type { StepOptions } from '../../../src/agent/retries/retry.ts';
import {
  type Agent,
  type AgentServer,
  artifact,
  completed,
  failed,
  inputRequired,
  NonRetryableError,
  working,
} from '../../../src/index.ts';

const soon = { initialMs: 1, factor: 1, jitter: 0 } as const;
const late = { initialMs: 600_000, factor: 1, maxMs: 600_000, jitter: 0 } as const;

type Store = ReturnType<typeof memoryStore>;

/** A clock that can be moved on, and a store that goes by it. */
function passableStore() {
  const { clock, pass } = passableClock();
  // A wait in a process goes by the monotonic clock.
  return { store: memoryStore({ now: clock.now }), clock: { ...clock, monotonic: clock.now }, pass };
}

const start = async (server: AgentServer): Promise<string> => {
  const configuration = { returnImmediately: true };
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
  return task.id;
};

const factsOf = async (store: Store, id: string): Promise<readonly Fact[]> =>
  (await store.readFacts(scope, id, 0, 1_000)).map(({ fact }) => fact);

const kinds = async (store: Store, id: string) => (await factsOf(store, id)).map(({ type }) => type);

/** An agent with one step that fails so often, and the tries of the step that were made. */
function failing(times: number, options: StepOptions, error: () => unknown = () => new Error('Busy')) {
  const tries: number[] = [];
  const agent: Agent = async function* ({ step }) {
    yield working();
    const result = await step('call', options, ({ attempt }) => {
      tries.push(attempt);
      if (tries.length <= times) throw error();
      return `done in ${attempt}`;
    });
    yield completed(result);
  };
  return { agent, tries };
}

describe('a step that throws', () => {
  it('is tried again in the same attempt of its turn after a short wait, and each failure is a fact', async () => {
    const store = memoryStore();
    const { agent, tries } = failing(2, { retries: 3, backoff: soon });
    const server = serve(agent, { store });
    const id = await start(server);
    const { status } = await until(server, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'done in 3' }]);
    expect(tries).toEqual([1, 2, 3]);
    const facts = await factsOf(store, id);
    expect(facts.filter(({ type }) => type === 'step-failed')).toMatchObject([
      { turn: 1, name: 'call', attempt: 1, message: 'Busy', retryAt: expect.any(String) },
      { attempt: 2, retryAt: expect.any(String) },
    ]);
    expect(facts.filter(({ type }) => type === 'turn-started')).toHaveLength(1);
  });

  it('rejects with its own error after the last try', async () => {
    const store = memoryStore();
    const error = new Error('Busy');
    const seen: unknown[] = [];
    const server = serve(
      async function* ({ step }) {
        const options = { retries: 1, backoff: soon };
        await step('call', options, () => Promise.reject(error)).catch((thrown) => seen.push(thrown));
        yield completed();
      },
      { store },
    );
    const id = await start(server);
    await until(server, id, 'COMPLETED');
    expect(seen).toEqual([error]);
    expect(seen[0]).toBe(error);
    const failures = (await factsOf(store, id)).filter(({ type }) => type === 'step-failed');
    expect(failures.map((fact) => 'retryAt' in fact)).toEqual([true, false]);
  });

  it('is not tried again where another try would not help', async () => {
    for (const [options, error] of [
      [{ retries: 3, backoff: soon }, new NonRetryableError('No')],
      [{ retries: 3, backoff: soon, retryIf: () => false }, new Error('No')],
      [{ retries: 3, backoff: soon }, new A2AError('INVALID_PARAMS')],
      [{}, new Error('No')],
    ] as const) {
      const { agent, tries } = failing(9, options, () => error);
      const server = serve(agent);
      await until(server, await start(server), 'FAILED');
      expect(tries).toEqual([1]);
    }
  });

  it('is in the log without options too, once, for a replay of its task', async () => {
    const store = memoryStore();
    const server = serve(failing(1, {}).agent, { store });
    const id = await start(server);
    await until(server, id, 'FAILED');
    expect((await kinds(store, id)).filter((kind) => kind === 'step-failed')).toHaveLength(1);
  });

  it('is tried as often as `retry.steps` of the server says', async () => {
    const { agent, tries } = failing(2, {});
    const server = serve(agent, { retry: { steps: { retries: 2, backoff: soon } } });
    await until(server, await start(server), 'COMPLETED');
    expect(tries).toEqual([1, 2, 3]);
  });

  it('waits as long as `Retry-After` says', async () => {
    const { store, clock, pass } = passableStore();
    const busy = () => Object.assign(new Error('429'), { response: { headers: { 'retry-after': '40' } } });
    const { agent, tries } = failing(1, { retries: 1, backoff: soon }, busy);
    const server = serve(agent, { store, clock });
    const id = await start(server);
    await eventually(async () => expect(await kinds(store, id)).toContain('step-failed'));
    const fact = (await factsOf(store, id)).find(({ type }) => type === 'step-failed');
    if (fact?.type !== 'step-failed') throw new Error('There is none');
    expect(Date.parse(fact.retryAt!) - Date.parse(fact.at)).toBeGreaterThan(39_000);
    expect(tries).toEqual([1]);
    pass(45_000);
    await until(server, id, 'COMPLETED');
  });
});

describe('a step that takes too long', () => {
  it('has failed: the signal of the try is aborted, and the next one follows', async () => {
    const reasons: unknown[] = [];
    const server = serve(async function* ({ step, signal }) {
      const result = await step('call', { retries: 1, timeoutMs: 20, backoff: soon }, async (one) => {
        if (one.attempt === 2) return 'second';
        expect(one.signal.aborted).toBe(false);
        return new Promise<string>((_, reject) => {
          one.signal.addEventListener('abort', () => {
            reasons.push(one.signal.reason, signal.aborted);
            reject(one.signal.reason);
          });
        });
      });
      yield completed(result);
    });
    const { status } = await until(server, await start(server), 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'second' }]);
    expect(reasons).toEqual([
      expect.objectContaining({ message: 'The step "call" took longer than 20 ms', code: 'STEP_TIMEOUT' }),
      false,
    ]);
  });

  it('fails also where its function does not listen, whose late result is dropped', async () => {
    const store = memoryStore();
    const end = Promise.withResolvers<string>();
    const server = serve(
      async function* ({ step }) {
        const why = await step('call', { timeoutMs: 5 }, () => end.promise).catch(
          (error: Error) => error.message,
        );
        end.resolve('late');
        yield completed(why);
      },
      { store },
    );
    const id = await start(server);
    const { status } = await until(server, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'The step "call" took longer than 5 ms' }]);
    expect(await kinds(store, id)).not.toContain('step-completed');
  });

  it('is not late if it ends in time, and its signal is left alone then', async () => {
    const { clock, pass } = passableClock();
    let kept: AbortSignal | undefined;
    const server = serve(
      async function* ({ step }) {
        yield completed(
          await step('call', { timeoutMs: 60_000 }, ({ signal }) => {
            kept = signal;
            return 'in time';
          }),
        );
      },
      { clock },
    );
    await until(server, await start(server), 'COMPLETED');
    pass(70_000);
    expect(kept?.aborted).toBe(false);
  });

  it('hears of a cancel by the signal of the try, which is no failure', async () => {
    const store = memoryStore();
    const running = Promise.withResolvers<void>();
    const codes: unknown[] = [];
    const server = serve(
      async function* ({ step }) {
        yield working();
        await step('call', { retries: 5, timeoutMs: 60_000, backoff: soon }, ({ signal }) => {
          running.resolve();
          return new Promise((_, reject) =>
            signal.addEventListener('abort', () => {
              codes.push(signal.reason.code);
              reject(signal.reason);
            }),
          );
        });
      },
      { store },
    );
    const id = await start(server);
    await running.promise;
    await rpc(server, 'CancelTask', { id });
    await until(server, id, 'CANCELED');
    expect(codes).toEqual(['CANCELED']);
    expect(await kinds(store, id)).not.toContain('step-failed');
  });
});

describe('a step that waits for long', () => {
  it('gives its process back under `rerun`, and goes on in another attempt with the count that it had', async () => {
    const { store, clock, pass } = passableStore();
    const { agent, tries } = failing(2, { retries: 2, backoff: late });
    const server = serve(agent, { store, clock, restart: 'rerun' });
    const id = await start(server);
    for (const count of [1, 2]) {
      await eventually(async () => {
        const types = await kinds(store, id);
        expect(types.filter((type) => type === 'turn-paused')).toHaveLength(count);
      });
      await eventually(() => expect(server.load.turns).toBe(0));
      expect(tries).toHaveLength(count);
      pass(600_001);
    }
    const { status } = await until(server, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'done in 3' }]);
    const started = (await factsOf(store, id)).filter(({ type }) => type === 'turn-started');
    expect(started).toMatchObject([{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }]);
  });

  it('waits in its process under `fail`, where the agent must not run again', async () => {
    const { store, clock, pass } = passableStore();
    const { agent } = failing(1, { retries: 1, backoff: late });
    const server = serve(agent, { store, clock });
    const id = await start(server);
    await eventually(async () => expect(await kinds(store, id)).toContain('step-failed'));
    expect(server.load.turns).toBe(1);
    pass(600_001);
    await until(server, id, 'COMPLETED');
    expect(await kinds(store, id)).not.toContain('turn-paused');
  });

  it('rejects with a reason that says so, and nothing that the agent does then is written', async () => {
    const { store, clock, pass } = passableStore();
    const seen: unknown[] = [];
    const server = serve(
      async function* ({ step, attempt, signal, memory }) {
        yield working();
        if (attempt === 2) return yield completed();
        try {
          await step('call', { retries: 1, backoff: late }, () => Promise.reject(new Error('Busy')));
        } catch (error) {
          seen.push((error as { code: string }).code, signal.reason.code);
          await memory.set('late', 1).catch(() => seen.push('refused'));
          yield failed('Too late');
        }
      },
      { store, clock, restart: 'rerun' },
    );
    const id = await start(server);
    await eventually(() => expect(seen).toEqual(['PAUSED', 'PAUSED', 'refused']));
    pass(600_001);
    await until(server, id, 'COMPLETED');
    expect(await kinds(store, id)).not.toContain('memory-changed');
  });

  it('lets other steps of its turn end, whose results are kept', async () => {
    const { store, clock, pass } = passableStore();
    const slow = Promise.withResolvers<string>();
    let runs = 0;
    const server = serve(
      async function* ({ step, attempt }) {
        const [one, other] = await Promise.all([
          step('slow', () => {
            runs++;
            return slow.promise;
          }),
          step('call', { retries: 1, backoff: late }, () => {
            if (attempt === 1) throw new Error('Busy');
            return 'ok';
          }),
        ]);
        yield completed(`${one} ${other}`);
      },
      { store, clock, restart: 'rerun' },
    );
    const id = await start(server);
    await eventually(async () => expect(await kinds(store, id)).toContain('step-failed'));
    expect(server.load.turns).toBe(1);
    slow.resolve('slow');
    await eventually(async () => expect(await kinds(store, id)).toContain('turn-paused'));
    pass(600_001);
    const { status } = await until(server, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'slow ok' }]);
    expect(runs).toBe(1);
  });

  it('ends at once when its task is canceled, with the hook for its children', async () => {
    const { store, clock } = passableStore();
    const hooks: string[] = [];
    const { agent } = failing(1, { retries: 1, backoff: late });
    const onCancel = ({ taskId }: { taskId: string }) => void hooks.push(taskId);
    const server = serve(agent, { store, clock, restart: 'rerun', onCancel });
    const id = await start(server);
    await eventually(async () => expect(await kinds(store, id)).toContain('turn-paused'));
    await eventually(() => expect(server.load.turns).toBe(0));
    const task = await rpc(server, 'CancelTask', { id });
    expect(task.status.state).toBe('TASK_STATE_CANCELED');
    expect(hooks).toEqual([id]);
  });

  it('ends at once when its task is canceled in a process that waits', async () => {
    const { store, clock } = passableStore();
    const { agent } = failing(1, { retries: 1, backoff: late });
    const server = serve(agent, { store, clock });
    const id = await start(server);
    await eventually(async () => expect(await kinds(store, id)).toContain('step-failed'));
    const task = await rpc(server, 'CancelTask', { id });
    expect(task.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('is not started early by a message, which the next attempt has in its inbox', async () => {
    const { store, clock, pass } = passableStore();
    const server = serve(
      async function* ({ step, inbox, messages }) {
        yield working();
        await step('call', { retries: 1, backoff: late }, ({ attempt }) => {
          if (attempt === 1) throw new Error('Busy');
        });
        const message = await inbox.take();
        yield completed(`${messages.length}: ${message?.messageId}`);
      },
      { store, clock, restart: 'rerun' },
    );
    const id = await start(server);
    await eventually(async () => expect(await kinds(store, id)).toContain('turn-paused'));
    const configuration = { returnImmediately: true };
    const message = say('more', { taskId: id });
    await rpc(server, 'SendMessage', { message, configuration });
    await eventually(() => expect(server.load.turns).toBe(0));
    expect((await kinds(store, id)).filter((type) => type === 'turn-started')).toHaveLength(1);
    pass(600_001);
    const { status } = await until(server, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: `2: ${message.messageId}` }]);
    expect((await kinds(store, id)).filter((type) => type === 'turn-started')).toHaveLength(2);
  });

  it('is not waited for by a server that closes, and another one goes on with it', async () => {
    const { store, clock, pass } = passableStore();
    const { agent, tries } = failing(1, { retries: 1, backoff: { ...late, initialMs: 4_000 } });
    const first = serve(agent, { store, clock, restart: 'rerun' });
    const id = await start(first);
    await eventually(async () => expect(await kinds(store, id)).toContain('step-failed'));
    await first.close({ graceMs: 0 });
    expect(await kinds(store, id)).not.toContain('turn-paused');
    pass(4_001);
    const second = serve(agent, { store, clock, restart: 'rerun' });
    const { status } = await until(second, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'done in 2' }]);
    expect(tries).toEqual([1, 2]);
  });

  it('ends when the time of its task is over', async () => {
    const { store, clock, pass } = passableStore();
    const { agent } = failing(1, { retries: 1, backoff: late });
    const server = serve(agent, { store, clock, restart: 'rerun', timeouts: { taskMs: 100_000 } });
    const id = await start(server);
    await eventually(async () => expect(await kinds(store, id)).toContain('turn-paused'));
    pass(100_001);
    const { status } = await until(server, id, 'FAILED');
    expect(JSON.stringify(status)).toContain('DEADLINE_EXCEEDED');
  });
});

describe('a step that failed for good', () => {
  it('fails again in a later attempt of its turn without running', async () => {
    const { store, clock, pass } = passableStore();
    const log: unknown[] = [];
    const server = serve(
      async function* ({ step }) {
        yield working();
        await step('gone', { retries: 1, backoff: soon }, ({ attempt }) => {
          log.push(attempt);
          throw new Error('Gone');
        }).catch((error: Error & { code?: string }) => log.push(error.code ?? error.message));
        await step('call', { retries: 1, backoff: late }, ({ attempt }) => {
          if (attempt === 1) throw new Error('Busy');
        });
        yield completed();
      },
      { store, clock, restart: 'rerun' },
    );
    const id = await start(server);
    await eventually(async () => expect(await kinds(store, id)).toContain('turn-paused'));
    pass(600_001);
    await until(server, id, 'COMPLETED');
    expect(log).toEqual([1, 2, 'Gone', 'STEP_FAILED']);
  });
});

describe('a step that the task keeps', () => {
  it('runs once in all turns', async () => {
    let runs = 0;
    const server = serve(async function* ({ step, text }) {
      const plan = await step('plan', { keep: 'task' }, () => ({ run: ++runs }));
      yield artifact('plan', JSON.stringify(plan));
      if (text === 'go') return yield inputRequired('And?');
      yield completed();
    });
    const id = await start(server);
    await until(server, id, 'INPUT_REQUIRED');
    await rpc(server, 'SendMessage', { message: say('end', { taskId: id }) });
    const { artifacts } = await until(server, id, 'COMPLETED');
    expect(artifacts?.[0]?.parts).toEqual([{ text: '{"run":1}' }]);
    expect(runs).toBe(1);
  });

  it('is refused before it runs if it has no function', async () => {
    const seen: unknown[] = [];
    const server = serve(async function* ({ step }) {
      await step('plan', { keep: 'task' }, undefined as never).catch((error: Error) =>
        seen.push(error.message),
      );
      yield completed();
    });
    await until(server, await start(server), 'COMPLETED');
    expect(seen).toEqual(['The step "plan" needs a function']);
  });
});
