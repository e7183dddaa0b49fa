import type { Fact } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import type { PushConfig } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { type AttemptResult, type FailedAttempt, outcomeOf } from '../../../src/webhooks/attempt.ts';
import { deliveryId } from '../../../src/webhooks/deliver.ts';
import { FailingWebhooks, hostOf, hostShares } from '../../../src/webhooks/hosts/failing-webhooks.ts';
import { isWanted } from '../../../src/webhooks/webhooks.ts';
import { push } from '../kit/push-config.ts';

const at = '2026-01-01T00:00:00.000Z';
const status = (state: string): Fact => ({
  format: 1,
  at,
  type: 'status-changed',
  status: { state: `TASK_STATE_${state}` as TaskState, timestamp: at },
});
const chunk = (append: boolean, lastChunk: boolean): Fact => ({
  format: 1,
  at,
  type: 'artifact-updated',
  artifact: { artifactId: 'a', parts: [{ text: 'x' }] },
  append,
  lastChunk,
});
describe('an update is delivered', () => {
  it.each<[string, Fact, readonly boolean[]]>([
    ['at work', status('WORKING'), [true, true, false]],
    ['that asks', status('INPUT_REQUIRED'), [true, true, true]],
    ['that waits for an authorization', status('AUTH_REQUIRED'), [true, true, true]],
    ['that ended', status('COMPLETED'), [true, true, true]],
    ['with a new artifact', chunk(false, false), [true, true, false]],
    ['with a whole artifact', chunk(false, true), [true, true, false]],
    ['with a chunk', chunk(true, false), [true, false, false]],
    ['with the last chunk', chunk(true, true), [true, true, false]],
    ['that was woken', { format: 1, at, type: 'woken' }, [false, false, false]],
  ])('of a task %s: to `all`, `default` and `significant` %3$j', (_, fact, wanted) => {
    expect((['all', 'default', 'significant'] as const).map((one) => isWanted(fact, one))).toEqual(wanted);
  });
});

it('the id of a delivery is one of the log, the task, the webhook and the position, and fits a header', () => {
  const first = { commitId: 'c' } as never;
  const ids = [
    deliveryId({ taskId: 't', id: 'w' }, first, 1),
    deliveryId({ taskId: 't', id: 'w' }, first, 2),
    deliveryId({ taskId: 't', id: 'v' }, first, 1),
    deliveryId({ taskId: 'u', id: 'w' }, first, 1),
    deliveryId({ taskId: 't', id: 'w' }, { commitId: 'd' } as never, 1),
  ];
  expect(new Set(ids).size).toBe(5);
  for (const id of ids) expect(id).toMatch(/^[\w-]{32}$/);
  expect(deliveryId({ taskId: 't', id: 'w' }, first, 1)).toBe(ids[0]);
});

describe('hosts share the deliveries that may run at once', () => {
  it('one host holds half of them, two hold two thirds', () => {
    const shares = hostShares(6);
    expect([1, 2, 3, 4].map(() => shares.enter('a'))).toEqual([true, true, true, false]);
    expect(shares.free).toBe(3);
    expect([1, 2, 3].map(() => shares.enter('b'))).toEqual([true, true, false]);
    expect(shares.free).toBe(1);
    expect(shares.enter('c')).toBe(true);
  });

  it('every host gets one while any is free, and none when none is', () => {
    const shares = hostShares(2);
    expect(['a', 'b', 'c'].map((host) => shares.enter(host))).toEqual([true, true, false]);
    shares.leave('a', false);
    expect([shares.free, shares.enter('c')]).toEqual([1, true]);
  });

  it('failures in a row count while deliveries to the host are under way', () => {
    const shares = hostShares(10);
    for (let n = 0; n < 3; n++) shares.enter('a');
    expect(shares.failures('a')).toBe(0);
    shares.leave('a', true);
    expect(shares.failures('a')).toBe(1);
    shares.enter('a');
    shares.leave('a', true);
    expect(shares.failures('a')).toBe(2);
    shares.leave('a', false);
    expect(shares.failures('a')).toBe(0);
    shares.leave('a', true);
    expect([shares.failures('a'), shares.free]).toEqual([0, 10]);
    shares.leave('a', true);
    expect([shares.failures('nobody'), shares.free]).toEqual([0, 10]);
  });
});

