import { createHmac } from 'node:crypto';
import { type TestClock, testClock } from '@batonjs/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { type ServeOptions, serve } from '../../../../test/kit/serve.ts';
import { signTick, tick, withWaitUntil } from '../../src/front/due.ts';
import { type AgentServer, completed, inputRequired, reply, taskAgent } from '../../src/index.ts';
import { heardStore } from './heard-store.ts';

/** Runs that others call over HTTP, and those that follow a reply. */

const secret = 'a secret of a deployment';
const [second, minute] = [1_000, 60_000];
let clock: TestClock;
let made: ReturnType<typeof heardStore>;
const logged: unknown[] = [];

beforeEach(() => {
  clock = testClock(new Date('2030-01-01T12:00:00Z'));
  made = heardStore(clock);
  logged.length = 0;
});

/** Works in steps of so many milliseconds. */
const due = (lengths: readonly number[] = [100], options: ServeOptions = {}) =>
  serve(
    taskAgent(async function* ({ step }) {
      for (const [n, ms] of lengths.entries()) await step(`s${n}`, () => clock.sleep(ms));
      yield completed();
    }),
    {
      store: made.store,
      clock,
      run: 'due',
      restart: { maxAttempts: 1 },
      logger: (...line) => logged.push(line),
      ...options,
    },
  );

const send = async (server: Parameters<typeof rpc>[0]): Promise<string> =>
  (await rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } })).task
    .id;

const stateOf = async (server: Parameters<typeof rpc>[0], id: string) =>
  (await rpc(server, 'GetTask', { id })).status.state.replace('TASK_STATE_', '');

const call = (headers: Record<string, string> = {}, method = 'POST') =>
  new Request('https://agent.example/tick', { method, headers });

/** The end of something for which time passes. A signature takes real time, too. */
async function passing<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  promise.finally(() => (isOver = true)).catch(() => {});
  while (!isOver) await clock.advance(20);
  return promise;
}

/** Calls a tick. */
async function called(handler: ReturnType<typeof tick>, request: Request) {
  const response = await passing(handler(request));
  return [response.status, response.status === 200 ? await response.json() : await response.text()];
}

const signed = async (more: Record<string, string> = {}) => ({
  ...(await signTick(secret, clock.now())),
  ...more,
});

