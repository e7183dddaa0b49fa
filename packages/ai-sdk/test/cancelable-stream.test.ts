import { getEventListeners } from 'node:events';
import { connect } from '@batonjs/client';
import { artifact } from '@batonjs/server';
import type { Tool } from 'ai';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { until } from '../../../test/kit/until.ts';
import { cancelableStream } from '../src/cancelable-stream.ts';
import { a2aTools } from '../src/client.ts';

/** An agent whose events reach no caller before `release`, and the id of the task that it works on. */
function heldAgent() {
  const began = Promise.withResolvers<string>();
  const released = Promise.withResolvers<void>();
  const server = serve(async function* ({ taskId, signal }) {
    began.resolve(taskId);
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const agent = {
    ...server,
    async fetch(request: Request) {
      const response = await server.fetch(request);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      if (isStream) await Promise.race([released.promise, aborted(request.signal)]);
      return response;
    },
  };
  return { server, agent, began: began.promise, release: () => released.resolve() };
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

type Held = ReturnType<typeof heldAgent>['agent'];

/** A call of the agent as a tool. */
async function run(agent: Held, abortSignal: AbortSignal): Promise<unknown> {
  const { shop } = await a2aTools({ shop: agent });
  const options = { toolCallId: 'c', messages: [], abortSignal, context: {} };
  return (shop as Tool).execute!({ message: 'x' } as never, options as never);
}

describe('a tool of an agent that is aborted before the agent has named its task', () => {
  it('rejects at once, and cancels the task when the agent names it', async () => {
    const { server, agent, began, release } = heldAgent();
    const abort = new AbortController();
    const running = run(agent, abort.signal);
    const id = await began;
    abort.abort(new Error('Enough'));
    await expect(running).rejects.toThrow('Enough');
    release();
    await until(server, id, 'CANCELED');
  });

  it('sends nothing where it was aborted before', async () => {
    const { server, agent } = heldAgent();
    await expect(run(agent, AbortSignal.abort(new Error('Enough')))).rejects.toThrow('Enough');
    const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
    expect((await client.listTasks()).tasks).toEqual([]);
  });
});

describe('a stream', () => {
  /** A client of an agent that works until it is canceled, and the signals of its requests. */
  async function working() {
    const server = serve(async function* ({ signal }) {
      yield artifact('half', 'Half');
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const signals: AbortSignal[] = [];
    const client = await connect('http://localhost', {
      fetch(request) {
        signals.push(request.signal);
        return server.fetch(request);
      },
    });
    return { server, client, signals };
  }

  it('whose reader leaves ends its request, keeps no listener, and cancels nothing', async () => {
    const { client, signals } = await working();
    const { signal } = new AbortController();
    const { stream, events } = cancelableStream(client, 'x', { signal });
    for await (const _ of events) break;
    await expect.poll(() => signals.at(-1)!.aborted).toBe(true);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect((await client.getTask({ id: stream.task!.id })).status.state).not.toBe('TASK_STATE_CANCELED');
  });

  it.each(['its id', 'itself'])('of a task that is named by %s cancels it', async (what) => {
    const { server, client } = await working();
    const { task } = await client.send('x', { returnImmediately: true });
    const abort = new AbortController();
    const named = what === 'itself' ? task! : task!.id;
    const { events } = cancelableStream(client, 'more', { task: named, signal: abort.signal });
    const reading = events.next();
    abort.abort(new Error('Enough'));
    await expect(reading).rejects.toThrow('Enough');
    await until(server, task!.id, 'CANCELED');
  });
});
