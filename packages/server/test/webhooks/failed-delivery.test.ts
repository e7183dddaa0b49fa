import type { PushConfig } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { deliver } from '../../src/webhooks/deliver.ts';
import { hostOf } from '../../src/webhooks/hosts/failing-webhooks.ts';
import type { PushOptions } from '../../src/webhooks/webhooks.ts';
import { push } from './kit/push-config.ts';
import { begin, claimed, delivering, keep, received, status } from './kit/stored-task.ts';
import { type Reaction, webhook } from './kit/webhook.ts';

const open = new AbortController().signal;
const asked: Reaction = (response) => void response.writeHead(503, { 'retry-after': '7' }).end();

interface Failure {
  readonly options?: PushOptions;
  readonly random?: number;
  /** What the store keeps of the webhook, and what the claim says of it besides. */
  readonly kept?: Partial<PushConfig>;
  readonly attempts?: number;
  readonly closing?: AbortSignal;
  /** How old the update is, in milliseconds. */
  readonly age?: number;
  readonly telemetry?: object;
}

/** Delivers one update to a webhook that reacts so. */
async function fail(react: (before: number) => Reaction, failure: Failure = {}) {
  const { options, random, kept, attempts = 0, closing = open, age = 0, telemetry } = failure;
  const hook = await webhook((_, before) => react(before));
  const bench = delivering(options, random === undefined ? {} : { random });
  const { store, log, failing, pass } = bench;
  await keep(store, [received, status(), status()], [push(hook.url(), 'w', { cursor: 0, ...kept })]);
  pass(age);
  const delivery = await claimed(store);
  const failed = { ...delivery, push: { ...delivery.push, attempts } };
  const dependencies = { ...bench.dependencies, telemetry: telemetry as never };
  const progress = await deliver(failed, dependencies, failing, closing);
  const now = await store.getPushConfig('s', 't', 'w');
  const waitMs = now?.retryAt === undefined ? undefined : Date.parse(now.retryAt) - begin - age;
  const hurried = failing.takeEarly(hostOf(push(hook.url()))).map(({ id }) => id);
  return { progress, log, hurried, waitMs, kept: now, received: hook.received, url: hook.url() };
}

describe('a delivery that fails [R-PUSH-26] [R-PUSH-27]', () => {
  it('is planned again, counted and logged', async () => {
    // The second update fails: what failed before does not count for it.
    const second = await fail((before) => (before === 0 ? 200 : 500), { random: 0.1234, attempts: 7 });
    expect(second).toMatchObject({
      progress: { works: false, tookOne: true, againMs: 123 },
      kept: { cursor: 2, attempts: 1 },
      hurried: ['w'],
      waitMs: 123,
    });
    const details = { taskId: 't', configId: 'w', version: 3, attempts: 1, reason: 'answered 500' };
    expect(second.log).toEqual([
      ['info', 'A delivery failed and is tried again', { ...details, afterMs: 123 }],
    ]);
    const first = await fail(() => 500, { attempts: 2 });
    expect(first).toMatchObject({
      progress: { works: false, tookOne: false, againMs: 2_000 },
      kept: { cursor: 0, attempts: 3 },
    });
  });

  it('waits for as long as the webhook asks, at most the longest wait, and is not hurried before', async () => {
    expect(await fail(() => asked)).toMatchObject({ waitMs: 7_000, hurried: [] });
    expect(await fail(() => asked, { options: { retry: { maxDelayMs: 5_000 } } })).toMatchObject({
      waitMs: 5_000,
    });
    expect(await fail(() => asked, { attempts: 5 })).toMatchObject({ waitMs: 16_000 });
  });

  it('because the webhook refuses the update is over, and the next one follows [R-PUSH-24]', async () => {
    const refused = await fail((before) => (before === 0 ? 413 : 200), { attempts: 3 });
    expect(refused).toMatchObject({
      progress: { works: true, tookOne: true },
      kept: { cursor: 3, attempts: 0 },
      hurried: [],
    });
    const details = { taskId: 't', configId: 'w', version: 2, attempts: 4, reason: 'answered 413' };
    expect(refused.log).toEqual([['warn', 'A webhook refused an update, which is skipped', details]]);
    const all = await fail(() => 413, { options: { retry: { maxAttempts: 1, maxAgeMs: 1 } }, age: 2 });
    expect(all).toMatchObject({
      progress: { works: true, tookOne: false },
      kept: { cursor: 3, attempts: 0 },
      hurried: [],
    });
  });

  it('of a version that this process has no format for is tried again', async () => {
    const { log, kept, received } = await fail(() => 200, { kept: { protocolVersion: '9' } });
    expect(log).toMatchObject([['info', expect.anything(), { reason: 'no format for version 9' }]]);
    expect([kept?.attempts, received]).toEqual([1, []]);
  });

  it('because the server closes is handed back at once, and counts as no failure', async () => {
    const closing = AbortSignal.abort();
    const options = { retry: { maxAttempts: 1 } };
    const handed = await fail(() => 500, { closing, options, attempts: 4 });
    expect(handed).toMatchObject({
      progress: { works: false, tookOne: false, againMs: 0 },
      kept: { attempts: 4 },
      waitMs: 0,
      hurried: [],
    });
    expect([handed.log, handed.kept?.dead]).toEqual([[], undefined]);
  });
});

