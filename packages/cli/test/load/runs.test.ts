import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import type { Kind, Operation } from '../../src/load/operations.ts';
import { type LoadOptions, orderOf, runLoad } from '../../src/load/run-load.ts';

/** A run on a clock that only sleeps and calls move, with what was slept. */
async function run(calls: Partial<Record<Kind, Operation>>, options: Partial<LoadOptions> = {}) {
  let now = 1_000;
  const sleeps: number[] = [];
  const pass = (ms: number) => {
    now += ms;
  };
  const clock = {
    now: () => now,
    async sleep(ms: number) {
      sleeps.push(ms);
      now += ms;
    },
  };
  const none: Operation = async () => pass(10);
  const operations = { send: none, stream: none, async: none, get: none, list: none, ...calls };
  const given = { operations, mix: { send: 1 }, callers: 1, rate: undefined, durationMs: 100 };
  const signal = new AbortController().signal;
  const load = await runLoad({ ...given, signal, clock, ...options });
  return { ...load, sleeps, pass };
}

const taking =
  (ms: number): Operation =>
  async () => {
    await Promise.resolve(ms);
  };

describe('a run without a rate', () => {
  it('calls again at once until its time is over, without a pause', async () => {
    const { kinds, ms, sleeps } = await run({});
    expect(kinds.get('send')).toEqual({ latencies: Array(10).fill(10), firsts: [], errors: new Map() });
    expect([ms, sleeps]).toEqual([100, []]);
  });

  it('waits for 50 ms after an error, which it counts by its reason, and shows no text of it', async () => {
    const errors: unknown[] = [
      new A2AError('RESOURCE_EXHAUSTED', 'secret of Ada'),
      Object.assign(new Error('secret of Ada'), { code: 'ECONNRESET' }),
      Object.assign(new TypeError('secret of Ada'), { code: 42 }),
      { name: 7 },
      'secret of Ada',
      undefined,
    ];
    let n = 0;
    const failing: Operation = () => Promise.reject(errors[n++]);
    const { kinds, sleeps } = await run({ send: failing }, { durationMs: 300 });
    expect(kinds.get('send')).toEqual({
      latencies: [],
      firsts: [],
      errors: new Map([
        ['RESOURCE_EXHAUSTED', 1],
        ['ECONNRESET', 1],
        ['TypeError', 1],
        ['ERROR', 3],
      ]),
    });
    expect(sleeps).toEqual(Array(6).fill(50));
  });

  it('counts each kind for itself, and the time to the first event of a stream', async () => {
    let now = 5_000;
    const clock = { now: () => now, sleep: async () => {} };
    const stream: Operation = async (_, first) => {
      now += 30;
      first();
      now += 70;
    };
    const get: Operation = async () => {
      now += 1;
    };
    const { kinds } = await run({ stream, get }, { clock, mix: { stream: 1, get: 1 }, durationMs: 102 });
    expect([...kinds]).toEqual([
      ['stream', { latencies: [100, 100], firsts: [30, 30], errors: new Map() }],
      ['get', { latencies: [1], firsts: [], errors: new Map() }],
    ]);
  });
});

describe('a run with a rate', () => {
  it('begins calls when they are due, and does not wait after an error', async () => {
    const ran = await run({ send: () => Promise.reject(new TypeError('x')) }, { rate: 100, durationMs: 50 });
    expect(ran.kinds.get('send')?.errors).toEqual(new Map([['TypeError', 5]]));
    // To the time of the next call, and never after an error.
    expect(ran.sleeps).toEqual([10, 10, 10, 10]);
  });
});

describe('a run that is ended', () => {
  it('begins no call, and counts none that broke off', async () => {
    const stop = new AbortController();
    const breaking: Operation = async () => {
      stop.abort();
      throw new Error('broken off');
    };
    const { kinds, sleeps } = await run({ send: breaking }, { signal: stop.signal, callers: 3 });
    expect(kinds.get('send')).toEqual({ latencies: [], firsts: [], errors: new Map() });
    expect(sleeps).toEqual([]);
    const never = await run({}, { signal: AbortSignal.abort() });
    expect([...never.kinds]).toEqual([]);
  });

  it('while it waits for a call that is due makes no call more', async () => {
    const stop = new AbortController();
    const clock = {
      now: () => 0,
      sleep: async () => {
        stop.abort();
        throw new Error('aborted');
      },
    };
    const { kinds } = await run(
      { send: taking(0) },
      { signal: stop.signal, clock, rate: 1, durationMs: 5_000 },
    );
    expect(kinds.get('send')?.latencies).toEqual([0]);
  });
});

it('a mix without a share of a kind never calls it, and without any share calls nothing', async () => {
  expect(orderOf({ send: 1, get: 0, list: 2 })).toEqual(['list', 'send', 'list']);
  expect([...(await run({}, { mix: { get: 0 } })).kinds]).toEqual([]);
});
