import { type CredentialsRequest, connect } from '@batonjs/client';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { bothBindings, breaks, collect, type Exchange, failureOf, peer, statusOf, taskIn } from '../serve.ts';

/** A clock whose pauses end at once. It records them. */
const instantClock = () => {
  const pauses: number[] = [];
  return { pauses, clock: { random: () => 0.5, sleep: async (ms: number) => void pauses.push(ms) } };
};

/** Without deadlines, which are pauses too: the recorded pauses are those of the retries. */
const untimed = { timeoutMs: 0 };

/** A peer that fails this many times before it answers. */
const flaky = (failures: number, fail: (exchange: Exchange) => void, card = bothBindings) => {
  let left = failures;
  return peer(
    (exchange) => {
      const { call, result, event, end } = exchange;
      if (left-- > 0) return fail(exchange);
      if (call.operation === 'SubscribeToTask' || call.operation === 'SendStreamingMessage') {
        event({ task: taskIn('WORKING') });
        event(statusOf('COMPLETED'));
        return end();
      }
      return result(call.operation === 'SendMessage' ? { task: taskIn('COMPLETED') } : taskIn('WORKING'));
    },
    { card },
  );
};

const unavailable = ({ error }: Exchange) => error(new A2AError('UNAVAILABLE'));
const message = { messageId: 'm-1', role: 'ROLE_USER' as const, parts: [{ text: 'hello' }] };

describe('retries [R-SEED-13]', () => {
  it('repeat what only reads, with pauses that double', async () => {
    const { url, calls } = await flaky(3, unavailable);
    const { clock, pauses } = instantClock();
    const agent = await connect(url, { clock, ...untimed });
    expect((await agent.getTask({ id: 't-1' })).id).toBe('t-1');
    expect(calls).toHaveLength(4);
    expect(pauses).toEqual([100, 200, 400]);
  });

  it('repeat after a connection that broke', async () => {
    const { url, calls } = await flaky(2, ({ destroy }) => destroy());
    const agent = await connect(url, { clock: instantClock().clock, fallback: false, ...untimed });
    await agent.cancelTask({ id: 't-1' });
    expect(calls).toHaveLength(3);
  });

  it('repeat opening a stream, but not one that has begun', async () => {
    const { url } = await flaky(2, unavailable);
    const agent = await connect(url, { clock: instantClock().clock, ...untimed });
    expect(await collect(agent.subscribeToTask({ id: 't-1' }))).toHaveLength(2);
    const broken = await peer(breaks([{ task: taskIn('WORKING') }]));
    const other = await connect(broken.url, { clock: instantClock().clock, ...untimed });
    expect((await failureOf(collect(other.subscribeToTask({ id: 't-1' })))).code).toBe('NETWORK');
    expect(broken.calls).toHaveLength(1);
  });

  it('have an end, and then show the last error', async () => {
    const { url, calls } = await flaky(100, unavailable);
    const agent = await connect(url, { clock: instantClock().clock, retry: { attempts: 3 }, ...untimed });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).reason).toBe('UNAVAILABLE');
    expect(calls).toHaveLength(3);
  });

  it.each(['INTERNAL_ERROR', 'TASK_NOT_FOUND', 'INVALID_PARAMS', 'UNAUTHENTICATED'] as const)(
    'do not repeat a call that was answered with %s',
    async (reason) => {
      const { url, calls } = await flaky(1, ({ error }) => error(new A2AError(reason)));
      const agent = await connect(url, { clock: instantClock().clock, ...untimed });
      expect((await failureOf(agent.getTask({ id: 't-1' }))).reason).toBe(reason);
      expect(calls).toHaveLength(1);
    },
  );

  it('wait as long as the agent asks, and not at all if that is too long', async () => {
    const asking =
      (retryAfter: number) =>
      ({ error }: Exchange) =>
        error(new A2AError('RESOURCE_EXHAUSTED', undefined, { retryAfter }));
    const short = await flaky(1, asking(3));
    const { clock, pauses } = instantClock();
    await (await connect(short.url, { clock, ...untimed })).getTask({ id: 't-1' });
    expect(pauses).toEqual([3_000]);
    const long = await flaky(1, asking(3_600));
    const error = await failureOf((await connect(long.url, { clock, ...untimed })).getTask({ id: 't-1' }));
    expect(error).toMatchObject({ reason: 'RESOURCE_EXHAUSTED', retryAfter: 3_600 });
    expect(pauses).toEqual([3_000]);
  });

  it('can be turned off', async () => {
    const { url, calls } = await flaky(1, unavailable);
    const agent = await connect(url, { retry: false });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).reason).toBe('UNAVAILABLE');
    expect(calls).toHaveLength(1);
  });

  it('are as many as a call wants, for one that reads and for one that sends', async () => {
    const { url, calls } = await flaky(100, unavailable);
    const agent = await connect(url, { clock: instantClock().clock, ...untimed });
    await failureOf(agent.getTask({ id: 't-1' }, { attempts: 1 }));
    expect(calls).toHaveLength(1);
    await failureOf(agent.getTask({ id: 't-1' }, { attempts: 2 }));
    expect(calls).toHaveLength(3);
    await failureOf(agent.send(message, { attempts: 2, repeatable: true }));
    expect(calls).toHaveLength(5);
  });

  it('leave an agent in peace when the budget of all calls is used up, until it answers again', async () => {
    let works = false;
    const { url, calls } = await peer(({ result, error }) =>
      works ? result(taskIn('WORKING')) : error(new A2AError('UNAVAILABLE')),
    );
    const agent = await connect(url, {
      clock: instantClock().clock,
      retry: { attempts: 3, budget: 3 },
      ...untimed,
    });
    const get = () => agent.getTask({ id: 't-1' });
    for (let call = 0; call < 4; call += 1) await failureOf(get());
    expect(calls).toHaveLength(4 + 3);
    works = true;
    for (let call = 0; call < 10; call += 1) await get();
    works = false;
    calls.length = 0;
    await failureOf(get());
    expect(calls).toHaveLength(2);
  });

  it('end at the deadline of the call, which counts them in', async () => {
    const { url } = await flaky(100, unavailable);
    const agent = await connect(url, { retry: { firstMs: 10_000 } });
    expect((await failureOf(agent.getTask({ id: 't-1' }, { timeoutMs: 60 }))).code).toBe('TIMEOUT');
  });
});

