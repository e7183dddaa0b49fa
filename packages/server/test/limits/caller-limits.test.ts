import { httpJsonServer, jsonRpcServer } from '@batonjs/bindings';
import { v03 } from '@batonjs/bindings-v0-3';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  type Authenticate,
  completed,
  inputRequired,
  reply,
  working,
} from '../../src/index.ts';

const answer: Agent = ({ text }) => reply(text);
const ask: Agent = async function* () {
  yield inputRequired('Well?');
};
/** The name of the caller is in the header `x-caller`. */
const authenticate: Authenticate = ({ headers }) =>
  headers['x-caller'] ? { scope: headers['x-caller'] } : undefined;
const as = (caller: string) => ({ 'x-caller': caller });
const hour = 3_600_000;

/** A store in memory whose clock only the test moves, and that counts its calls. */
function countedStore() {
  let now = 0;
  const calls: string[] = [];
  const store = memoryStore({ monotonic: () => now });
  const counted = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (name === 'take' || name === 'list') calls.push(name);
        return Reflect.apply(member, target, args);
      };
    },
  });
  const advance = (ms: number) => {
    now += ms;
  };
  return { store: counted as TaskStore, advance, calls };
}

const get = (server: AgentServer, caller: string) =>
  rpc(server, 'ListTasks', {}, as(caller)).then(
    () => 'answered',
    (error: { reason: string }) => error.reason,
  );

type CallerLimits = NonNullable<NonNullable<AgentServerOptions['limits']>['callers']>;

