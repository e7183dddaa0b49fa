import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { frequentPolls } from '../../../../test/kit/frequent-polls.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { completed, taskAgent, working } from '../../src/index.ts';
import { outcomeOf } from '../../src/webhooks/attempt.ts';
import { hostShares } from '../../src/webhooks/hosts/failing-webhooks.ts';
import { registered } from './kit/push-config.ts';
import { begin, create, gatedAgent, send, servePushing } from './kit/serve-pushing.ts';
import { heard } from './kit/settings.ts';
import { begin as startedAt, status } from './kit/stored-task.ts';
import { webhook } from './kit/webhook.ts';

const now = Date.UTC(2026, 5, 1);

/** A webhook that fails once in a given way, on a clock that stands still, and what was noted for the next attempt. */
async function failOnce(status: number, headers: Record<string, string>) {
  let time = now;
  const hook = await webhook((_, before) =>
    before === 0 ? (response) => response.writeHead(status, headers).end() : 200,
  );
  const store = memoryStore({ now: () => time });
  const clock = { ...frequentPolls(), now: () => time, random: () => 0.5 };
  const server = servePushing(store, { retry: { baseDelayMs: 1_000, maxDelayMs: 60_000 } }, { clock });
  const task = await send(server, { id: 'w', url: hook.url() });
  const push = await eventually(async () => {
    const found = await store.getPushConfig(scope, task.id, 'w');
    expect(found?.attempts).toBe(1);
    return found;
  });
  const pass = (ms: number) => {
    time += ms;
  };
  return { waitMs: Date.parse(push?.retryAt ?? '') - now, hook, pass };
}

describe('what a webhook asks for with Retry-After [R-PUSH-27]', () => {
  it.each([
    ['in seconds', 429, '7', 7_000],
    ['as a date', 503, new Date(now + 9_000).toUTCString(), 9_000],
    ['in the past', 503, new Date(now - 9_000).toUTCString(), 500],
    ['beyond all bounds', 503, '999999', 60_000],
    ['shorter than the backoff', 503, '0', 500],
    ['nonsense', 503, 'soon', 500],
    ['a negative number', 503, '-5', 500],
  ])('%s is respected within bounds', async (_what, status, header, expected) => {
    const { waitMs, hook, pass } = await failOnce(status, { 'retry-after': header });
    expect(waitMs).toBe(expected);
    pass(expected);
    await hook.until(1);
  });

  it('is left alone until then', async () => {
    const { hook, pass } = await failOnce(429, { 'retry-after': '7' });
    const other = await webhook();
    pass(6_999);
    // Another delivery of this process, started later, is there first.
    await send(servePushing(memoryStore()), { url: other.url() });
    await other.until(1);
    expect(hook.received).toHaveLength(1);
    pass(1);
    await hook.until(1);
  });
});

describe('the wait before another attempt [R-PUSH-26]', () => {
  const retry = { baseDelayMs: 1_000, maxDelayMs: 10_000, maxAttempts: 99, maxRejections: 9, maxAgeMs: 1 };
  const waitMs = (attempts: number, random: number) => {
    const found = { fact: status(), attempts, rejections: 0, now: startedAt, random: () => random };
    const outcome = outcomeOf({ delivered: false, reason: 'answered 500', retry: 'yes' }, found, retry);
    return Date.parse(Object(outcome).retryAt) - startedAt;
  };

  it('is random below a bound that doubles and ends somewhere', () => {
    expect([1, 2, 3, 4, 5, 60].map((n) => waitMs(n, 1))).toEqual([
      1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
    ]);
    expect(waitMs(3, 0.25)).toBe(1_000);
  });
});

