import type { Fact } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { runTurn, testClock } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import type { CallbackSchema } from '../../src/agent/callback.ts';
import { type Agent, completed, createAgentServer, working } from '../../src/index.ts';
import { rotateCallbackKey } from '../../src/turns/outside/callback-keys.ts';
import { createWorker } from '../../src/worker.ts';
import { begin, hour, post, serveCallbacks, statusOf, waitingAgent } from './serve-callbacks.ts';

const stateOf = async (server: ReturnType<typeof serve>, id: string) =>
  (await rpc(server, 'GetTask', { id })).status.state;

const received = async (store: ReturnType<typeof memoryStore>, id: string): Promise<Fact[]> =>
  (await store.readFacts(scope, id, 0, 100))
    .map(({ fact }) => fact)
    .filter(({ type }) => type === 'callback-received');

describe('the value of a callback', () => {
  it.each([
    ['works', false, 'TASK_STATE_WORKING'],
    ['waits for an answer', true, 'TASK_STATE_INPUT_REQUIRED'],
  ])('starts the next turn of a task that %s, which has it', async (_, ask, state) => {
    const { agent, seen, url } = waitingAgent({ ask, name: 'payment' });
    const { server, clock } = serveCallbacks(agent);
    const id = await begin(server);
    const address = await url;
    await clock.advance(0);
    expect(await stateOf(server, id)).toBe(state);
    expect(await post(server, address, { cents: 500 })).toMatchObject({ status: 202, error: undefined });
    await clock.advance(0);
    expect(await stateOf(server, id)).toBe('TASK_STATE_COMPLETED');
    expect(seen).toEqual([
      { woken: false, values: {} },
      { woken: true, values: { payment: { cents: 500 } } },
    ]);
  });

  it('that comes while a turn runs starts the turn after it', async () => {
    const posted = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<string>();
    const turns: unknown[] = [];
    const agent: Agent = async function* ({ callback, callbacks }) {
      turns.push(Object.keys(callbacks));
      if (turns.length > 1) return yield completed();
      yield working();
      opened.resolve((await callback({ expiresMs: hour })).url);
      await posted.promise;
    };
    const { server, clock } = serveCallbacks(agent);
    const id = await begin(server);
    expect(await statusOf(server, await opened.promise, true)).toBe(202);
    await clock.advance(0);
    expect(turns).toEqual([[]]);
    posted.resolve();
    await clock.advance(0);
    expect(turns).toEqual([[], ['callback']]);
    expect(await stateOf(server, id)).toBe('TASK_STATE_COMPLETED');
  });

  it.each([null, false, 0, '""', [[]], { a: [1, { b: null }] }])('may be any JSON: %j', async (value) => {
    const { agent, seen, url } = waitingAgent();
    const { server, clock } = serveCallbacks(agent);
    await begin(server);
    expect(await statusOf(server, await url, value)).toBe(202);
    await clock.advance(0);
    expect(seen.at(-1)?.values).toEqual({ callback: value === '""' ? '' : value });
  });

  it('stays for later turns, and can be changed without changing the state', async () => {
    const turns: unknown[] = [];
    const opened = Promise.withResolvers<string>();
    const agent: Agent = async function* ({ callback, callbacks, wakeAt }) {
      const { a } = callbacks;
      turns.push(structuredClone(a?.value));
      if (a) (a.value as { n: number }).n = 9;
      if (turns.length === 4) return yield completed();
      yield working();
      if (turns.length === 1) opened.resolve((await callback({ name: 'a', expiresMs: hour })).url);
      else await wakeAt(clock.now() + 60_000);
    };
    const { server, clock } = serveCallbacks(agent);
    await begin(server);
    await post(server, await opened.promise, { n: 1 });
    await clock.advance(200_000);
    expect(turns).toEqual([undefined, { n: 1 }, { n: 1 }, { n: 1 }]);
  });

  it('of several callbacks of one name is the latest', async () => {
    const urls: string[] = [];
    const turns: unknown[] = [];
    const agent: Agent = async function* ({ callback, callbacks, replacedWake, wakeAt }) {
      turns.push(callbacks.a && [callbacks.a.value, callbacks.a.receivedAt.getTime()]);
      yield working();
      if (turns.length > 1) return await wakeAt(replacedWake);
      for (let n = 0; n < 3; n++) urls.push((await callback({ name: 'a', expiresMs: hour })).url);
    };
    const { server, clock } = serveCallbacks(agent);
    await begin(server);
    await clock.advance(0);
    for (const n of [1, 0, 2]) {
      await post(server, urls[n] ?? '', n);
      await clock.advance(1_000);
    }
    const start = clock.now();
    expect(turns.slice(1)).toEqual([
      [1, start - 3_000],
      [0, start - 2_000],
      [2, start - 1_000],
    ]);
  });
});