describe('webhooks that fail', () => {
  const hook = push('http://a.example:81/x?secret');
  const other = push('http://b.example/');
  const failure = { isRejection: false, mayBeEarly: true };
  const rejection = { isRejection: true, mayBeEarly: true };
  const named = ({ scope, taskId, id }: PushConfig) => ({ scope, taskId, id });

  it('count the rejections in a row', () => {
    const failing = new FailingWebhooks();
    expect([rejection, rejection, failure, rejection].map((how) => failing.failed(hook, how))).toEqual([
      1, 2, 0, 1,
    ]);
    expect(failing.failed(push('http://a.example:81/', 'v'), rejection)).toBe(1);
    failing.over(hook);
    expect(failing.failed(hook, rejection)).toBe(1);
  });

  it('are tried at once when their host answers again, each once for a failure', () => {
    const failing = new FailingWebhooks();
    failing.failed(hook, failure);
    failing.failed(other, failure);
    failing.failed(push('http://a.example:81/', 'late'), { isRejection: false, mayBeEarly: false });
    expect(failing.takeEarly('a.example:81')).toEqual([named(hook)]);
    expect(failing.takeEarly('a.example:81')).toEqual([]);
    expect(failing.takeEarly('a.example')).toEqual([]);
    failing.failed(hook, failure);
    expect(failing.takeEarly('a.example:81')).toEqual([named(hook)]);
    failing.over(other);
    expect(failing.takeEarly('b.example')).toEqual([]);
  });

  it('stay when another one of their host works', () => {
    const failing = new FailingWebhooks();
    failing.over(push('http://unknown.example/'));
    for (const id of ['v', 'w']) failing.failed(push('http://b.example/', id), failure);
    failing.over(push('http://b.example/', 'v'));
    expect(failing.takeEarly('b.example')).toMatchObject([{ id: 'w' }]);
  });

  it('that keep failing on a host that works are tried at once three times, and again when the host was the reason', () => {
    const failing = new FailingWebhooks();
    const hurried = () => {
      failing.failed(hook, failure);
      return failing.takeEarly('a.example:81').length;
    };
    expect([1, 2, 3, 4, 5].map(hurried)).toEqual([1, 1, 1, 0, 0]);
    failing.postponed(hook);
    expect(failing.takeEarly('a.example:81')).toHaveLength(1);
    expect(hurried()).toBe(0);
    failing.over(hook);
    failing.postponed(hook);
    expect(failing.takeEarly('a.example:81')).toHaveLength(1);
    expect([1, 2, 3].map(hurried)).toEqual([1, 1, 0]);
  });

  it('are forgotten, the oldest first, beyond ten thousand', () => {
    const failing = new FailingWebhooks();
    failing.failed(other, failure);
    failing.over(other);
    for (let n = 0; n < 10_000; n++)
      failing.failed(push(`http://${n < 2 ? `h${n}` : 'x'}/`, `w${n}`), failure);
    // One that is known is no new one.
    failing.failed(push('http://h0/', 'w0'), failure);
    expect(failing.takeEarly('h0')).toHaveLength(1);
    failing.failed(push('http://y/', 'a'), failure);
    failing.failed(push('http://h0/', 'w0'), failure);
    expect([failing.takeEarly('h1'), failing.takeEarly('h0')]).toMatchObject([[], [{ id: 'w0' }]]);
    expect(failing.takeEarly('x')).toHaveLength(9_998);
    expect(failing.takeEarly('y')).toHaveLength(1);
  });

  it('are forgotten one by one, and only while there are too many', () => {
    const failing = new FailingWebhooks();
    const add = (n: number) => failing.failed(push('http://x/', `w${n}`), failure);
    for (let n = 0; n <= 10_000; n++) add(n);
    expect(failing.takeEarly('x')).toHaveLength(10_000);
    for (const n of [1, 2, 3]) failing.over(push('http://x/', `w${n}`));
    for (const n of [1, 2, 3]) add(n);
    for (let n = 4; n <= 10_000; n++) add(n);
    expect(failing.takeEarly('x')).toHaveLength(10_000);
  });

  it('are of the host and port that their address names', () => {
    expect([hook, other, push('no address')].map(hostOf)).toEqual(['a.example:81', 'b.example', '']);
  });
});

describe('a webhook that did not take an update', () => {
  const now = Date.parse(at) + 1_000;
  const retry = {
    ...{ maxAttempts: 5, maxRejections: 3, maxAgeMs: 60_000, baseDelayMs: 100, maxDelayMs: 4_000 },
  };
  const once: FailedAttempt = { fact: status('WORKING'), attempts: 1, rejections: 0, now, random: () => 0.5 };
  const result = (more: object): AttemptResult & { delivered: false } => ({
    ...{ delivered: false, reason: 'HTTP 500', retry: 'yes', ...more },
  });
  const again = (ms: number, attempts = 1) => ({ retryAt: new Date(now + ms).toISOString(), attempts });

  it.each<[string, object, Partial<FailedAttempt>, object | undefined]>([
    ['is tried again after a part of the pause', {}, {}, again(50)],
    ['waits longer each time', {}, { attempts: 3 }, again(200, 3)],
    ['waits as long as it asks', { afterMs: 3_000 }, {}, again(3_000)],
    ['waits no longer than the longest pause', { afterMs: 9_000 }, {}, again(4_000)],
    ['is given up after its attempts', {}, { attempts: 5 }, { dead: 'HTTP 500, 5 attempts' }],
    ['is given up at once for a final answer', { retry: 'no' }, {}, { dead: 'HTTP 500, 1 attempt' }],
    ['is tried again at the age that is allowed', {}, { now: Date.parse(at) + 60_000 }, undefined],
    ['is given up beyond that age', {}, { now: Date.parse(at) + 60_001 }, { dead: 'HTTP 500, 1 attempt' }],
    ['is tried again after a few rejections', { retry: 'few' }, { rejections: 2 }, again(50)],
    ['is given up after more', { retry: 'few' }, { rejections: 3 }, { dead: 'HTTP 500, 1 attempt' }],
    [
      'is given up where it skips too many',
      { retry: 'skip' },
      { rejections: 3 },
      { dead: 'HTTP 500, 1 attempt' },
    ],
    [
      'is given up where it skips the last',
      { retry: 'skip' },
      { fact: status('FAILED') },
      { dead: 'HTTP 500, 1 attempt' },
    ],
  ])('%s', (_, answer, circumstances, outcome) => {
    const found = outcomeOf(result(answer), { ...once, ...circumstances }, retry);
    if (outcome) expect(found).toEqual(outcome);
    else expect(found).toHaveProperty('retryAt');
  });

  it('goes on with the next one if it only refuses this one', () => {
    expect(outcomeOf(result({ retry: 'skip' }), { ...once, rejections: 2 }, retry)).toBeUndefined();
  });
});
