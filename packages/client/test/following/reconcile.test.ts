import { connect } from '@batonjs/client';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { chunk, collect, type Exchange, failureOf, peer, statusOf, taskIn } from '../serve.ts';

/** The task with these chunks. */
const withChunks = (state: string, ...texts: string[]) =>
  taskIn(state, { artifacts: [{ artifactId: 'a-1', parts: texts.map((text) => ({ text })) }] });

/**
 * An agent whose resumed streams begin in the middle, like those of A2A 0.3. Each stream and each read of the task gets the
 * next answer of a list.
 */
async function amnesiac(streams: ((exchange: Exchange) => unknown)[], replies: object[]) {
  const asked: string[] = [];
  const server = await peer((exchange) => {
    asked.push(exchange.call.operation);
    if (exchange.call.operation === 'GetTask') {
      const found = replies.length > 1 ? replies.shift()! : replies[0]!;
      return A2AError.is(found) ? exchange.error(found) : exchange.result(found);
    }
    return streams.shift()!(exchange);
  });
  return { ...server, asked };
}
const telling =
  (...events: object[]) =>
  ({ event, end }: Exchange) => {
    for (const each of events) event(each);
    end();
  };
const breakingAfter =
  (...events: object[]) =>
  ({ event, response, destroy }: Exchange) => {
    for (const each of events) event(each);
    response.write(': bye\n\n', destroy);
  };
const textsOf = (task: { artifacts?: readonly { parts: readonly object[] }[] } | undefined) =>
  task?.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : part));
const all = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'];

