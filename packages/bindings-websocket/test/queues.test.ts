import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { EventQueue, SingleAnswer } from '../src/client/answers.ts';
import { SendQueue } from '../src/server/send-queue.ts';

const megabyte = 1_048_576;

describe('what a stream got and its reader has not taken', () => {
  it('comes in order, then the end', async () => {
    const queue = new EventQueue(100);
    expect([queue.maxBytes, queue.isAnswered]).toEqual([100, false]);
    expect(queue.take('a', '1', 10)).toBe('more');
    expect(queue.isAnswered).toBe(true);
    queue.take('b', undefined, 10);
    queue.end();
    expect(await queue.next()).toMatchObject({ event: 'a', id: '1' });
    expect(await queue.next()).toMatchObject({ event: 'b', id: undefined });
    expect(await queue.next()).toBeUndefined();
    expect(await queue.next()).toBeUndefined();
  });

  it.each<[string, (queue: EventQueue) => void, unknown]>([
    ['an event', (queue) => queue.take('a', '1', 1), { event: 'a' }],
    ['the end', (queue) => queue.end(), undefined],
  ])('is waited for: %s', async (_, act, expected) => {
    const queue = new EventQueue(100);
    const next = queue.next();
    act(queue);
    expect(await next).toEqual(expected && expect.objectContaining(expected));
  });

  it('comes before the first failure, of which the reader learns each time', async () => {
    const queue = new EventQueue(100);
    queue.take('a', '1', 1);
    queue.fail('first');
    queue.fail('second');
    expect(await queue.next()).toMatchObject({ event: 'a' });
    await expect(queue.next()).rejects.toBe('first');
    await expect(queue.next()).rejects.toBe('first');
    const other = new EventQueue(100);
    const next = other.next();
    other.fail(undefined);
    await expect(next).rejects.toBeUndefined();
  });

  it('is full beyond 8 MiB, until its reader takes some', async () => {
    const queue = new EventQueue(100);
    expect(queue.take('a', '1', 8 * megabyte)).toBe('more');
    expect(queue.take('b', '2', 1)).toBe('full');
    // Without a position nothing could be read again.
    expect(queue.take('c', undefined, 1)).toBe('more');
    await queue.next();
    expect(queue.take('d', '3', 8 * megabyte - 2)).toBe('more');
    expect(queue.take('e', '4', 1)).toBe('full');
  });
});

describe('the only answer of a call', () => {
  it('is its first one', async () => {
    const answer = new SingleAnswer(7);
    expect([answer.maxBytes, answer.isAnswered]).toEqual([7, false]);
    expect(answer.take('a')).toBe('done');
    expect(answer.isAnswered).toBe(true);
    answer.fail('late');
    expect(await answer.result).toBe('a');
  });

  it('is missing where the call ends', async () => {
    const answer = new SingleAnswer(7);
    answer.end();
    await expect(answer.result).rejects.toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
      message: 'The call ended without a result',
    });
  });
});

describe('frames on their way to a client', () => {
  /** The parts of a WebSocket that send, and what the network does with a frame. */
  function queueOn(socket = { OPEN: 1, readyState: 1, bufferedAmount: 0 }) {
    const sent: string[] = [];
    let onTaken = () => {};
    const send = (frame: string, taken: () => void) => {
      sent.push(frame);
      onTaken = taken;
    };
    const ws = Object.assign(socket, { send });
    return { queue: new SendQueue(ws as unknown as WebSocket), ws, sent, taken: () => onTaken() };
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('are sent as long as the connection is open', () => {
    const { queue, ws, sent } = queueOn();
    queue.send('a');
    ws.readyState = 2;
    queue.send('b');
    expect(sent).toEqual(['a']);
  });

  it('are full beyond 1 MiB', () => {
    const { queue, ws } = queueOn();
    ws.bufferedAmount = megabyte;
    expect(queue.isFull).toBe(false);
    ws.bufferedAmount = megabyte + 1;
    expect(queue.isFull).toBe(true);
  });

  it('were last taken when the network says so', () => {
    const { queue, taken } = queueOn();
    expect(queue.takenAt).toBe(0);
    queue.send('a');
    expect(queue.takenAt).toBe(0);
    const before = performance.now();
    taken();
    expect(queue.takenAt).toBeGreaterThanOrEqual(before);
  });

  it('wait for room, each in its turn, and one at a time', async () => {
    const { queue, ws, taken } = queueOn();
    ws.bufferedAmount = megabyte + 1;
    queue.send('a');
    const order: string[] = [];
    // As a stream does: it looks, waits for its turn, and sends, which takes up the room.
    const wait = (name: string, bytes: number) =>
      queue.drained().then(() => {
        order.push(`${name} ${ws.bufferedAmount}`);
        ws.bufferedAmount += bytes;
      });
    const waiting = [wait('one', 1), wait('two', megabyte + 1), wait('three', 0)];
    taken();
    await settled();
    expect(order).toEqual([]);
    ws.bufferedAmount = megabyte - 1;
    taken();
    // Others find it full while the room is given to one that has not sent yet.
    expect(queue.isFull).toBe(true);
    taken();
    await settled();
    expect(order).toEqual([`one ${megabyte - 1}`, `two ${megabyte}`]);
    expect(queue.isFull).toBe(true);
    ws.bufferedAmount = 0;
    expect(queue.isFull).toBe(true);
    taken();
    await Promise.all(waiting);
    expect(order.at(-1)).toBe('three 0');
    await settled();
    expect(queue.isFull).toBe(false);
  });

  it('wait no more when the connection is closed', async () => {
    const { queue, ws } = queueOn();
    ws.bufferedAmount = megabyte + 1;
    const waiting = [queue.drained(), queue.drained()];
    queue.close();
    await Promise.all(waiting);
    ws.bufferedAmount = 0;
    expect(queue.isFull).toBe(false);
  });
});
