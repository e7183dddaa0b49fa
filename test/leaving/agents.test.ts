import type { OperationName } from '@batonjs/protocol/operations';
import { completed, inputRequired, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { eventually, until } from '../kit/until.ts';
import { countHeld, more, nothingMore } from './held.ts';
import { roads } from './roads.ts';

const clients = 4;

/** What clients leave while it is under way. `at`: a task that waits for input, or is at work. */
// biome-ignore format: a table reads best with one row per line
const requests: readonly (readonly [what: string, at: 'ask' | 'work', OperationName, params: (id: string) => object])[] = [
  ['a stream of a task at work', 'work', 'SubscribeToTask', (id) => ({ id })],
  ['a stream of a task that waits for input', 'ask', 'SubscribeToTask', (id) => ({ id })],
  ['a stream that a message began', 'work', 'SendStreamingMessage', (id) => ({ message: say('more', { taskId: id }) })],
  ['a send that waits for the result', 'work', 'SendMessage', (id) => ({ message: say('more', { taskId: id }) })],
  ['a long poll', 'ask', 'GetTask', (id) => ({ id, currentGeneration: 99 })],
  ['a cancel that waits for the agent', 'work', 'CancelTask', (id) => ({ id })],
];

/** An agent that asks, or works until the test lets it go on, whatever the signal says. */
function serveHeld() {
  const held = countHeld();
  const goOn = Promise.withResolvers<void>();
  let isCanceling = false;
  const server = serve(
    async function* ({ text, signal }) {
      signal.addEventListener('abort', () => {
        isCanceling = true;
      });
      yield working();
      if (text === 'ask') return yield inputRequired('Well?');
      await goOn.promise;
      yield completed();
    },
    {
      store: held.store,
      compatibility: ['1.1'],
      streams: { closeOnInputRequired: false },
      timeouts: { generationMs: 600_000, cancelGraceMs: 600_000, cancelMs: 600_000 },
    },
  );
  return { server, goOn: goOn.resolve, isCanceling: () => isCanceling, now: () => held.now(server) };
}

describe.each(roads)('clients that leave over %s', (_, road) => {
  it.each(requests)('leave nothing behind: %s', async (_, at, operation, params) => {
    const { server, goOn, isCanceling, now } = serveHeld();
    const { ask, leave } = await road(server);
    const configuration = { returnImmediately: true };
    const { task } = await rpc(server, 'SendMessage', { message: say(at), configuration });
    await until(server, task.id, at === 'ask' ? 'INPUT_REQUIRED' : 'WORKING');
    if (operation === 'CancelTask') {
      // The request to cancel stays when its client leaves, with the grace period of the agent.
      const atRest = now();
      const first = new AbortController();
      const asked = ask(operation, params(task.id), first.signal);
      await eventually(() => expect(isCanceling()).toBe(true));
      first.abort();
      await Promise.allSettled([asked]);
      await nothingMore(atRest, now);
    }
    await eventually(() => expect(server.load.tasks).toBe(at === 'ask' ? 0 : 1));
    const before = now();
    const gone = new AbortController();
    const asked = Array.from({ length: clients }, () => ask(operation, params(task.id), gone.signal));
    const ended = Promise.allSettled(asked);
    if (operation.startsWith('S') && operation !== 'SendMessage') await Promise.all(asked);
    await eventually(() =>
      expect(Math.max(...Object.values(more(before, now())))).toBeGreaterThanOrEqual(clients),
    );
    gone.abort();
    leave?.();
    await ended;
    await nothingMore(before, now);
    goOn();
    await eventually(() => expect(server.load).toEqual({ turns: 0, tasks: 0 }));
  });
});
