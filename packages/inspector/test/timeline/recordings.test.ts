import type { AgentEvent } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { sendMessage } from '../../src/routes/act-routes.ts';
import { Recording } from '../../src/timeline/recording.ts';
import { recordingsOf } from '../../src/timeline/recordings.ts';
import type { Tap } from '../../src/wire/recorded-fetch.ts';
import { message, settled, status, stream, taskEvent } from './written-stream.ts';

describe('the recordings of an agent', () => {
  const follow = (...streams: ReturnType<typeof stream>[]) => {
    const asked: unknown[] = [];
    const link = {
      async connect(tap: Tap) {
        return {
          follow(
            taskId: string,
            { signal, lastEventId, ...options }: { signal: AbortSignal; lastEventId?: string },
          ) {
            asked.push([taskId, options]);
            const iterated = streams[asked.length - 1]!.open(tap, { signal, lastEventId });
            return {
              async *[Symbol.asyncIterator]() {
                yield* (await iterated) as unknown as AsyncIterable<AgentEvent>;
              },
            };
          },
        };
      },
    };
    return { recordings: recordingsOf(link as never), asked };
  };

  it('follow a task by its id, and list what they saw, newest first', async () => {
    const [zero, one, two, three] = [stream(), stream(), stream(), stream()];
    const { recordings, asked } = follow(zero, one, two, three);
    recordings.open('t0');
    await settled();
    const first = recordings.open('t1');
    expect(recordings.open('t1')).toBe(first);
    await settled();
    recordings.open('t2');
    await settled();
    recordings.open('t3');
    zero.send({ task: { id: 't0', contextId: 'c', status: status('WORKING') } } as never);
    one.send({
      task: { id: 't1', contextId: 'c', status: status('WORKING', '2026-01-01T00:00:00.000Z') },
    } as never);
    two.send({
      task: { id: 't2', contextId: 'c', status: status('WORKING', '2026-01-02T00:00:00.000Z') },
    } as never);
    three.send({ task: { id: 't3', contextId: 'c', status: status('WORKING') } } as never);
    await expect.poll(() => recordings.rows().map(({ id }) => id)).toEqual(['t2', 't1', 't0', 't3']);
    expect(asked).toEqual(['t0', 't1', 't2', 't3'].map((id) => [id, { pollMs: 500 }]));
    recordings.close();
    await settled();
    expect([one, two, three].map(({ opened }) => opened[0]!.signal.aborted)).toEqual([true, true, true]);
  });

  it('stop the oldest of more than 200', async () => {
    const one = stream();
    const { recordings } = follow(one);
    recordings.open('t0');
    await settled();
    for (let n = 1; n < 200; n += 1) recordings.of(`t${n}`);
    expect(one.opened[0]!.signal.aborted).toBe(false);
    recordings.adopt('new', new Recording());
    expect(one.opened[0]!.signal.aborted).toBe(true);
  });
});

describe('a message that is sent', () => {
  /** An agent whose streams and replies are written by hand. */
  function agent(reply: object, written = stream()) {
    const sent: unknown[] = [];
    const client = {
      card: {
        capabilities: {
          extensions: [
            { uri: 'https://other.example' },
            { uri: 'https://batonjs.dev/extensions/form-input/v1' },
          ],
        },
      },
      async send(...args: unknown[]) {
        sent.push(args);
        return reply;
      },
      stream(
        given: unknown,
        { signal, lastEventId, ...options }: { signal: AbortSignal; lastEventId?: string },
      ) {
        sent.push([given, options]);
        const opening = written.open({}, { signal, lastEventId });
        return {
          async *[Symbol.asyncIterator]() {
            yield* (await opening) as unknown as AsyncIterable<AgentEvent>;
          },
        };
      },
    };
    const link = { client: async () => client, connect: async () => client } as never;
    return { link, sent, written };
  }
  const parts = [{ text: 'x' }];
  const extensions = ['https://batonjs.dev/extensions/form-input/v1'];

  it('to a store is answered at once', async () => {
    const { link, sent } = agent({ task: { id: 't' } });
    expect(
      await sendMessage(link, undefined, { parts, metadata: { a: 1 }, contextId: 'c', references: ['r'] }),
    ).toEqual({ taskId: 't' });
    expect(sent).toEqual([
      [
        { role: 'ROLE_USER', messageId: expect.any(String), parts, contextId: 'c', referenceTaskIds: ['r'] },
        { extensions, metadata: { a: 1 }, returnImmediately: true },
      ],
    ]);
    const said = agent({ message: { parts, contextId: 'c' } });
    expect(await sendMessage(said.link, undefined, { parts })).toEqual({
      message: { parts, contextId: 'c' },
    });
    expect(said.sent).toEqual([
      [
        { role: 'ROLE_USER', messageId: expect.any(String), parts },
        { extensions, returnImmediately: true },
      ],
    ]);
    expect(await sendMessage(agent({ message: { parts } }).link, undefined, { parts })).toStrictEqual({
      message: { parts },
    });
  });

  it('without a task is followed from its beginning, as long as there is one', async () => {
    const { link, written } = agent({});
    const recordings = recordingsOf(link);
    const sending = sendMessage(link, recordings, { parts });
    written.send(taskEvent('WORKING'));
    expect(await sending).toEqual({ taskId: 't' });
    expect(recordings.of('t').entries[0]).toMatchObject({ message: { parts } });
    expect(recordings.rows()).toHaveLength(1);
    recordings.close();

    const answering = agent({});
    const answered = sendMessage(answering.link, recordings, { parts });
    answering.written.send({ message: message('a') });
    expect(await answered).toEqual({ message: { parts: [{ text: 'a' }] } });
    expect([recordings.rows().length, answering.written.opened[0]!.signal.aborted]).toEqual([1, true]);

    const failing = agent({});
    const failed = sendMessage(failing.link, recordings, { parts });
    failing.written.fail(new Error('Broken'));
    await expect(failed).rejects.toThrow('Broken');
  });

  it('to its task is a part of its recording', async () => {
    const { link, sent } = agent({ task: { id: 't' } });
    const opened: string[] = [];
    const recording = new Recording();
    const recordings = { of: () => recording, open: (id: string) => opened.push(id) };
    expect(await sendMessage(link, recordings as never, { parts, taskId: 't' })).toEqual({ taskId: 't' });
    expect([recording.entries.length, opened, sent.length]).toEqual([1, ['t'], 1]);
    expect(sent[0]).toMatchObject([{ taskId: 't' }, {}]);
  });
});