describe('a callback is used once', () => {
  it('by the same value again, which is accepted again, also when the task has ended', async () => {
    const { agent, url } = waitingAgent();
    const { server, store, clock } = serveCallbacks(agent);
    const id = await begin(server);
    const address = await url;
    const value = { a: 1, b: [2] };
    expect(await statusOf(server, address, value)).toBe(202);
    expect(await statusOf(server, address, { b: [2], a: 1 })).toBe(202);
    expect(await statusOf(server, address, { a: 2, b: [2] })).toBe(409);
    await clock.advance(2 * hour);
    expect(await stateOf(server, id)).toBe('TASK_STATE_COMPLETED');
    expect(server.load.tasks).toBe(0);
    expect(await statusOf(server, address, value)).toBe(202);
    expect(await post(server, address, 7)).toMatchObject({
      status: 409,
      error: 'The callback was used with another value',
    });
    expect(await received(store as never, id)).toHaveLength(1);
  });

  it.each([
    ['the same value', [1, 1], [202, 202]],
    ['two values', [1, 2], [202, 409]],
  ])('by two servers that get %s at once', async (_, values, statuses) => {
    const { agent, seen, url } = waitingAgent();
    const { server, store, clock } = serveCallbacks(agent);
    const other = serveCallbacks(agent, { store, clock }).server;
    const id = await begin(server);
    const address = await url;
    const answers = await Promise.all([
      statusOf(server, address, values[0]),
      statusOf(other, address, values[1]),
    ]);
    expect(answers.sort()).toEqual(statuses);
    await clock.advance(0);
    expect(await received(store as never, id)).toHaveLength(1);
    expect(seen).toHaveLength(2);
  });
});

describe('a callback takes no value', () => {
  it('that comes as its task ends', async () => {
    const { agent, url } = waitingAgent();
    let end = async () => {};
    const store = change(memoryStore(), {
      commit: (commit) => async (given) => {
        if (given.facts.some(({ type }) => type === 'callback-received')) await end();
        return commit(given);
      },
    });
    const { server } = serveCallbacks(agent, { store });
    const id = await begin(server);
    const address = await url;
    end = async () => void (await rpc(server, 'CancelTask', { id }));
    expect(await post(server, address, 1)).toMatchObject({ status: 410, error: 'The task has ended' });
  });

  it('after its time, at which the agent is called without one', async () => {
    const { agent, seen, url } = waitingAgent({ expiresMs: 60_000 });
    const { server, clock } = serveCallbacks(agent);
    await begin(server);
    const address = await url;
    await clock.advance(59_999);
    expect(seen).toHaveLength(1);
    // The process asks its store about once a second.
    await clock.advance(1_251);
    expect(seen).toEqual([
      { woken: false, values: {} },
      { woken: true, values: {} },
    ]);
    expect(await post(server, address, 1)).toMatchObject({ status: 410, error: 'The task has ended' });
  });

  it('after its time, while the task goes on', async () => {
    const opened = Promise.withResolvers<string>();
    const agent: Agent = async function* ({ callback }) {
      yield working();
      opened.resolve((await callback({ expiresMs: 60_000 })).url);
      await new Promise(() => {});
    };
    const { server, clock, store } = serveCallbacks(agent);
    const id = await begin(server);
    const address = await opened.promise;
    await clock.advance(60_000);
    expect(await post(server, address, 1)).toMatchObject({ status: 410, error: 'The callback has expired' });
    expect(await received(store as never, id)).toEqual([]);
  });

  it('until a moment before its time at least', async () => {
    const { agent, url } = waitingAgent({ expiresMs: 60_000 });
    const { server, clock } = serveCallbacks(agent);
    await begin(server);
    const address = await url;
    await clock.advance(59_999);
    expect(await statusOf(server, address, 1)).toBe(202);
  });

  it('once the task is canceled', async () => {
    const { agent, url } = waitingAgent({ ask: true });
    const { server, clock } = serveCallbacks(agent);
    const id = await begin(server);
    const address = await url;
    await clock.advance(0);
    await rpc(server, 'CancelTask', { id });
    expect(await post(server, address, 1)).toMatchObject({ status: 410, error: 'The task has ended' });
  });

  it('that does not fit its schema, and is not used up by it', async () => {
    for (const schema of [
      z.object({ cents: z.number().int(), by: z.string().regex(/^[a-z]+$/) }),
      {
        type: 'object',
        properties: { cents: { type: 'integer' }, by: { type: 'string', pattern: '^[a-z]+$' } },
        required: ['cents', 'by'],
      },
    ]) {
      const { agent, seen, url } = waitingAgent({ schema });
      const { server, clock, store } = serveCallbacks(agent);
      // Another process checks it.
      const other = serveCallbacks(agent, { store, clock }).server;
      await begin(server);
      const address = await url;
      const refused = await post(other, address, { cents: 'many', by: 'me' });
      expect(refused).toMatchObject({ status: 422, error: expect.stringMatching(/^cents: /) });
      expect(await statusOf(other, address, { cents: 1, by: 'ME' })).toBe(422);
      expect(await statusOf(other, address, [])).toBe(422);
      expect(await statusOf(other, address, { cents: 1, by: 'me' })).toBe(202);
      await clock.advance(0);
      expect(seen.at(-1)?.values).toEqual({ callback: { cents: 1, by: 'me' } });
    }
  });
});