describe('requests of a caller', () => {
  it('are refused beyond the rate, and those of other callers are not', async () => {
    const { store, advance } = countedStore();
    const callers = { requests: { limit: 2, perMs: 10_000 } };
    const server = serve(answer, { store, authenticate, limits: { callers } });
    expect([await get(server, 'ada'), await get(server, 'ada')]).toEqual(['answered', 'answered']);
    expect(await get(server, 'ada')).toBe('RESOURCE_EXHAUSTED');
    expect(await get(server, 'bob')).toBe('answered');
    advance(4_998);
    expect(await get(server, 'ada')).toBe('RESOURCE_EXHAUSTED');
    advance(2);
    expect(await get(server, 'ada')).toBe('answered');
    expect(await get(server, 'ada')).toBe('RESOURCE_EXHAUSTED');
  });

  it('cost the store one call each, and none without limits', async () => {
    const { store, calls } = countedStore();
    const server = serve(answer, {
      store,
      authenticate,
      limits: { callers: { requests: { limit: 9, perMs: hour } } },
    });
    const free = serve(answer, { store, authenticate, name: 'free' });
    calls.length = 0;
    await get(free, 'ada');
    expect(calls).toEqual(['list']);
    calls.length = 0;
    await get(server, 'ada');
    expect(calls).toEqual(['take', 'list']);
  });

  it('are counted by all servers of the agent on a store together, and apart from other agents', async () => {
    const { store } = countedStore();
    const options = {
      store,
      authenticate,
      limits: { callers: { requests: { limit: 3, perMs: hour, burst: 1 } } },
    };
    const [one, two, other] = [
      serve(answer, options),
      serve(answer, options),
      serve(answer, { ...options, name: 'other' }),
    ];
    expect(await get(one, 'ada')).toBe('answered');
    expect(await get(two, 'ada')).toBe('RESOURCE_EXHAUSTED');
    expect(await get(other, 'ada')).toBe('answered');
  });

  it('count for all tenants together, however long the name of the caller is', async () => {
    const { store } = countedStore();
    const callers = { requests: { limit: 1, perMs: hour } };
    const server = serve(answer, { store, authenticate, limits: { callers } });
    const name = 'x'.repeat(5_000);
    await rpc(server, 'ListTasks', { tenant: 'one' }, as(`${name}a`));
    await expect(rpc(server, 'ListTasks', { tenant: 'two' }, as(`${name}a`))).rejects.toThrow('Too many');
    await rpc(server, 'ListTasks', {}, as(`${name}b`));
  });

  it.each(['POST', 'PUT'])('that are no calls count as well (%s)', async (method) => {
    const { store } = countedStore();
    const callers = { requests: { limit: 1, perMs: hour } };
    const server = serve(answer, { store, authenticate, limits: { callers } });
    const post = () =>
      server.fetch(new Request('http://localhost/none', { method, headers: as('ada'), body: '{}' }));
    expect((await post()).status).not.toBe(429);
    expect((await post()).status).toBe(429);
  });

  it('do not end streams that are open, and a public card is always there', async () => {
    const { store } = countedStore();
    const goOn = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        yield working('first');
        await goOn.promise;
        for (let n = 0; n < 20; n++) yield working(String(n));
        yield completed();
      },
      { store, authenticate, limits: { callers: { requests: { limit: 1, perMs: hour } } } },
    );
    const events = stream(server, 'SendStreamingMessage', { message: say('go') }, as('ada'));
    await events.next();
    expect(await get(server, 'ada')).toBe('RESOURCE_EXHAUSTED');
    expect((await server.fetch(new Request('http://localhost/.well-known/agent-card.json'))).status).toBe(
      200,
    );
    goOn.resolve();
    let count = 0;
    for await (const _ of events) count++;
    expect(count).toBeGreaterThan(20);
  });

  it('are refused before a large body is read', async () => {
    const { store } = countedStore();
    const callers = { requests: { limit: 1, perMs: hour } };
    const server = serve(answer, { store, authenticate, limits: { callers } });
    await get(server, 'ada');
    let isRead = false;
    const body = new ReadableStream(
      {
        pull(controller) {
          isRead = true;
          controller.enqueue(new Uint8Array(100_000));
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { ...as('ada'), 'content-type': 'application/json', 'content-length': '3000000' };
    const init = { method: 'POST', headers, body, duplex: 'half' };
    const response = await server.fetch(new Request('http://localhost/', init as RequestInit));
    expect(response.status).toBe(429);
    expect(isRead).toBe(false);
  });

  it('of nobody known are counted by what `callerOf` says, and not at all without a name', async () => {
    const { store } = countedStore();
    const callers: CallerLimits = {
      requests: { limit: 1, perMs: hour },
      callerOf: ({ headers }) => headers['x-real-ip'],
    };
    const server = serve(answer, { store, limits: { callers } });
    const from = (headers: Record<string, string>) =>
      rpc(server, 'ListTasks', {}, headers).then(
        () => true,
        () => false,
      );
    const [one, two] = [{ 'x-real-ip': '192.0.2.1' }, { 'x-real-ip': '192.0.2.2' }];
    expect([await from(one), await from(one), await from(two)]).toEqual([true, false, true]);
    expect([await from({}), await from({})]).toEqual([true, true]);
  });

  it('are refused while the store cannot count', async () => {
    const store = { ...memoryStore(), take: () => Promise.reject(new Error('secret of the store')) };
    const server = serve(answer, {
      store,
      authenticate,
      limits: { callers: { requests: { limit: 1, perMs: hour } } },
    });
    const refused = await rpc(server, 'ListTasks', {}, as('ada')).catch((error) => error);
    expect(refused.reason).toBe('INTERNAL_ERROR');
    expect(JSON.stringify(refused.error)).not.toContain('secret');
  });
});

describe('messages of a caller', () => {
  it('have a rate of their own, streamed or not, and other calls are still answered', async () => {
    const { store } = countedStore();
    const callers = { messages: { limit: 2, perMs: hour } };
    const server = serve(answer, { store, authenticate, limits: { callers } });
    await rpc(server, 'SendMessage', { message: say('a') }, as('ada'));
    for await (const _ of stream(server, 'SendStreamingMessage', { message: say('b') }, as('ada')));
    const refused = rpc(server, 'SendMessage', { message: say('c') }, as('ada'));
    await expect(refused).rejects.toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
    expect(await get(server, 'ada')).toBe('answered');
    await rpc(server, 'SendMessage', { message: say('d') }, as('bob'));
  });
});

describe('unfinished tasks of a caller', () => {
  it('are limited: a message that would start another is refused, until one has ended', async () => {
    const server = serve(ask, { authenticate, limits: { callers: { unfinishedTasks: 2 } } });
    const send = (caller: string, text = 'go') =>
      rpc(server, 'SendMessage', { message: say(text) }, as(caller));
    const { task } = await send('ada');
    await send('ada');
    const refused = await send('ada').catch((error) => error);
    expect(refused).toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
    expect(refused.error.data[1]).toEqual({
      '@type': 'type.googleapis.com/google.rpc.RetryInfo',
      retryDelay: '5s',
    });
    await send('bob');
    // A task that exists may go on.
    await rpc(server, 'SendMessage', { message: say('on', { taskId: task.id }) }, as('ada'));
    await rpc(server, 'CancelTask', { id: task.id }, as('ada'));
    await send('ada');
    await expect(send('ada')).rejects.toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
  });

  it('do not keep a message from being repeated, in another process too', async () => {
    const store = memoryStore();
    const options = { store, authenticate, limits: { callers: { unfinishedTasks: 1 } } };
    const [one, two] = [serve(ask, options), serve(ask, options)];
    const message = say('go');
    const first = await rpc(one, 'SendMessage', { message }, as('ada'));
    const again = await rpc(two, 'SendMessage', { message }, as('ada'));
    expect(again.task.id).toBe(first.task.id);
  });
});

describe('a refusal for its rate', () => {
  const refusal = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const { store } = countedStore();
    const callers = { requests: { limit: 1, perMs: 90_500 } };
    const bindings = [jsonRpcServer, httpJsonServer] as const;
    const server = serve(answer, {
      store,
      authenticate,
      limits: { callers },
      bindings,
      compatibility: [v03()],
    });
    await get(server, 'ada');
    return server.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...as('ada'), ...headers },
        body: JSON.stringify(body),
      }),
    );
  };
  const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '91s' };

  it('is 429 with Retry-After and RESOURCE_EXHAUSTED over HTTP+JSON', async () => {
    const response = await refusal('/message:send', { message: say('go') });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '91']);
    expect(await response.json()).toMatchObject({
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'Too many requests: try again in 91 s',
        details: [{ reason: 'RESOURCE_EXHAUSTED' }, retryInfo],
      },
    });
  });

  it('is an error of JSON-RPC with the same header and status', async () => {
    const response = await refusal('/', { jsonrpc: '2.0', id: 7, method: 'ListTasks', params: {} });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '91']);
    expect(await response.json()).toMatchObject({
      id: 7,
      error: { data: [{ reason: 'RESOURCE_EXHAUSTED' }, retryInfo] },
    });
  });

  it('is an error of A2A 0.3 with the same header', async () => {
    const call = { jsonrpc: '2.0', id: 7, method: 'tasks/get', params: { id: 't' } };
    const response = await refusal('/', call, { 'a2a-version': '0.3' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '91']);
    expect(await response.json()).toMatchObject({ id: 7, error: { message: /Too many requests/ } });
  });
});