describe('a tick', () => {
  it('works on what is due for a signed call, once, and tells when it should come again', async () => {
    const server = due();
    const [one, other] = [tick(server, { secret, forMs: minute }), tick(due(), { secret, forMs: minute })];
    const id = await send(server);
    const headers = await signed();
    expect(await called(one, call(headers))).toEqual([200, { turns: 1 }]);
    expect(await stateOf(server, id)).toBe('COMPLETED');
    // Also by another process, where it could do something.
    await send(server);
    for (const handler of [one, other]) expect(await called(handler, call(headers))).toEqual([409, '']);
    // The one after it makes good what was missed.
    expect(await called(other, call(await signed()))).toEqual([200, { turns: 1 }]);
  });

  it('is refused a second time at the very end of its five minutes, too', async () => {
    const server = due();
    const handler = tick(server, { secret, forMs: minute });
    const headers = await signTick(secret, clock.now() - 4 * minute);
    await send(server);
    expect(await called(handler, call(headers))).toEqual([200, { turns: 1 }]);
    await send(server);
    await clock.advance(Number(headers['webhook-timestamp']) * second + 5 * minute - clock.now());
    const { measure } = made.store;
    made.store.measure = async (queue) => {
      await clock.advance(second);
      return measure!(queue);
    };
    expect(await called(handler, call(headers))).toEqual([409, '']);
  });

  it('costs one read if nothing is due, and none before it is known who calls', async () => {
    const handler = tick(due(), { secret, forMs: minute });
    expect(await called(handler, call())).toEqual([401, '']);
    expect(made.heard.called).toEqual([]);
    expect(await called(handler, call(await signed()))).toEqual([200, { turns: 0 }]);
    expect(made.heard.called).toEqual(['measure']);
  });

  it('harms nothing when several come at once, and one of them a second time', async () => {
    const server = due();
    const handlers = [server, due(), due()].map((each) => tick(each, { secret, forMs: minute }));
    for (let n = 0; n < 20; n++) await send(server);
    // All have looked before one of them begins.
    const { measure } = made.store;
    const all = Promise.withResolvers<void>();
    let looked = 0;
    made.store.measure = async (queue) => {
      const measured = await measure!(queue);
      if (++looked === 3) all.resolve();
      await all.promise;
      return measured;
    };
    const [headers, others] = [await signed(), await signed()];
    const calls = [headers, headers, others].map((each, n) => handlers[n]!(call(each)));
    await all.promise;
    const answers = await passing(Promise.all(calls));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409]);
    const runs = await Promise.all(answers.filter(({ ok }) => ok).map((answer) => answer.json()));
    expect(runs.reduce((sum, { turns }) => sum + turns, 0)).toBe(20);
    expect((await rpc(server, 'ListTasks', { status: 'TASK_STATE_COMPLETED' })).totalSize).toBe(20);
  });

  it('costs one read while another works on all that is due', async () => {
    const began = Promise.withResolvers<void>();
    const agent = taskAgent(async function* ({ step }) {
      await step('long', () => {
        began.resolve();
        return clock.sleep(10 * second);
      });
      yield completed();
    });
    const server = serve(agent, { store: made.store, clock, run: 'due', restart: 'rerun' });
    await send(server);
    const first = tick(server, { secret, forMs: minute })(call(await signed()));
    await began.promise;
    const before = made.heard.called.length;
    const other = await tick(due(), { secret, forMs: minute })(call(await signed()));
    expect(await other.json()).toEqual({ turns: 0, nextAt: expect.any(Number) });
    expect(made.heard.called.slice(before)).toEqual(['measure']);
    expect(await (await passing(first)).json()).toEqual({ turns: 1 });
  });

  it.each<[string, number, () => Promise<Record<string, string>> | Record<string, string>, string?]>([
    ['is signed as by a program for Standard Webhooks', 200, () => standard(clock.now())],
    [
      'is signed twice, while a secret changes',
      200,
      async () => {
        const headers = await signed();
        return { ...headers, 'webhook-signature': `v1,old ${headers['webhook-signature']}` };
      },
    ],
    ['was signed up to five minutes ago', 200, () => signTick(secret, clock.now() - 5 * minute)],
    ['was signed longer ago', 401, () => signTick(secret, clock.now() - 5 * minute - second)],
    ['will be signed up to five minutes from now', 200, () => signTick(secret, clock.now() + 5 * minute)],
    ['will be signed later', 401, () => signTick(secret, clock.now() + 5 * minute + second)],
    ['is signed with another secret', 401, () => signTick(`${secret}.`, clock.now())],
    ['has another id than was signed', 401, () => signed({ 'webhook-id': 'other' })],
    [
      'has another time than was signed',
      401,
      () => signed({ 'webhook-timestamp': `${clock.now() / 1_000 + 1}` }),
    ],
    ['has no time', 401, () => standard(Number.NaN)],
    ['has an id that no record could keep', 401, () => standard(clock.now(), 'x'.repeat(65))],
    ['has an id with a character that no header names', 401, () => standard(clock.now(), 'a b')],
    ['has no id', 401, () => standard(clock.now(), '')],
    [
      'has signatures without end',
      401,
      async () => {
        const headers = await signed();
        return { ...headers, 'webhook-signature': `${'v1,x '.repeat(200)}${headers['webhook-signature']}` };
      },
    ],
    [
      'has as many characters of signatures as it may',
      200,
      async () => {
        const headers = await signed();
        const last = ` ${headers['webhook-signature']}`;
        return { ...headers, 'webhook-signature': last.padStart(500, 'v1,x') };
      },
    ],
    ['is signed, and no POST', 405, () => signed(), 'GET'],
    ['has the token', 200, () => ({ authorization: `Bearer ${secret}` })],
    ['has the token, as Vercel sends it', 200, () => ({ authorization: `Bearer ${secret}` }), 'GET'],
    [
      'has the token, and may do something else',
      405,
      () => ({ authorization: `Bearer ${secret}` }),
      'DELETE',
    ],
    ['has another token', 401, () => ({ authorization: `Bearer ${secret}.` })],
    ['has the token in another way', 401, () => ({ authorization: secret })],
  ])('that %s is %i', async (_, status, headers, method) => {
    const handler = tick(due(), { secret, bearer: true, forMs: minute });
    expect((await handler(call(await headers(), method))).status).toBe(status);
  });

  it('takes no token unless it is told to', async () => {
    const handler = tick(due(), { secret, forMs: minute });
    expect((await handler(call({ authorization: `Bearer ${secret}` }))).status).toBe(401);
  });

  it('forgets ids that no signature brings again', async () => {
    const server = due();
    const handler = tick(server, { secret, forMs: minute });
    for (let n = 0; n < 3; n++) {
      await send(server);
      await called(handler, call(await signed()));
      await clock.advance(n === 0 ? 0 : 5 * minute);
    }
    const [record] = await made.store.listRecords({ prefix: 'due-runs/agent', limit: 2 });
    expect(record?.value).toMatchObject({
      at: expect.any(Number),
      ticks: [[expect.any(String), expect.any(Number)]],
    });
  });

  it.each([
    ['alarms at the times that it names', 3],
    ['a cron of each minute', 60],
  ])('comes for three tasks that wait in an hour, with %s, %i times', async (_, calls) => {
    const agent = taskAgent(async function* ({ text, woken, wakeAt }) {
      if (woken) return yield completed();
      await wakeAt(new Date(clock.now() + Number(text) * minute));
      yield inputRequired('Well?');
    });
    const server = serve(agent, { store: made.store, clock, run: 'due', restart: 'rerun' });
    const configuration = { returnImmediately: true };
    for (const after of ['14.5', '29.5', '44.5'])
      await rpc(server, 'SendMessage', { message: say(after), configuration });
    const handler = tick(server, { secret, forMs: minute });
    const run = async () => (await called(handler, call(await signed())))[1] as { nextAt?: number };
    let { nextAt } = await run();
    const until = clock.now() + 60 * minute;
    let came = 0;
    for (; calls === 60 || (nextAt && nextAt < until); came++) {
      await clock.advance(calls === 60 ? minute : Math.max(0, nextAt! - clock.now()));
      if (clock.now() > until) break;
      ({ nextAt } = await run());
    }
    expect(came).toBeLessThanOrEqual(calls);
    expect((await rpc(server, 'ListTasks', { status: 'TASK_STATE_COMPLETED' })).totalSize).toBe(3);
  });

  it('says that the store failed, in the log without the secret', async () => {
    const server = due();
    await send(server);
    made.store.measure = () => Promise.reject(new Error('gone'));
    const handler = tick(server, { secret, bearer: true, forMs: minute });
    expect(await called(handler, call({ authorization: `Bearer ${secret}` }))).toEqual([503, '']);
    expect(logged).toMatchObject([['error', 'A run failed', { err: { message: 'gone' } }]]);
    expect(JSON.stringify(logged)).not.toContain(secret);
  });

  it('ends early when its server closes in the middle of it, and leaves the task to the next', async () => {
    let closing: Promise<void> | undefined;
    const server: AgentServer = serve(
      taskAgent(async function* ({ step }) {
        await step('one', async () => {
          closing ??= server.close();
        });
        await step('two', () => {});
        yield completed();
      }),
      { store: made.store, clock, run: 'due', restart: 'rerun' },
    );
    const id = await send(server);
    const handler = tick(server, { secret, forMs: minute });
    expect(await called(handler, call(await signed()))).toEqual([
      200,
      { turns: 1, nextAt: expect.any(Number) },
    ]);
    await closing;
    expect(await stateOf(due(), id)).toBe('WORKING');
    await called(tick(due(), { secret, forMs: minute }), call(await signed()));
    expect(await stateOf(due(), id)).toBe('COMPLETED');
  });

  it('is refused where it cannot work', () => {
    expect(() =>
      tick(
        serve(() => reply('hi')),
        { secret, forMs: 1 },
      ),
    ).toThrow("needs a server with `run: 'due'`");
    expect(() => tick({ fetch }, { secret, forMs: 1 })).toThrow("needs a server with `run: 'due'`");
    for (const bad of [undefined, '', 'of 15 character'])
      expect(() => tick(due(), { secret: bad, forMs: 1 })).toThrow('`tick.secret` must have 16 characters');
    expect(() => tick(due(), { secret, forMs: 0 })).toThrow('`tick.forMs or maxMs` must be more than 0');
  });
});