describe.each(['JSONRPC', 'HTTP+JSON'])('a stream on %s that begins in the middle [R-SUB-01]', (binding) => {
  const options = { binding, fallback: false, retry: { firstMs: 1, longestMs: 5 } };

  it('is completed by a read of the task when a task is followed', async () => {
    const server = await amnesiac(
      [telling(chunk('c4'), chunk('c5'), chunk('c6'), chunk('c7'), statusOf('COMPLETED'))],
      [withChunks('WORKING', 'c1', 'c2', 'c3', 'c4'), withChunks('COMPLETED', ...all)],
    );
    const stream = (await connect(server.url, options)).follow('t-1');
    const seen: unknown[] = [];
    for await (const _ of stream) seen.push(textsOf(stream.task));
    expect(seen).toEqual([all.slice(0, 4), all.slice(0, 5), all.slice(0, 6), all, all]);
    expect((await stream.result()).task).toEqual(withChunks('COMPLETED', ...all));
    expect(server.asked).toEqual(['SubscribeToTask', 'GetTask', 'GetTask']);
  });

  it('is completed when the connection broke and chunks came in between', async () => {
    const server = await amnesiac(
      [
        breakingAfter({ task: taskIn('WORKING') }, chunk('c1', false), chunk('c2')),
        telling(chunk('c4'), chunk('c5'), statusOf('COMPLETED')),
      ],
      [
        withChunks('WORKING', 'c1', 'c2', 'c3', 'c4', 'c5'),
        withChunks('COMPLETED', 'c1', 'c2', 'c3', 'c4', 'c5'),
      ],
    );
    const stream = (await connect(server.url, options)).stream('hello');
    const events = await collect(stream);
    expect(textsOf(stream.task)).toEqual(all.slice(0, 5));
    expect(events.filter(({ artifactUpdate }) => artifactUpdate)).toHaveLength(2);
  });

  it('distinguishes equal chunks, by reading the task again when it is unsure', async () => {
    const beat = ['a', 'b', 'a'];
    const server = await amnesiac(
      [telling(chunk('a'), chunk('b'), chunk('a'), chunk('c'), statusOf('COMPLETED'))],
      [
        withChunks('WORKING', ...beat),
        withChunks('WORKING', ...beat, 'b'),
        withChunks('WORKING', ...beat, 'b', 'a'),
        withChunks('COMPLETED', ...beat, 'b', 'a', 'c'),
      ],
    );
    const stream = (await connect(server.url, options)).follow('t-1');
    for await (const _ of stream)
      expect([...beat, 'b', 'a', 'c'].join('')).toContain(textsOf(stream.task)?.join(''));
    expect(textsOf(stream.task)).toEqual([...beat, 'b', 'a', 'c']);
  });

  it('is complete in the end although reads lag behind the stream', async () => {
    const server = await amnesiac(
      [telling(chunk('c4'), statusOf('COMPLETED'))],
      [
        withChunks('WORKING', 'c1', 'c2'),
        withChunks('WORKING', 'c1', 'c2', 'c3'),
        withChunks('COMPLETED', 'c1', 'c2', 'c3', 'c4'),
      ],
    );
    const { task } = await (await connect(server.url, options)).follow('t-1').result();
    expect(task).toEqual(withChunks('COMPLETED', 'c1', 'c2', 'c3', 'c4'));
  });

  it('believes the stream that a task has ended if the task never shows it', async () => {
    const server = await amnesiac(
      [telling(chunk('c2'), statusOf('COMPLETED'))],
      [withChunks('WORKING', 'c1', 'c2')],
    );
    const { task } = await (await connect(server.url, options)).follow('t-1').result();
    expect(task).toEqual(withChunks('COMPLETED', 'c1', 'c2'));
  });

  it('drops status updates that the task contains, and keeps later ones', async () => {
    const at = (second: number) => ({ timestamp: `2026-01-01T00:00:0${second}.000Z` });
    const seen = taskIn('WORKING', { status: { state: 'TASK_STATE_WORKING', ...at(2) } });
    const server = await amnesiac(
      [
        telling(
          statusOf('SUBMITTED', at(1)),
          statusOf('WORKING', at(2)),
          statusOf('WORKING', at(3)),
          statusOf('FAILED', at(4)),
        ),
      ],
      [seen, taskIn('FAILED', { status: { state: 'TASK_STATE_FAILED', ...at(4) } })],
    );
    const events = await collect((await connect(server.url, options)).follow('t-1'));
    expect(
      events.map(({ task, statusUpdate }) => (task ?? statusUpdate)?.status.timestamp?.slice(17, 19)),
    ).toEqual(['02', '03', '04']);
  });

  it('needs no read when the agent completes the stream itself', async () => {
    const server = await amnesiac(
      [telling({ task: withChunks('WORKING', 'c1') }, chunk('c2'), statusOf('COMPLETED'))],
      [new A2AError('INTERNAL_ERROR')],
    );
    expect(await collect((await connect(server.url, options)).follow('t-1'))).toHaveLength(3);
    expect(server.asked).toEqual(['SubscribeToTask']);
  });

  it('is completed where an agent numbers the events of every stream from one', async () => {
    const numbered =
      (first: number, ...events: object[]) =>
      ({ event, response, destroy }: Exchange) => {
        for (const [index, each] of events.entries()) event(each, String(first + index));
        response.write(': bye\n\n', destroy);
      };
    const server = await amnesiac(
      [
        numbered(0, { task: taskIn('WORKING') }, chunk('c1', false)),
        numbered(0, chunk('c3'), chunk('c4'), statusOf('COMPLETED')),
      ],
      [withChunks('WORKING', 'c1', 'c2', 'c3'), withChunks('COMPLETED', 'c1', 'c2', 'c3', 'c4')],
    );
    const stream = (await connect(server.url, options)).stream('hello');
    await collect(stream);
    expect(textsOf(stream.task)).toEqual(all.slice(0, 4));
  });

  it('of a message to a task that was there before is completed, and ends at the next question', async () => {
    const asking = { message: { messageId: 'q-2', role: 'ROLE_AGENT', parts: [{ text: 'And?' }] } };
    const asked = taskIn('INPUT_REQUIRED', { status: { state: 'TASK_STATE_INPUT_REQUIRED', ...asking } });
    const server = await amnesiac(
      [telling(statusOf('WORKING'), chunk('c2'), statusOf('INPUT_REQUIRED', asking))],
      [withChunks('WORKING', 'c1', 'c2'), { ...withChunks('', 'c1', 'c2'), status: asked.status }],
    );
    const { task } = await (await connect(server.url, options)).stream('INR', { task: 't-1' }).result();
    expect(task).toEqual({ ...withChunks('', 'c1', 'c2'), status: asked.status });
    expect(server.asked).toEqual(['SendStreamingMessage', 'GetTask', 'GetTask']);
  });

  it('of a message that is answered with a question only has the question once', async () => {
    const asking = { message: { messageId: 'q-2', role: 'ROLE_AGENT', parts: [{ text: 'And?' }] } };
    const asked = taskIn('', { status: { state: 'TASK_STATE_INPUT_REQUIRED', ...asking } });
    const server = await amnesiac([({ event }) => event(statusOf('INPUT_REQUIRED', asking))], [asked]);
    const { task } = await (await connect(server.url, options)).stream('INR', { task: 't-1' }).result();
    expect(task).toEqual(asked);
  });

  it('does not send a message again because the task could not be read', async () => {
    const server = await amnesiac(
      [telling(chunk('c2')), telling({ task: withChunks('COMPLETED', 'c1', 'c2') })],
      [new A2AError('UNAVAILABLE')],
    );
    const agent = await connect(server.url, { ...options, retry: { firstMs: 1, attempts: 1 } });
    const { task } = await agent.stream('INR', { task: 't-1' }).result();
    expect(task).toEqual(withChunks('COMPLETED', 'c1', 'c2'));
    expect(server.asked).toEqual(['SendStreamingMessage', 'GetTask', 'SubscribeToTask']);
  });

  it.each(['TASK_NOT_FOUND', 'INVALID_PARAMS', 'UNSUPPORTED_OPERATION'] as const)(
    'is replaced by polling when it is refused with %s, as for a task that is not running',
    async (reason) => {
      const server = await amnesiac(
        [breakingAfter({ task: taskIn('WORKING') }), ({ error }) => error(new A2AError(reason))],
        [taskIn('WORKING'), withChunks('COMPLETED', 'c1')],
      );
      const stream = (await connect(server.url, options)).stream('hello', { pollMs: 1 });
      expect((await stream.result()).task).toEqual(withChunks('COMPLETED', 'c1'));
    },
  );

  it('without any event is followed by a read, and by streams as long as the agent answers', async () => {
    const server = await amnesiac(
      [breakingAfter({ task: taskIn('WORKING') }), telling(), telling(), telling()],
      [taskIn('WORKING'), taskIn('WORKING'), taskIn('COMPLETED')],
    );
    const agent = await connect(server.url, { ...options, followForMs: 1 });
    const stream = agent.stream('hello', { pollMs: 1 });
    expect((await stream.result()).task).toEqual(taskIn('COMPLETED'));
  });

  it('ends with the error of the read', async () => {
    const server = await amnesiac([telling(chunk('c2'))], [new A2AError('INTERNAL_ERROR')]);
    const agent = await connect(server.url, options);
    expect((await failureOf(agent.follow('t-1').result())).reason).toBe('INTERNAL_ERROR');
  });
});