describe('a message', () => {
  const listed = (url: string) =>
    bothBindings(url, {
      capabilities: {
        streaming: true,
        extensions: [{ uri: 'https://batonjs.dev/extensions/idempotency/v1' }],
      },
    });

  it('is not sent again [R-SEED-13]', async () => {
    const { url, calls } = await flaky(2, unavailable);
    const agent = await connect(url, { clock: instantClock().clock, ...untimed });
    expect((await failureOf(agent.send('hello'))).reason).toBe('UNAVAILABLE');
    expect((await failureOf(collect(agent.sendStreamingMessage({ message })))).reason).toBe('UNAVAILABLE');
    expect(calls).toHaveLength(2);
  });

  it('is sent again when the card says that the agent recognises it [R-SEED-13, R-IDX-06]', async () => {
    const { url, calls } = await flaky(2, ({ destroy }) => destroy(), listed);
    const agent = await connect(url, { clock: instantClock().clock, fallback: false, ...untimed });
    await agent.send('hello');
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ params }) => JSON.stringify(params))).size).toBe(1);
  });

  it('is sent again when the caller says so [R-SEED-13]', async () => {
    const { url, calls } = await flaky(1, unavailable);
    const agent = await connect(url, { clock: instantClock().clock, ...untimed });
    await agent.send('hello', { repeatable: true });
    expect(calls).toHaveLength(2);
  });

  it('is not sent again when the caller says so', async () => {
    const { url, calls } = await flaky(1, unavailable, listed);
    const agent = await connect(url, { clock: instantClock().clock, ...untimed });
    await failureOf(agent.send('hello', { repeatable: false }));
    expect(calls).toHaveLength(1);
  });
});

describe('a push config', () => {
  const hook = { taskId: 't-1', url: 'https://example.com/hook' };

  it('is created again only if it has its own id', async () => {
    const { url, calls } = await flaky(1, unavailable);
    const agent = await connect(url, { clock: instantClock().clock, ...untimed });
    await failureOf(agent.createTaskPushNotificationConfig(hook));
    expect(calls).toHaveLength(1);
    const other = await flaky(1, unavailable);
    const second = await connect(other.url, { clock: instantClock().clock, ...untimed });
    await second.createTaskPushNotificationConfig({ ...hook, id: 'p-1' });
    expect(other.calls).toHaveLength(2);
  });
});