/** Headers as another program makes them. */
function standard(ms: number, id = 'msg_1'): Record<string, string> {
  const seconds = `${ms / 1_000}`;
  const signature = createHmac('sha256', secret).update(`${id}.${seconds}.`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}

describe('after the reply', () => {
  /** What a host keeps the process for. */
  const host = () => {
    const works: Promise<unknown>[] = [];
    return { works, waitUntil: (work: Promise<unknown>) => works.push(work) };
  };

  it('a message that was answered at once goes on', async () => {
    const { works, waitUntil } = host();
    const server = due([100, 100]);
    const id = await send({ fetch: withWaitUntil(server, { waitUntil, maxMs: minute }) });
    expect(await stateOf(server, id)).toBe('SUBMITTED');
    await clock.advance(10 * second);
    await Promise.all(works);
    expect(await stateOf(server, id)).toBe('COMPLETED');
    expect(works).toHaveLength(1);
  });

  it('a task is handed on when the time of the host is over, which counts from the request', async () => {
    const { works, waitUntil } = host();
    const server = due(Array(20).fill(100), { timeouts: { blockingMs: 600 } });
    const handler = { fetch: withWaitUntil(server, { waitUntil, maxMs: second }) };
    const began = clock.now();
    // The blocking send takes 600 ms of them.
    const { id } = (await passing(rpc(handler, 'SendMessage', { message: say('go') }))).task;
    expect(clock.now()).toBeLessThan(began + second);
    await passing(Promise.all(works));
    expect(clock.now()).toBeLessThanOrEqual(began + second);
    expect(await stateOf(server, id)).toBe('WORKING');
    await passing(server.runDue({ forMs: minute }));
    expect(await stateOf(server, id)).toBe('COMPLETED');
  });

  it.each([
    [600, 'WORKING'],
    [0, 'FAILED'],
  ])('a step that the end cuts off %i ms after the request leaves the task %s', async (lateMs, state) => {
    const { works, waitUntil } = host();
    const server = due([2 * second]);
    const { fetch } = server;
    server.fetch = async (request) => {
      const response = await fetch(request);
      await clock.sleep(lateMs);
      return response;
    };
    const id = await passing(send({ fetch: withWaitUntil(server, { waitUntil, maxMs: second }) }));
    await passing(Promise.all(works));
    // Half of a whole run is what counts as an attempt.
    expect(await stateOf({ fetch }, id)).toBe(state);
  });

  it('nothing follows a call that was refused, one that only looks, or one that took all the time', async () => {
    const { works, waitUntil } = host();
    const server = due([], { authenticate: () => undefined });
    const refusing = { fetch: withWaitUntil(server, { waitUntil, maxMs: minute }) };
    await expect(send(refusing)).rejects.toThrow();
    await refusing.fetch(new Request('http://localhost/', { method: 'POST', body: '{}' }));
    expect(made.heard.called).toEqual([]);
    const open = due([]);
    await rpc({ fetch: withWaitUntil(open, { waitUntil, maxMs: minute }) }, 'ListTasks', {});
    const { fetch } = open;
    open.fetch = (request) => clock.advance(minute).then(() => fetch(request));
    await send({ fetch: withWaitUntil(open, { waitUntil, maxMs: minute }) });
    expect(works).toEqual([]);
  });

  it('a store that fails is reported, and rejects nothing', async () => {
    const { works, waitUntil } = host();
    const server = due();
    made.store.measure = () => Promise.reject(new Error('gone'));
    await send({ fetch: withWaitUntil(server, { waitUntil, maxMs: minute }) });
    await Promise.all(works);
    expect(logged).toMatchObject([['error', 'A run failed', { err: { message: 'gone' } }]]);
  });

  it('is refused where it cannot work', () => {
    const { waitUntil } = host();
    expect(() =>
      withWaitUntil(
        serve(() => reply('hi')),
        { waitUntil, maxMs: 1 },
      ),
    ).toThrow("`run: 'due'`");
    expect(() => withWaitUntil(due(), { waitUntil, maxMs: Number.NaN })).toThrow('must be more than 0');
  });
});
