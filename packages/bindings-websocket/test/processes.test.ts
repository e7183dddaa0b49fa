import { join } from 'node:path';
import { type AgentClient, connect, type TaskStream } from '@batonjs/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { webSocketClient } from '../src/index.ts';
import { rawSocket } from './raw-socket.ts';
import { startProcess } from './served-process.ts';

const database = () => join(temporaryFolder(), 'tasks.db');

async function clientOf(port: number): Promise<AgentClient> {
  const binding = webSocketClient();
  onTestFinished(() => binding.close());
  return connect(`http://127.0.0.1:${port}`, { bindings: [binding], retry: { firstMs: 10, longestMs: 200 } });
}

/** The numbers that a stream said, until it ends. `onNumber` may hold it up. */
async function numbersIn(stream: TaskStream, onNumber: (number: number) => unknown = () => {}) {
  const numbers: number[] = [];
  for await (const { statusUpdate } of stream) {
    const text = /"text":"(\d+)"/.exec(JSON.stringify(statusUpdate ?? ''))?.[1];
    if (text === undefined) continue;
    numbers.push(Number(text));
    await onNumber(Number(text));
  }
  return numbers;
}

const oneToTen = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

describe('a server that is killed', () => {
  it('and started again goes on with its streams after their last events [R-WS-31] [R-WS-37]', async () => {
    const file = database();
    let server = await startProcess(file);
    const agent = await clientOf(server.port);
    const stream = agent.stream('count');
    const numbers = await numbersIn(stream, async (number) => {
      if (number !== 3 && number !== 6) return;
      await server.kill();
      server = await startProcess(file, server.port);
    });
    expect(numbers).toEqual(oneToTen);
    expect(stream.task?.status.state).toBe('TASK_STATE_COMPLETED');
    // The stream of a client that reads everything afterwards has the same events at the same positions.
    const socket = await rawSocket(`ws://127.0.0.1:${server.port}/ws`);
    const { id } = stream.task!;
    const { result } = await socket.next(socket.request('GetTask', { id }));
    expect(result).toEqual(await agent.getTask({ id }));
  });
});

describe('two servers on one database', () => {
  it('follow each other’s tasks; one goes on with those of the other when that is killed', async () => {
    const file = database();
    const [first, second] = await Promise.all([startProcess(file), startProcess(file)]);
    const [here, there] = await Promise.all([clientOf(first.port), clientOf(second.port)]);
    const { task } = await here.send('count', { returnImmediately: true });
    const seen = await numbersIn(there.follow(task!.id), async (number) => {
      if (number === 4) await first.kill();
    });
    // The first event of the stream is the task as it is, with some number: all after that came, each once.
    expect(seen.length).toBeGreaterThan(5);
    expect(seen).toEqual(oneToTen.slice(-seen.length));
    expect((await there.getTask({ id: task!.id })).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('resume a stream of the other at its position', async () => {
    const file = database();
    const [first, second] = await Promise.all([startProcess(file), startProcess(file)]);
    const [here, there] = await Promise.all(
      [first, second].map(({ port }) => rawSocket(`ws://127.0.0.1:${port}/ws`)),
    );
    const frames = await here!.all(
      here!.request('SendStreamingMessage', {
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'count' }] },
      }),
    );
    const { id } = frames[0].result.task;
    const serviceParams = { 'a2a-version': '1.0', 'last-event-id': frames[4].version };
    const rest = await there!.all(there!.request('SubscribeToTask', { id }, { serviceParams }));
    const shown = (frame: object) => ({ ...frame, id: undefined });
    expect(rest.map(shown)).toEqual(frames.slice(5).map(shown));
  });
});