describe('credentials', () => {
  const guarded = (accepted: string) =>
    peer(({ headers, error, result }) =>
      headers.authorization === accepted ? result(taskIn('WORKING')) : error(new A2AError('UNAUTHENTICATED')),
    );

  it('are asked for with every request, and once more after a 401 [R-ERR-08]', async () => {
    const { url, calls } = await guarded('Bearer 2');
    let token = 1;
    const asked: boolean[] = [];
    const agent = await connect(bothBindings(url), {
      credentials: async ({ challenge }) => {
        asked.push(challenge !== undefined);
        if (challenge !== undefined) token += 1;
        return { authorization: `Bearer ${token}` };
      },
    });
    await agent.getTask({ id: 't-1' });
    await agent.getTask({ id: 't-1' });
    expect(asked).toEqual([false, true, false]);
    expect(calls).toHaveLength(3);
  });

  it('may depend on the card, and learn which of them were refused', async () => {
    const { url } = await guarded('Bearer 2');
    const asked: CredentialsRequest[] = [];
    const card = bothBindings(url);
    const agent = await connect(card, {
      credentials(request) {
        asked.push(request);
        return { authorization: request.refused ? 'Bearer 2' : 'Bearer 1' };
      },
    });
    await agent.getTask({ id: 't-1' });
    expect(asked).toEqual([
      { url, card, isTrusted: true },
      { url, card, isTrusted: true, challenge: '', refused: { authorization: 'Bearer 1' } },
    ]);
  });

  it('are asked for once more after a 403 for want of a scope, and not after any other [R-ERR-08]', async () => {
    const challenges = ['Bearer error="insufficient_scope", scope="write"', undefined];
    const { url, calls } = await peer(({ error }) =>
      error(new A2AError('PERMISSION_DENIED', undefined, { challenge: challenges[calls.length - 1] })),
    );
    const asked: (string | undefined)[] = [];
    const agent = await connect(bothBindings(url), {
      credentials({ challenge }) {
        asked.push(challenge);
        return { authorization: 'Bearer 1' };
      },
    });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).reason).toBe('PERMISSION_DENIED');
    expect(asked).toEqual([undefined, challenges[0]]);
    expect((await failureOf(agent.getTask({ id: 't-1' }))).reason).toBe('PERMISSION_DENIED');
    expect(asked).toHaveLength(3);
    expect(calls).toHaveLength(3);
  });

  it('that cannot be better than the refused ones leave the refusal as it is', async () => {
    const { url, calls } = await guarded('never');
    const agent = await connect(bothBindings(url), {
      credentials: ({ challenge }) => (challenge === undefined ? { authorization: 'Bearer 1' } : undefined),
    });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).reason).toBe('UNAUTHENTICATED');
    expect(calls).toHaveLength(1);
  });

  it('that are refused twice are an error, and a message is refused like any other call', async () => {
    const { url, calls } = await guarded('never');
    const agent = await connect(bothBindings(url), { credentials: () => ({ authorization: 'Bearer 1' }) });
    expect((await failureOf(agent.send('hello'))).reason).toBe('UNAUTHENTICATED');
    expect(calls).toHaveLength(2);
  });

  it('do not travel along a redirect', async () => {
    const target = await guarded('Bearer 1');
    const { url } = await peer(({ response }) => response.writeHead(307, { location: target.url }).end());
    const agent = await connect(bothBindings(url), {
      credentials: () => ({ authorization: 'Bearer 1' }),
      retry: false,
    });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).code).toBe('NETWORK');
    expect(target.calls).toEqual([]);
  });

  it('that cannot be obtained end the call with the error of the hook', async () => {
    const { url } = await guarded('Bearer 1');
    const agent = await connect(bothBindings(url), {
      credentials: () => Promise.reject(new Error('The vault is closed')),
    });
    const error = await failureOf(agent.getTask({ id: 't-1' }));
    expect(error).toMatchObject({ code: 'CREDENTIALS', cause: { message: 'The vault is closed' } });
  });
});
