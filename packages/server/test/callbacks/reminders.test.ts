import { expect, it } from 'vitest';
import { rpc } from '../../../../test/kit/rpc.ts';
import { type Agent, completed, inputRequired } from '../../src/index.ts';
import { look, submit } from './asking-agent.ts';
import { begin, serveCallbacks } from './serve-callbacks.ts';

/** How long an answer is waited for, and within which time a server finds out that it did not come. */
const [day, soon] = [60_000, 10_000];

it('a question goes to the next person by the clock of its task, whichever server is there then', async () => {
  const sent: { to: string; url: string }[] = [];
  // As in docs/agents/answer-links.md.
  const agent: Agent = async function* ({ text, caller, callback, step, wakeAt, woken, memory }) {
    if (caller.answeredBy) return yield completed(`${text} by ${caller.answeredBy}`);
    const days = (memory.get<number>('days') ?? 0) + (woken ? 1 : 0);
    if (days > 3) return yield completed('No answer came');
    const to = days < 2 ? 'Ana' : 'the head';
    await step('mail', async () => {
      sent.push({ to, url: (await callback({ answeredBy: to, expiresMs: 3 * day })).url });
    });
    await wakeAt(first.clock.now() + day);
    yield { ...inputRequired('Pay?'), memory: { days } };
  };
  const first = serveCallbacks(agent);
  const { store, clock } = first;
  const id = await begin(first.server);
  await clock.advance(0);
  await first.server.close({ graceMs: 0 });
  const second = serveCallbacks(agent, { store, clock });
  await clock.advance(day - 1);
  expect(sent.map(({ to }) => to)).toEqual(['Ana']);
  await clock.advance(soon);
  expect(sent.map(({ to }) => to)).toEqual(['Ana', 'Ana']);
  await second.server.close({ graceMs: 0 });
  // No server runs when the next one is due.
  await clock.advance(day + soon);
  const third = serveCallbacks(agent, { store, clock });
  await clock.advance(soon);
  expect(sent.map(({ to }) => to)).toEqual(['Ana', 'Ana', 'the head']);
  const [link, , another] = sent.map(({ url }) => url);
  const page = await look(third.server, link!);
  expect((await submit(third.server, link!, page, { text: 'Yes' })).status).toBe(200);
  await clock.advance(0);
  expect((await rpc(third.server, 'GetTask', { id })).status).toMatchObject({
    state: 'TASK_STATE_COMPLETED',
    message: { parts: [{ text: 'Yes by Ana' }] },
  });
  expect((await look(third.server, another!)).text).toContain('Already answered');
  await clock.advance(2 * day);
  expect(sent).toHaveLength(3);
});