describe('a webhook is given up [R-PUSH-26]', () => {
  const givenUp = (reason: string) => ({
    progress: { works: false, tookOne: false, againMs: undefined },
    kept: { dead: reason },
    hurried: [],
  });

  it('by an answer that is final', async () => {
    const found = await fail(() => 401);
    expect(found).toMatchObject(givenUp('answered 401, 1 attempt'));
    const details = { taskId: 't', configId: 'w', version: 2, attempts: 1, reason: 'answered 401' };
    expect(found.log).toEqual([['warn', 'A webhook was given up', details]]);
  });

  it('after so many attempts, and not before', async () => {
    const options = { retry: { maxAttempts: 3 } };
    expect(await fail(() => 500, { options, attempts: 1 })).toMatchObject({ kept: { attempts: 2 } });
    expect(await fail(() => 500, { options, attempts: 2 })).toMatchObject(
      givenUp('answered 500, 3 attempts'),
    );
  });

  it('after so many rejections in a row, and not before', async () => {
    const retry = (maxRejections: number) => ({ options: { retry: { maxRejections } } });
    expect(await fail(() => 404, retry(2))).toMatchObject({ kept: { attempts: 1 } });
    expect(await fail(() => 404, retry(1))).toMatchObject(givenUp('answered 404, 1 attempt'));
    expect(await fail(() => 500, retry(1))).toMatchObject({ kept: { attempts: 1 } });
  });

  it('when the update is older than the longest time, to the millisecond [R-PUSH-24]', async () => {
    const options = { retry: { maxAgeMs: 1_000 } };
    expect(await fail(() => 500, { options, age: 1_000 })).toMatchObject({ kept: { attempts: 1 } });
    expect(await fail(() => 500, { options, age: 1_001 })).toMatchObject(givenUp('answered 500, 1 attempt'));
  });
});

describe('telemetry', () => {
  /** Notes what it is told. */
  function telling() {
    const told: unknown[] = [];
    let depth = 0;
    const run = <T>(fn: () => T): T => {
      told.push('run');
      depth++;
      const result = fn();
      depth--;
      return result;
    };
    const telemetry = {
      delivery(start: object) {
        told.push(start);
        return {
          headers: { traceparent: 'mine' },
          run,
          end: (end: object) => told.push(['end', end]),
        };
      },
      gaveUp: () => told.push(['gave up', depth]),
    };
    return { told, telemetry };
  }

  it('is told of every attempt, its end, and that a webhook was given up', async () => {
    const { told, telemetry } = telling();
    const { received, url } = await fail((before) => (before === 0 ? 200 : 401), {
      telemetry,
      attempts: 4,
      age: 30,
    });
    const start = {
      taskId: 't',
      configId: 'w',
      attempt: 5,
      url,
      lagMs: 30,
      traceparent: '00-1-2-01',
    };
    expect(told).toEqual([
      ...[start, 'run', ['end', { outcome: 'delivered', status: 200 }]],
      // What failed before does not count for the second update.
      ...[
        { ...start, attempt: 1 },
        'run',
        ['end', { outcome: 'failed', status: 401, reason: 'answered 401' }],
      ],
      // In the context of the attempt that failed.
      ...['run', ['gave up', 1]],
    ]);
    expect(received.map(({ headers }) => headers.traceparent)).toEqual(['mine', 'mine']);
  });

  it('is told that an attempt was handed back because the server closes: it is no failure', async () => {
    const { told, telemetry } = telling();
    const closing = new AbortController();
    await fail(() => () => closing.abort(), { telemetry, closing: closing.signal });
    const reason = 'no answer within 10000 ms';
    expect(told.at(-1)).toEqual(['end', { outcome: 'handed_back', status: undefined, reason }]);
  });
});
