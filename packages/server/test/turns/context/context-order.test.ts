import { expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type Agent, completed } from '../../../src/index.ts';

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
  const server = serve(agent, { clock: { now: () => at }, idempotency: true });
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