describe('a webhook is given up', () => {
  it.each([401, 403])('at once when it answers %i [R-PUSH-27]', async (status) => {
    const hook = await webhook(() => status);
    const server = servePushing(memoryStore());
    await send(server, { url: hook.url() });
    await eventually(async () => {
      expect(await server.push.deadLetters()).toMatchObject([{ reason: `answered ${status}, 1 attempt` }]);
    });
    expect(hook.received).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308, 404, 410])(
    'after a few attempts when it answers %i, and the target of the redirect is not contacted [R-PUSH-27] [R-PUSH-41]',
    async (status) => {
      const target = await webhook();
      const hook = await webhook(() => (response) => {
        response.writeHead(status, { location: target.url() }).end();
      });
      const server = servePushing(memoryStore());
      await send(server, { url: hook.url() });
      await eventually(async () => {
        expect(await server.push.deadLetters()).toMatchObject([{ reason: `answered ${status}, 8 attempts` }]);
      });
      expect([hook.received.length, target.received]).toEqual([8, []]);
    },
  );

  it('only for redirects, 404 and 410 in a row: what answers otherwise in between is tried on [R-PUSH-26]', async () => {
    const answers = [404, 302, 503, 410, 404, 500, 308];
    const hook = await webhook((_, before) => answers[before] ?? 200);
    await send(servePushing(memoryStore(), { retry: { maxRejections: 3 } }), { url: hook.url() });
    await hook.until(heard.length);
    expect(hook.acknowledged).toEqual(heard);
  });

  it('after so many attempts [R-PUSH-26]', async () => {
    const hook = await webhook(() => 500);
    const server = servePushing(memoryStore(), { retry: { maxAttempts: 3 } });
    await send(server, { url: hook.url() });
    await eventually(async () => {
      expect(await server.push.deadLetters()).toMatchObject([{ reason: 'answered 500, 3 attempts' }]);
    });
    expect(hook.received).toHaveLength(3);
  });

  it('when the update is too old, yet never without an attempt [R-PUSH-24]', async () => {
    let time = now;
    const hook = await webhook((_, before) => (before === 0 ? 500 : 200));
    const store = memoryStore({ now: () => time });
    const { agent, letGo } = gatedAgent();
    const server = servePushing(store, { retry: { maxAgeMs: 1_000 } }, { agent, clock: { now: () => time } });
    const task = await begin(server);
    letGo();
    await eventually(async () => expect((await store.load(scope, task.id))?.head.closed).toBe(true));
    time += 1_001;
    const config = { taskId: task.id, id: 'w', url: hook.url() };
    await store.putPushConfig(registered(config));
    const letters = await eventually(async () => {
      const found = await server.push.deadLetters();
      expect(found).toMatchObject([{ reason: 'answered 500, 1 attempt' }]);
      return found;
    });
    await server.push.redeliver(letters[0]!);
    await hook.until(2);
    expect(hook.acknowledged).toEqual(['WORKING', 'COMPLETED']);
  });

  it('without any effect on the other webhooks of the task [R-PUSH-28]', async () => {
    const dead = await webhook(() => 410);
    const hook = await webhook();
    const { agent, letGo } = gatedAgent();
    const server = servePushing(memoryStore(), {}, { agent });
    const task = await begin(server);
    for (const { url } of [dead, hook]) await create(server, { taskId: task.id, url: url() });
    letGo();
    await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
    await eventually(async () => expect(await server.push.deadLetters()).toHaveLength(1));
  });
});

describe('a webhook that refuses an update', () => {
  it.each([400, 405, 409, 413, 422, 499])(
    'with %i is not sent it again, and is sent those that follow [R-PUSH-24] [R-PUSH-27]',
    async (status) => {
      const hook = await webhook((_, before) => (before === 1 ? status : 200));
      const server = servePushing(memoryStore());
      await send(server, { url: hook.url() });
      await hook.until(heard.length - 1);
      expect(hook.acknowledged).toEqual(['WORKING', 'essay:a time', 'COMPLETED']);
      expect([hook.received.length, await server.push.deadLetters()]).toEqual([heard.length, []]);
    },
  );

  /** Reports this often that it works, and completes. */
  const busy = (times: number) =>
    taskAgent(async function* () {
      for (let n = 1; n <= times; n++) yield working(String(n));
      yield completed();
    });

  it('is given up after so many refusals in a row: of one that it takes in between, they begin again [R-PUSH-26]', async () => {
    const answers = [413, 404, 200, 413, 200, 413, 400];
    const hook = await webhook((_, before) => answers[before] ?? 422);
    const server = servePushing(memoryStore(), { retry: { maxRejections: 3 } }, { agent: busy(10) });
    await send(server, { url: hook.url() });
    await eventually(async () => {
      expect(await server.push.deadLetters()).toMatchObject([{ reason: 'answered 422, 1 attempt' }]);
    });
    expect(hook.received).toHaveLength(8);
    // The second update was tried again, after the 404.
    expect(new Set(hook.received.map(({ id }) => id)).size).toBe(7);
  });

  it('is given up with the last update of its task, which it can be sent again', async () => {
    let status = 400;
    const hook = await webhook(() => status);
    const server = servePushing(memoryStore(), {}, { agent: busy(1) });
    await send(server, { url: hook.url() });
    const [letter] = await eventually(async () => {
      const found = await server.push.deadLetters();
      expect(found).toMatchObject([{ reason: 'answered 400, 1 attempt' }]);
      return found;
    });
    expect(hook.received).toHaveLength(2);
    status = 200;
    await server.push.redeliver(letter!);
    await hook.until(1);
    expect(hook.acknowledged).toEqual(['COMPLETED']);
  });
});

describe('what hosts may have of the attempts under way [R-PUSH-28]', () => {
  it('is never all of them, however many ask', () => {
    const shares = hostShares(12);
    const takeAll = (host: string) => {
      let taken = 0;
      while (shares.enter(host)) taken++;
      return taken;
    };
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(takeAll)).toEqual([6, 3, 2, 1, 0, 0]);
    expect(shares.free).toBe(0);
    shares.leave('a', false);
    expect([takeAll('f'), shares.free]).toEqual([1, 0]);
  });

  it('counts failures of a busy host, and forgets it afterwards', () => {
    const shares = hostShares(8);
    for (let n = 0; n < 4; n++) shares.enter('a');
    shares.leave('a', true);
    shares.leave('a', true);
    expect(shares.failures('a')).toBe(2);
    shares.leave('a', false);
    expect(shares.failures('a')).toBe(0);
    shares.leave('a', true);
    expect([shares.failures('a'), shares.free]).toEqual([0, 8]);
  });

  it('is one at least', () => {
    const shares = hostShares(1);
    expect([shares.enter('a'), shares.enter('a'), shares.free]).toEqual([true, false, 0]);
  });
});
