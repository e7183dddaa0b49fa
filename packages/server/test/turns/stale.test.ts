import { decodeSse } from '@batonjs/bindings';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, vi } from 'vitest';
import { checkHistory, readLog } from '../../../../test/histories/history.ts';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { frequentPolls } from '../../../../test/kit/frequent-polls.ts';
import { brief, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { type Agent, append, artifact, completed, inputRequired, text, working } from '../../src/index.ts';

/** What a process knew before the store was away, or before it was asleep, is not believed. */

const now = { returnImmediately: true };
const serve = serveWith({ timeouts: { leaseMs: 200, sweepMs: 50 } });
const violationsOf = async (store: TaskStore, id: string) => {
  const log = await readLog(store, scope, id);
  return checkHistory({ logs: log ? [log] : [], settled: true });
};

it('changes nothing when it writes though it lost its lease and does not know', async () => {
  const memory = memoryStore();
  // It believes that every lease lives, and that no time passes.
  const deluded = change(memory, { renew: () => async (leases) => leases });
  const wake = Promise.withResolvers<void>();
  const wrote: string[] = [];
  const agent: Agent = async function* ({ attempt }) {
    yield working(`attempt ${attempt}`);
    if (attempt === 1) {
      await wake.promise;
      yield working('still here');
      wrote.push('still here');
    }
    yield completed(`attempt ${attempt}`);
  };
  const asleep = serve(agent, { store: deluded, restart: 'rerun', clock: { monotonic: () => 0 } });
  const { task } = await rpc(asleep, 'SendMessage', { message: say('go'), configuration: now });
  await until(asleep, task.id, 'WORKING');
  const other = serve(
    async function* (turn) {
      yield working('taken over');
      wake.resolve();
      await vi.waitFor(() => expect(asleep.load.turns).toBe(0));
      yield completed(`attempt ${turn.attempt}`);
    },
    // Its own lease outlives the test: only that of the other one runs out.
    { store: memory, restart: 'rerun', timeouts: { leaseMs: 60_000 }, clock: frequentPolls() },
  );
  const ended = await until(other, task.id, 'COMPLETED');
  expect(ended.status.message?.parts).toEqual([{ text: 'attempt 2' }]);
  expect(JSON.stringify(ended)).not.toContain('still here');
  expect(wrote).toEqual([]);
  expect(await violationsOf(memory, task.id)).toEqual([]);
});

it('decides about a claimed task only on a log that was read after the claim', async () => {
  const memory = memoryStore();
  let isDown = false;
  const failing = change(memory, {
    readFacts:
      (readFacts) =>
      async (...args) => {
        if (isDown) throw unavailable();
        return readFacts(...args);
      },
  });
  const agent: Agent = async function* ({ messages }) {
    yield working();
    if (messages.length === 1) {
      await vi.waitFor(() => expect(isDown).toBe(true));
      return yield inputRequired('Well?');
    }
    yield completed();
  };
  const first = serve(agent, { store: memory, timeouts: { leaseMs: 60_000 } });
  const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration: now });
  // The second one follows, sees the turn begin, and then cannot read any more.
  const second = serve(agent, { store: failing });
  const seen: string[] = [];
  const following = (async () => {
    for await (const { event } of stream(second, 'SubscribeToTask', { id: task.id })) seen.push(brief(event));
  })().catch(() => {});
  const blocked = rpc(second, 'SendMessage', { message: say('keep it in memory', { taskId: task.id }) });
  await vi.waitFor(() => expect(seen.length).toBeGreaterThan(0));
  isDown = true;
  await first.close({ graceMs: 5_000 });
  isDown = false;
  const ended = await until(second, task.id, 'COMPLETED');
  expect(ended.status.state).toBe('TASK_STATE_COMPLETED');
  await Promise.allSettled([blocked, following]);
  expect(await violationsOf(memory, task.id)).toEqual([]);
});

