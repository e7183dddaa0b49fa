import { once } from 'node:events';
import { connect } from 'node:http2';
import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../../test/kit/until.ts';
import { serve, serveTarget } from './agent.ts';
import { message, rawClient } from './raw-client.ts';

describe('a client that leaves', () => {
  it('ends its stream, and the task goes on', async () => {
    const { server, address } = await serve();
    const { call, stream } = rawClient(address);
    const following = stream('SendStreamingMessage', message('wait'));
    const [first] = await once(following, 'data');
    expect(first).toBeInstanceOf(Buffer);
    following.on('error', () => {});
    following.cancel();
    const { tasks } = (await call('ListTasks', {})).result as { tasks: Task[] };
    expect(tasks[0]?.status.state).toBe('TASK_STATE_WORKING');
    expect(server.load.turns).toBe(1);
  });

  it.each([
    ['GetTask', 'cancel'],
    ['GetTask', 'deadline'],
    ['SubscribeToTask', 'cancel'],
    ['SubscribeToTask', 'deadline'],
  ] as const)('aborts the signal of its call: %s, %s', async (operation, how) => {
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const { address } = await serveTarget({
      answerCall: ({ signal }) => {
        started.resolve();
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted.resolve();
            reject(new A2AError('INTERNAL_ERROR'));
          });
        });
      },
    });
    const options = how === 'deadline' ? { deadline: Date.now() + 200 } : {};
    // A server stream with one event is the same on the wire as an answer.
    const ongoing = rawClient(address).stream(operation, { id: 't' }, {}, options);
    ongoing.on('error', () => {});
    ongoing.resume();
    await started.promise;
    if (how === 'cancel') ongoing.cancel();
    await aborted.promise;
  });

  it('ends the events that the server waits for', async () => {
    const waiting = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<undefined>();
    const { address } = await serveTarget({
      answerCall: async () => ({
        extensions: [],
        events: {
          next: () => {
            waiting.resolve();
            return closed.promise;
          },
          close: () => closed.resolve(undefined),
        },
      }),
    });
    const following = rawClient(address).stream('SubscribeToTask', { id: 't' });
    following.on('error', () => {});
    following.resume();
    await waiting.promise;
    following.cancel();
    await closed.promise;
  });

  it.each(['cancel', 'deadline'])('ends its watch of the health: %s', async (how) => {
    // Served before: the listener has a timer of its own.
    const { address } = await serve();
    const watches = new Set<unknown>();
    const { setInterval: begin, clearInterval: end } = globalThis;
    const beginning = vi.spyOn(globalThis, 'setInterval').mockImplementation(((
      act: () => void,
      ms: number,
    ) => {
      const timer = begin(act, ms);
      if (ms === 1_000) watches.add(timer);
      return timer;
    }) as typeof setInterval);
    const ending = vi.spyOn(globalThis, 'clearInterval').mockImplementation((timer) => {
      watches.delete(timer);
      end(timer);
    });
    onTestFinished(() => {
      beginning.mockRestore();
      ending.mockRestore();
    });
    const { client } = rawClient(address);
    const asIs = (bytes: Buffer) => bytes;
    const options = how === 'deadline' ? { deadline: Date.now() + 300 } : {};
    const path = '/grpc.health.v1.Health/Watch';
    const watch = client.makeServerStreamRequest(path, asIs, asIs, Buffer.alloc(0), options);
    watch.on('error', () => {});
    await once(watch, 'data');
    expect(watches.size).toBe(1);
    if (how === 'cancel') watch.cancel();
    watch.resume();
    await eventually(() => expect(watches.size).toBe(0));
  });

  it('that reads nothing holds up the stream: the server reads on when it does (R-GRPC-104)', async () => {
    const total = 2_000;
    let read = 0;
    const event = { message: { ...message('x'.repeat(10_000)).message } };
    const over = Promise.withResolvers<void>();
    const { address } = await serveTarget({
      answerCall: async ({ operation }) =>
        operation === 'GetTask'
          ? { extensions: [], result: { id: 't', status: { state: 'TASK_STATE_WORKING' } } }
          : {
              extensions: [],
              events: {
                async next() {
                  // A store answers in a later round of the event loop.
                  await new Promise((resolve) => setImmediate(resolve));
                  if (read === total) return undefined;
                  read += 1;
                  return { events: [{ id: `l.${read}`, event: { value: event } }] } as never;
                },
                close: () => over.resolve(),
              },
            },
    });
    // Not grpc-js, whose client takes in all that comes.
    const session = connect(`http://${address}`);
    const reader = session.request({
      ':method': 'POST',
      ':path': '/lf.a2a.v1.A2AService/SubscribeToTask',
      'content-type': 'application/grpc',
      'a2a-version': '1.0',
      te: 'trailers',
    });
    reader.end(Buffer.alloc(5));
    await once(reader, 'response');
    // A server that does not wait reads an event in each turn, and a call takes several turns.
    const { call } = rawClient(address);
    for (let before = -1; before !== read; ) {
      before = read;
      await call('GetTask', { id: 't' });
    }
    expect(read).toBeLessThan(total);
    let bytes = 0;
    reader.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await Promise.all([once(reader, 'end'), over.promise]);
    expect(bytes).toBeGreaterThan(total * 10_000);
    expect(read).toBe(total);
    session.destroy();
  });
});