describe('limits.callers', () => {
  const requests = { limit: 1, perMs: 1 };
  it.each<[string, CallerLimits, RegExp]>([
    [
      'a limit of 0',
      { requests: { ...requests, limit: 0 } },
      /requests\.limit` must be a number, more than 0/,
    ],
    ['a limit that is no number', { messages: { limit: Number.NaN, perMs: 1 } }, /messages\.limit/],
    ['no end of requests', { requests: { limit: Number.POSITIVE_INFINITY, perMs: 1 } }, /requests\.limit/],
    ['no time', { requests: { limit: 1 } as never }, /requests\.perMs` must be a number, more than 0/],
    ['a number', { requests: 5 as never }, /requests\.limit/],
    ['nothing at once', { requests: { ...requests, burst: 0 } }, /requests\.burst` must be a whole number/],
    ['half a request', { requests: { ...requests, burst: 1.5 } }, /requests\.burst/],
    ['no task', { unfinishedTasks: 0 }, /unfinishedTasks` must be a whole number/],
    ['a name that is no function', { requests, callerOf: 'ada' as never }, /callerOf` must be a function/],
  ])('refuses %s', (_, callers, message) => {
    expect(() => serve(answer, { authenticate, limits: { callers } })).toThrow(message);
  });

  it('needs to know its callers', () => {
    expect(() => serve(answer, { limits: { callers: { requests } } })).toThrow(/need `authenticate`, or/);
    expect(() => serve(answer, { limits: { callers: { unfinishedTasks: 1 } } })).toThrow(
      /needs `authenticate`/,
    );
  });

  it('needs a store that can count', () => {
    const { take: _, ...store } = memoryStore();
    expect(() => serve(answer, { store, authenticate, limits: { callers: { requests } } })).toThrow(
      /need a store with `take`/,
    );
    serve(answer, { store, authenticate, limits: { callers: { unfinishedTasks: 1 } } });
  });

  it.each(['', 7])('refuses the name %j of a caller, and shows it to no client', async (name) => {
    const callers = { requests, callerOf: () => name as string };
    const server = serve(answer, { limits: { callers } });
    await expect(rpc(server, 'ListTasks', {})).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
  });
});