describe('a callback cannot be used by those who do not have its URL', () => {
  it('or have it in part, or changed, or of another agent', async () => {
    const { agent, url } = waitingAgent();
    const { server, store, clock } = serveCallbacks(agent);
    const id = await begin(server);
    const address = await url;
    const at = address.lastIndexOf('/') + 1;
    const token = address.slice(at);
    const members = JSON.parse(Buffer.from(token, 'base64url').toString());
    const written = (changed: unknown) =>
      address.slice(0, at) + Buffer.from(JSON.stringify(changed)).toString('base64url');
    expect(written(members)).toBe(address);
    const changed = members.flatMap((member: string, index: number) =>
      [`${member}x`, member.slice(1), '', 7, null].map((other) => written(members.with(index, other))),
    );
    for (const wrong of [
      ...changed,
      `${address}x`,
      `${address}.`,
      address.slice(0, -1),
      address.slice(0, at),
      written(members.slice(0, 3)),
      written([...members, 'more']),
      written({}),
      written(null),
      written(['toString', id, '__proto__', 'a', members[4]]),
      written([members[0], id, '__proto__', members[3], members[4]]),
      `${address.slice(0, at)}tasks`,
      `${address.slice(0, at)}${encodeURIComponent('ü"')}`,
    ])
      expect([wrong, await post(server, wrong, 1)]).toMatchObject([
        wrong,
        { status: 404, error: 'There is no such callback' },
      ]);
    const other = serveCallbacks(agent, { store, clock, name: 'other' }).server;
    expect(await statusOf(other, address, 1)).toBe(404);
    expect(await received(store as never, id)).toEqual([]);
    expect(await statusOf(server, address, 1)).toBe(202);
  });

  it('and has another URL for each', async () => {
    const urls = await Promise.all(
      [1, 2].map(async () => {
        const { agent, url } = waitingAgent();
        await begin(serveCallbacks(agent).server);
        return url;
      }),
    );
    const [one = [], other = []] = urls.map((url) =>
      JSON.parse(Buffer.from(url.slice(url.lastIndexOf('/') + 1), 'base64url').toString()),
    );
    expect(Buffer.from(one[3], 'base64')).toHaveLength(32);
    for (const index of [1, 2, 3]) expect(one[index]).not.toBe(other[index]);
  });
});

