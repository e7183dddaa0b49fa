import { reply } from '@batonjs/server';
import { expect, it } from 'vitest';
import { say } from '../../kit/rpc.ts';
import { everywhere } from '../peer.ts';

const hour = 3_600_000;
const byHeader = {
  authenticate: ({ headers }: { headers: Record<string, string | undefined> }) => ({
    scope: headers['x-caller'] ?? 'nobody',
  }),
};

everywhere('The rate of a caller', (serve) => {
  it('is kept, and a refusal says when to try again [R-OP-12]', async () => {
    const callers = { messages: { limit: 1, perMs: hour } };
    const { call } = await serve(({ text }) => reply(text), {
      ...byHeader,
      limits: { callers },
    });
    await call('SendMessage', { message: say('go') });
    const refused = await call('SendMessage', { message: say('go') }).catch((error) => error);
    expect(refused).toMatchObject({ reason: 'RESOURCE_EXHAUSTED', details: [] });
    expect(refused.retryAfter).toBeGreaterThan(3_500);
    expect(refused.retryAfter).toBeLessThanOrEqual(3_600);
    expect((await call('ListTasks', {})).tasks).toEqual([]);
  });

  it('is that of the address where nothing else is known, if the adapter has one', async () => {
    const seen: (string | undefined)[] = [];
    const callers = {
      requests: { limit: 1, perMs: hour },
      callerOf({ remoteAddress }: { remoteAddress?: string | undefined }) {
        seen.push(remoteAddress);
        return remoteAddress;
      },
    };
    const { call } = await serve(({ text }) => reply(text), { limits: { callers } });
    await call('ListTasks', {});
    const again = await call('ListTasks', {}).catch((error) => error.reason);
    const [address] = seen;
    expect(address ?? '127.0.0.1').toMatch(/^(::ffff:)?127\.0\.0\.1$/);
    expect(again).toEqual(address === undefined ? expect.anything() : 'RESOURCE_EXHAUSTED');
  });
});

everywhere('The log', (serve) => {
  it('names the request of a line by the id that it brought', async () => {
    const lines: Readonly<Record<string, unknown>>[] = [];
    const { call } = await serve(({ text }) => reply(text), {
      authenticate: () => Promise.reject(new Error('no keys')),
      logger: (_level, _message, details) => void lines.push(details),
    });
    // A WebSocket authenticates first of all its upgrade, which has the headers of the call as well.
    await call('ListTasks', {}, { 'X-Request-Id': 'req-1' }).catch(() => {});
    expect(lines[0]).toMatchObject({ requestId: 'req-1', err: { message: 'no keys' } });
  });
});
