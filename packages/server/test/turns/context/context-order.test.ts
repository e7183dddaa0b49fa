import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type Agent, completed } from '../../../src/index.ts';
import { contextOf } from '../../../src/turns/context/context-tasks.ts';

/** What an agent sees of its context, in tasks whose ids are in no order. `stepMs`: from one message to the next. */
async function seenWith(stepMs: number) {
  let at = Date.parse('2026-01-01T00:00:00.000Z');
  const seen: { tasks: string[]; said: string[] }[] = [];
  const agent: Agent = async function* ({ context }) {
    const tasks = (await context.tasks()).map(({ id }) => id);
    const said = (await context.messages()).map(({ parts }) => (parts[0] as { text: string }).text);
    seen.push({ tasks, said });
    yield completed();
  };
  const server = serve(agent, { clock: { now: () => at }, messages: { idempotency: true } });
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) {
    const message = say(`${n}`, { contextId: 'same', messageId: `m-${n}` });
    ids.push((await rpc(server, 'SendMessage', { message })).task.id);
    at += stepMs;
  }
  return { seen, ids };
}

it('tasks and messages of a context are in the order of their age, whatever their ids are', async () => {
  const { seen, ids } = await seenWith(1);
  expect(ids).not.toEqual(ids.toSorted());
  for (const [n, { tasks, said }] of seen.entries()) {
    expect(tasks).toEqual(ids.slice(0, n));
    expect(said).toEqual(Array.from({ length: n }, (_, earlier) => `${earlier}`));
  }
});

it('those that began in the same millisecond are in the order of their ids, each time', async () => {
  const { seen, ids } = await seenWith(0);
  for (const [n, { tasks }] of seen.entries()) expect(tasks).toEqual(ids.slice(0, n).sort());
});

/** A context of tasks that a store lists in this order, as an agent may read so many bytes of it. */
async function contextIn(order: (ids: string[]) => string[], bytes: number) {
  const at = Date.parse('2026-01-01T00:00:00.000Z');
  const memory = memoryStore();
  const agent: Agent = async function* () {
    yield completed('x'.repeat(1_000));
  };
  const server = serve(agent, { store: memory, clock: { now: () => at } });
  for (let n = 0; n < 12; n++)
    await rpc(server, 'SendMessage', { message: say(`${n}`, { contextId: 'same' }) });
  const store = change(memory, {
    list: (list) => async (inScope, query) => {
      const page = await list(inScope, { ...query, bytes: 10_000_000 });
      const known = new Map(page.tasks.map((task) => [task.taskId, task]));
      return { ...page, tasks: order([...known.keys()].sort()).map((id) => known.get(id)!) };
    },
  });
  const shown = <T>(value: T) => value;
  const read = { store, scope, contextId: 'same', taskId: 'none', bytes, shown };
  return (await contextOf(read).tasks()).map(({ id }) => id);
}

it('tasks of the same age are in the order of their ids, in whichever order the store lists them', async () => {
  for (const order of [(ids: string[]) => ids, (ids: string[]) => ids.toReversed()]) {
    const ids = await contextIn(order, 1_000_000);
    expect(ids).toHaveLength(12);
    expect(ids).toEqual(ids.toSorted());
  }
});

it('no more of a context is read than an answer may hold, and the tasks that the store names first', async () => {
  const ids = await contextIn((all) => all, 10_000);
  expect(ids.length).toBeGreaterThan(1);
  expect(ids.length).toBeLessThan(10);
});
