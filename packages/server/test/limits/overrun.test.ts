import { describe, expect, it } from 'vitest';
import { rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, inputRequired } from '../../src/index.ts';
import { stores } from '../webhooks/stores.ts';

const exhausted = { reason: 'RESOURCE_EXHAUSTED' };
const returnImmediately = true;
const url = 'http://127.0.0.1:9/hook';
/** One more than the limit of each test, several times. */
const calls = Array.from({ length: 24 }, (_, n) => n);

const asking: Agent = async function* () {
  yield inputRequired('And?');
};

/** How many of these calls succeed. All others must be refused for want of room. */
async function succeeded(calls: readonly Promise<unknown>[]): Promise<number> {
  const settled = await Promise.allSettled(calls);
  const refused = settled.filter((one) => one.status === 'rejected');
  for (const { reason } of refused) expect(reason).toMatchObject(exhausted);
  return settled.length - refused.length;
}

describe.each(stores)('calls at the same time, to two servers on %s,', (name, create) => {
  it('register no more webhooks than a task may have', async () => {
    const share = create();
    const push = { configsPerTask: 3, allow: ['127.0.0.1:*'] };
    const servers = [
      serve(asking, { store: share(), push }),
      serve(asking, { store: share(), push }),
    ] as const;
    const { task } = await rpc(servers[0], 'SendMessage', { message: say('go') });
    const method = 'CreateTaskPushNotificationConfig';
    const registered = await succeeded(
      calls.map((n) => rpc(servers[n % 2]!, method, { taskId: task.id, id: `${n}`, url })),
    );
    expect(registered).toBe(3);
    const { configs } = await rpc(servers[0], 'ListTaskPushNotificationConfigs', { taskId: task.id });
    expect(configs).toHaveLength(3);
  });

  it('make no more tasks wait for a turn than may', async () => {
    const share = create();
    const [one, other] = [share(), share()];
    const options = { run: 'workers', limits: { queuedTurns: 5 } } as const;
    const servers = [
      serve(asking, { ...options, store: one }),
      serve(asking, { ...options, store: other }),
    ] as const;
    const send = (n: number) =>
      rpc(servers[n % 2]!, 'SendMessage', { message: say('go'), configuration: { returnImmediately } });
    const made = await succeeded(calls.map(send));
    // A store in several parts counts those of each part.
    if (name === 'Redis') expect(made).toBeLessThanOrEqual(4 * 5);
    else expect(made).toBe(5);
    expect(await one.waiting('agent')).toBe(made);
  });
});

it('streams of sends count as followers of a task, and a refused one stores nothing', async () => {
  const server = serve(asking, { limits: { followersPerTask: 2 }, streams: { closeOnInputRequired: false } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  const follow = () => stream(server, 'SubscribeToTask', { id: task.id });
  const send = () => stream(server, 'SendStreamingMessage', { message: say('on', { taskId: task.id }) });
  const streams = [follow(), send(), follow(), send(), send(), follow()];
  expect(await succeeded(streams.map((events) => events.next()))).toBe(2);
  const { history } = await rpc(server, 'GetTask', { id: task.id });
  const said = history.filter(({ role }: { role: string }) => role === 'ROLE_USER');
  expect(said.length).toBeLessThanOrEqual(3);
  await Promise.all(streams.map((events) => events.return(undefined)));
  // Those that left made room.
  const again = follow();
  await again.next();
  await again.return(undefined);
});

describe.each(stores)('a page token that no server gave out is refused on %s', (_name, create) => {
  it.each([
    ['a time that is none', (parts: unknown[]) => ['yesterday', ...parts.slice(1)]],
    ['an empty time', (parts: unknown[]) => ['', ...parts.slice(1)]],
    ['a time with fewer digits', (parts: unknown[]) => ['2026-01-01T00:00:00Z', ...parts.slice(1)]],
    ['a day that is none', (parts: unknown[]) => ['2026-02-30T00:00:00.000Z', ...parts.slice(1)]],
    ['a year beyond 9999', (parts: unknown[]) => ['+012026-01-01T00:00:00.000Z', ...parts.slice(1)]],
    ['no time', (parts: unknown[]) => [7, ...parts.slice(1)]],
    ['an id with NUL', ([time, , digest]: unknown[]) => [time, 'a\0b', digest]],
    ['an empty id', ([time, , digest]: unknown[]) => [time, '', digest]],
    ['an id that is too long', ([time, , digest]: unknown[]) => [time, 'x'.repeat(1_025), digest]],
    ['half a character', ([time, , digest]: unknown[]) => [time, '\ud800', digest]],
  ])('with %s [R-LIST-10]', async (_what, forge) => {
    const server = serve(asking, { store: create()() });
    for (const text of ['one', 'two']) await rpc(server, 'SendMessage', { message: say(text) });
    const { nextPageToken } = await rpc(server, 'ListTasks', { pageSize: 1 });
    const parts = JSON.parse(Buffer.from(nextPageToken, 'base64url').toString());
    const pageToken = Buffer.from(JSON.stringify(forge(parts))).toString('base64url');
    await expect(rpc(server, 'ListTasks', { pageToken })).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    expect((await rpc(server, 'ListTasks', { pageSize: 1, pageToken: nextPageToken })).tasks).toHaveLength(1);
  });
});