it('streams everything since what it knew, though it could not read its own message back', async () => {
  const memory = memoryStore();
  const agent: Agent = async function* ({ text: said }) {
    yield artifact(said, text(said));
    yield inputRequired(`After ${said}?`);
  };
  const other = serve(agent, { store: memory });
  const { task } = await rpc(other, 'SendMessage', { message: say('one') });
  let refusals = 0;
  const failing = change(memory, {
    commit: (commit) => async (one) => {
      if (one.expectedVersion !== 'open') return commit(one);
      await rpc(other, 'SendMessage', { message: say('two', { taskId: task.id }) });
      const committed = await commit(one);
      // The next read is that of its own message: a sweep that came before took no refusal away.
      refusals = 1;
      return committed;
    },
    readFacts:
      (readFacts) =>
      async (...args) => {
        if (refusals-- > 0) throw unavailable();
        return readFacts(...args);
      },
    subscribe: () => async () => () => {},
  });
  const front = serve(agent, { store: failing, run: 'workers', timeouts: { sweepMs: 20 } });
  const message = say('three', { taskId: task.id });
  const request = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } };
  const { body } = await front.fetch(
    new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify(request),
    }),
  );
  // It reads on only when the log can be read again.
  await vi.waitFor(() => expect(refusals).toBeLessThan(0));
  const seen: string[] = [];
  for await (const { data } of decodeSse(body as ReadableStream<Uint8Array>))
    seen.push(brief(JSON.parse(data).result));
  expect(seen).toEqual([
    'task INPUT_REQUIRED',
    'WORKING',
    'two:two',
    'INPUT_REQUIRED',
    'WORKING',
    'three:three',
    'INPUT_REQUIRED',
  ]);
});

it('does not go on with a turn that another server had meanwhile', async () => {
  const memory = memoryStore();
  const had = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isFirst = true;
  const slow = change(memory, {
    commit: (commit) => async (one) => {
      const committed = await commit(one);
      // Of a turn: not what the store remembers of the agent.
      if (!isFirst || !one.turn) return committed;
      isFirst = false;
      throw unavailable();
    },
    // Whether it still has the lease is answered after other servers had the task, when another turn is wanted.
    claim: (claim) => async (request) => {
      if (!request.task) {
        await asked.promise;
        return claim(request);
      }
      await had.promise;
      return claim(request).finally(asked.resolve);
    },
  });
  const runs: string[] = [];
  const agent = (where: string): Agent =>
    async function* ({ text: said, messages }) {
      runs.push(`${where} ${said}`);
      yield messages.length === 1 ? inputRequired('Well?') : completed(said);
    };
  const one = serve(agent('one'), {
    store: slow,
    restart: 'rerun',
    timeouts: { storeMs: 5_000 },
    messages: { idempotency: true },
  });
  const two = serve(agent('two'), { store: memory, restart: 'rerun', messages: { idempotency: true } });
  const message = say('first');
  const sent = rpc(one, 'SendMessage', { message, configuration: now });
  const { task } = await vi.waitFor(async () => {
    const known = await rpc(two, 'ListTasks', {});
    return { task: await until(two, known.tasks[0].id, 'INPUT_REQUIRED') };
  });
  await two.close();
  const front = serve(agent('front'), { store: memory, run: 'workers' });
  await rpc(front, 'SendMessage', { message: say('second', { taskId: task.id }), configuration: now });
  had.resolve();
  await sent;
  const ended = await until(front, task.id, 'COMPLETED');
  expect(ended.status.message?.parts).toEqual([{ text: 'second' }]);
  expect(runs).toEqual(['two first', 'one second']);
  expect(await violationsOf(memory, task.id)).toEqual([]);
});

it('goes on waiting, though it cannot read yet what came before', async () => {
  const memory = memoryStore();
  const go = Promise.withResolvers<void>();
  const agent: Agent = async function* () {
    yield artifact('out', text('0'));
    for (let n = 1; n < 1_000; n++) yield append('out', text(`${n}`));
    await go.promise;
    yield completed();
  };
  const message = say('go');
  const first = serve(agent, {
    store: memory,
    timeouts: { leaseMs: 5_000 },
    messages: { idempotency: true },
  });
  const { task } = await rpc(first, 'SendMessage', { message, configuration: now });
  await vi.waitFor(async () => {
    expect((await memory.load(scope, task.id))?.version).toBeGreaterThan(1_000);
  });
  let asked = 0;
  const failing = change(memory, {
    readFacts:
      (readFacts) =>
      async (...args) => {
        const [, , after, limit] = args;
        // First the whole log is read; then the waiting send reads those after its message, which memory does not keep.
        if (after <= 2 && limit > 1 && [2, 3, 4].includes(++asked)) throw unavailable();
        return readFacts(...args);
      },
  });
  const second = serve(agent, { store: failing, messages: { idempotency: true }, run: 'workers' });
  const again = rpc(second, 'SendMessage', { message });
  await vi.waitFor(() => expect(asked).toBeGreaterThan(4));
  go.resolve();
  expect((await again).task.status.state).toBe('TASK_STATE_COMPLETED');
});
