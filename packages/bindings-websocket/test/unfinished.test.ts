import { describe, expect, it } from 'vitest';
import { serve } from './agent.ts';
import { message, Refused, rawSocket } from './raw-socket.ts';

describe('messages that do not arrive as a whole', () => {
  it('hold four of the longest messages of one address; the other connections are closed with 1008', async () => {
    const bodyBytes = 65_536;
    const { url, endpoint } = await serve({ limits: { bodyBytes } });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => rawSocket(url)));
    const codes: number[] = [];
    for (const { ws, closed } of sockets) {
      void closed.then((code) => codes.push(code));
      ws.send('x'.repeat(bodyBytes - 100), { fin: false });
    }
    // Their bytes arrive in turns, so that fewer than four may be left.
    await expect.poll(() => codes.length).toBeGreaterThanOrEqual(16);
    expect(new Set(codes)).toEqual(new Set([1_008]));
    expect(endpoint.connections).toBeGreaterThan(0);
    for (const { ws } of sockets) ws.terminate();
    await expect.poll(() => endpoint.connections).toBe(0);
    const other = await rawSocket(url);
    for (let n = 0; n < 10; n++) {
      const id = other.request('SendMessage', message('x'.repeat(40_000)));
      expect(await other.next(id)).toHaveProperty('result');
    }
  });

  it('close their connection after `messageMs`, and pings and whole messages are none', async () => {
    const { url } = await serve({}, { messageMs: 50 });
    const [slow, good] = [await rawSocket(url), await rawSocket(url)];
    expect(await good.next(good.request('ListTasks'))).toHaveProperty('result');
    good.ws.ping('Are you there?');
    good.ws.pong();
    slow.ws.send('{', { fin: false });
    slow.ws.ping();
    expect(await slow.closed).toBe(1_008);
    const later = await rawSocket(url);
    later.ws.send('{', { fin: false });
    expect(await later.closed).toBe(1_008);
    expect(await good.next(good.request('ListTasks'))).toHaveProperty('result');
  });
});

it('connections of one address are bounded where callers have no names', async () => {
  const { url, endpoint } = await serve({}, { connectionsPerCaller: 2 });
  const [first] = [await rawSocket(url), await rawSocket(url)];
  const refusal = await rawSocket(url).catch((error) => error);
  expect(refusal).toBeInstanceOf(Refused);
  expect([refusal.status, refusal.body.error.message]).toEqual([503, 'Too many WebSockets of this address']);
  first.ws.close();
  await expect.poll(() => endpoint.connections).toBe(1);
  await rawSocket(url);
});