describe('turn.callback', () => {
  it('throws a sentence without the option', async () => {
    const errors: unknown[] = [];
    const agent: Agent = async function* ({ callback }) {
      yield working();
      await callback({ expiresMs: hour }).catch((error) => errors.push(error));
      yield completed();
    };
    const server = serve(agent, { publicUrl: 'http://localhost/agent' });
    await rpc(server, 'SendMessage', { message: say('go') });
    expect(errors).toEqual([
      new TypeError(
        '`turn.callback` needs the option `callbacks` of the server or worker that runs the agent',
      ),
    ]);
    const response = await server.fetch(
      new Request('http://localhost/agent/callbacks/x', {
        method: 'POST',
        headers: { 'a2a-version': '1.0' },
      }),
    );
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.not.stringContaining('callback has'),
    ]);
  });

  it.each([
    [{ expiresMs: 0 }, new RangeError('`expiresMs` of a callback must be more than 0')],
    [{ expiresMs: -1 }, RangeError],
    [{ expiresMs: Number.NaN }, RangeError],
    [{ expiresMs: Number.POSITIVE_INFINITY }, RangeError],
    [{ expiresMs: 1, name: '' }, TypeError],
    [{ expiresMs: 1, name: 7 as never }, TypeError],
    [
      { expiresMs: 1, schema: { type: 'wrong' } },
      new TypeError('The schema of a callback cannot be read', { cause: expect.any(Error) }),
    ],
    [{ expiresMs: 1, schema: { $ref: 'http://elsewhere.example' } }, TypeError],
  ])('refuses %j', async (request, kind) => {
    const turn = runTurn(async function* ({ callback }) {
      yield working();
      await callback(request);
    }, 'go');
    await expect(turn).rejects.toEqual(kind instanceof Error ? kind : expect.any(kind));
  });

  it('asks a schema library for the JSON Schema of its input, in the version that it reads', async () => {
    const asked: unknown[] = [];
    const input = (options: unknown) => {
      asked.push(options);
      return { type: 'number' };
    };
    const schema = { '~standard': { version: 1, vendor: 'test', jsonSchema: { input, output: input } } };
    const { agent, url } = waitingAgent({ schema: schema as unknown as CallbackSchema });
    const { server } = serveCallbacks(agent);
    await begin(server);
    expect(await statusOf(server, await url, [])).toBe(422);
    expect(asked).toEqual([{ target: 'draft-2020-12' }]);
  });

  it('keeps an earlier wake of the turn, and replaces a later one', async () => {
    const clock = testClock(0);
    const wakes = async (...times: readonly (number | 'callback')[]) =>
      (
        await runTurn(
          async function* ({ callback, wakeAt }) {
            yield working();
            for (const time of times)
              await (time === 'callback' ? callback({ expiresMs: 1_000 }) : wakeAt(time));
          },
          'go',
          { clock },
        )
      ).wakeAt;
    const at = (ms: number) => new Date(ms).toISOString();
    expect(await wakes('callback')).toBe(at(1_000));
    expect(await wakes(500, 'callback')).toBe(at(500));
    expect(await wakes(1_000, 'callback')).toBe(at(1_000));
    expect(await wakes(1_500, 'callback')).toBe(at(1_000));
    expect(await wakes('callback', 1_500)).toBe(at(1_500));
  });

  it('is tested with runTurn, which opens and gives', async () => {
    const clock = testClock(new Date('2026-01-01T00:00:00Z'));
    const agent: Agent = async function* ({ callback, callbacks }) {
      if (callbacks.payment) return yield completed(String(callbacks.payment.value));
      yield working();
      await callback({ name: 'payment', expiresMs: 60_000 });
    };
    const first = await runTurn(agent, 'go', { clock });
    expect(first.callbacks).toEqual({
      payment: {
        url: expect.stringMatching(/^http:\/\/localhost\/callbacks\//),
        expiresAt: new Date('2026-01-01T00:01:00Z'),
      },
    });
    const { updates, callbacks } = await runTurn(agent, 'go', { clock, callbacks: { payment: 7 } });
    expect(updates).toMatchObject([{ status: { message: { parts: [{ text: '7' }] } } }]);
    expect(callbacks).toEqual({});
  });

  it('makes a task of a log that is none', async () => {
    const { server } = serveCallbacks(
      Object.assign(async ({ callback }: Parameters<Agent>[0]) => {
        await callback({ expiresMs: hour });
        return { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Done' }] } as const;
      }),
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('works in a worker, whose servers take the value', async () => {
    const { agent, seen, url } = waitingAgent();
    const { server, store, clock } = serveCallbacks(agent, {
      run: 'workers',
      publicUrl: 'http://front.example/a/',
    });
    const options = { agent, store, clock, logger: () => {} };
    expect(() => createWorker({ ...options, callbacks: true })).toThrow(/`callbacks.url` in a worker/);
    const worker = createWorker({ ...options, callbacks: { url: 'http://front.example/a/' } });
    const id = await begin(server);
    await clock.advance(2_000);
    const address = await url;
    expect(address).toMatch(/^http:\/\/front\.example\/a\/callbacks\/[\w-]+$/);
    expect(await statusOf(server, address, 1)).toBe(202);
    await clock.advance(2_000);
    expect([await stateOf(server, id), seen.length]).toEqual(['TASK_STATE_COMPLETED', 2]);
    await worker.close({ graceMs: 0 });
  });

  it('is known to a server that has not heard of it yet', async () => {
    const { agent, url } = waitingAgent();
    const go = Promise.withResolvers<void>();
    const { server, store, clock } = serveCallbacks(async function* (turn) {
      yield working();
      await go.promise;
      yield* agent(turn) as AsyncIterable<never>;
    });
    const deaf = change(store, { subscribe: () => () => () => {} });
    const other = serveCallbacks(agent, {
      store: deaf,
      clock,
      run: 'workers',
      timeouts: { sweepMs: Infinity },
    }).server;
    const id = await begin(server);
    const following = stream(other, 'SubscribeToTask', { id });
    await following.next();
    go.resolve();
    expect(await statusOf(other, await url, 1)).toBe(202);
    await following.return(undefined);
  });

  it('that has expired by the facts has expired, where a clock was set back', async () => {
    const opened = Promise.withResolvers<string>();
    const agent: Agent = async function* ({ callback, wakeAt, woken }) {
      yield working();
      if (woken) return await wakeAt(clock.now() + hour);
      await wakeAt(clock.now() + 60_000);
      opened.resolve((await callback({ expiresMs: 30_000 })).url);
      await wakeAt(clock.now() + 60_000);
    };
    const { server, store, clock } = serveCallbacks(agent);
    await begin(server);
    const address = await opened.promise;
    await clock.advance(62_000);
    const behind = serveCallbacks(agent, {
      store,
      clock: { ...clock, now: () => clock.now() - hour },
    }).server;
    expect(await post(behind, address, 1)).toMatchObject({ status: 410, error: 'The callback has expired' });
  });

  it('outlives a server that closes: the next one takes the value', async () => {
    const { agent, seen, url } = waitingAgent();
    const { server, store, clock } = serveCallbacks(agent);
    const id = await begin(server);
    const address = await url;
    await clock.advance(0);
    await server.close({ graceMs: 0 });
    expect(await post(server, address, 1)).toMatchObject({ status: 503 });
    const next = serveCallbacks(agent, { store, clock }).server;
    expect(await statusOf(next, address, 1)).toBe(202);
    await clock.advance(0);
    expect(seen.at(-1)).toEqual({ woken: true, values: { callback: 1 } });
    expect(await stateOf(next, id)).toBe('TASK_STATE_COMPLETED');
  });

  it('of a turn that is run again opens another URL: both work, for one name', async () => {
    const urls: string[] = [];
    const values: unknown[] = [];
    const agent: Agent = async function* ({ attempt, woken, callback, callbacks }) {
      if (woken) {
        values.push(callbacks.callback?.value);
        return yield completed();
      }
      yield working();
      urls.push((await callback({ expiresMs: hour })).url);
      if (attempt === 1) await new Promise(() => {});
    };
    const { server, store, clock } = serveCallbacks(agent, { restart: 'rerun' });
    const id = await begin(server);
    await clock.advance(0);
    await server.close({ graceMs: 0 });
    const next = serveCallbacks(agent, { store, clock, restart: 'rerun' }).server;
    await clock.advance(2_000);
    expect(new Set(urls).size).toBe(2);
    expect(await statusOf(next, urls[0] ?? '', ['first'])).toBe(202);
    await until(next, id, 'COMPLETED');
    expect(values).toEqual([['first']]);
  });
});

describe('the key that signs the URLs of callbacks', () => {
  const membersOf = (address: string): string[] =>
    JSON.parse(Buffer.from(address.split('/').at(-1) ?? '', 'base64url').toString());
  const withMembers = (address: string, members: readonly string[]) =>
    address.replace(/[^/]*$/, Buffer.from(JSON.stringify(members)).toString('base64url'));
  /** A server whose task has a callback. */
  const opened = async (store: TaskStore) => {
    const { agent, url } = waitingAgent();
    const served = serveCallbacks(agent, { store });
    await begin(served.server);
    return { ...served, address: await url };
  };

  it('is looked at before anything of the task', async () => {
    let loads = 0;
    const memory = memoryStore();
    const { address } = await opened(memory);
    const [scope = '', id = '', name = '', secret = '', signature = ''] = membersOf(address);
    const store = change(memory, {
      load:
        (load) =>
        (...args) => {
          if (args[1] === id) loads += 1;
          return load(...args);
        },
    });
    const { server } = serveCallbacks(waitingAgent().agent, { store, run: 'workers' });
    for (const members of [
      [scope, id, name, secret, 'x'.repeat(43)],
      [scope, id, 'x', 'y', signature],
      [scope, id, name, secret],
    ]) {
      const made = withMembers(address, members);
      const page = await server.fetch(new Request(made, { headers: { accept: 'text/html' } }));
      expect([await statusOf(server, made, 1), page.status]).toEqual([404, 404]);
    }
    expect(loads).toBe(0);
    expect(await statusOf(server, address, 1)).toBe(202);
    expect(loads).toBe(1);
  });

  it('may be rotated: the one before it is taken as well, in processes that read it a second ago', async () => {
    const store = memoryStore();
    const first = await opened(store);
    await rotateCallbackKey(store);
    const second = await opened(store);
    expect(await statusOf(second.server, first.address, 1)).toBe(202);
    // At most once a second, whatever strangers send.
    expect(await statusOf(first.server, second.address, 1)).toBe(404);
    await first.clock.advance(1_000);
    expect(await statusOf(first.server, second.address, 1)).toBe(202);
    await rotateCallbackKey(store);
    const third = await opened(store);
    expect(await statusOf(third.server, first.address, 1)).toBe(404);
    expect(await statusOf(third.server, second.address, 1)).toBe(202);
    // A process that runs forgets it, too, and signs with the new one.
    expect(await statusOf(second.server, first.address, 1)).toBe(202);
    await second.clock.advance(60_000);
    expect(await statusOf(second.server, first.address, 1)).toBe(404);
  });
});

it('without another rate, an address may send 600 values a minute', async () => {
  const { agent, url } = waitingAgent();
  const { server } = serveCallbacks(agent);
  await begin(server);
  const address = await url;
  for (let sent = 0; sent < 600; sent++) expect(await statusOf(server, address, 1)).toBe(202);
  expect(await statusOf(server, address, 1)).toBe(429);
});

it.each([
  [{}, /`callbacks` needs `publicUrl`/],
  [{ publicUrl: 'https://a.example', callbacks: { bytes: 0 } }, /bytes/],
  [{ callbacks: { url: '/a' } }, /`callbacks.url` must be a whole URL/],
  [{ callbacks: { url: 'xhttp://a.example' } }, /`callbacks.url` must be a whole URL/],
  [{ callbacks: { url: 'ftp://a.example' } }, /`callbacks.url` must be a whole URL/],
  [{ publicUrl: 'https://a.example', callbacks: { rate: { limit: 0, perMs: 1 } } }, /`callbacks.rate.limit`/],
])('options that cannot work are refused: %j', (options, message) => {
  const start = () =>
    createAgentServer({
      card: { name: 'Test', description: 'For tests' },
      agent: waitingAgent().agent,
      store: memoryStore(),
      callbacks: true,
      ...options,
    });
  expect(start).toThrow(message);
});

it('a rate needs a store that counts', () => {
  const { take: _, ...store } = memoryStore();
  const callbacks = { rate: { limit: 1, perMs: 1 } };
  const agent = waitingAgent().agent;
  expect(() => serve(agent, { store, callbacks, publicUrl: 'https://a.example' })).toThrow(
    /`callbacks.rate` needs/,
  );
});
