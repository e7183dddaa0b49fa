import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/timing/clock.ts';
import { LazyAbort } from '../../../src/base/timing/deadline-timers.ts';
import { completeRetry } from '../../../src/turns/retries/retry-policy.ts';
import { createSteps } from '../../../src/turns/steps/steps.ts';

/** The steps of an attempt after one that completed these, and what they did with their record. */
function steps(
  done: Readonly<Record<string, unknown>> = {},
  enter: (calls: unknown[]) => Promise<void> | undefined = (calls) => void calls.push('enter'),
) {
  const calls: unknown[] = [];
  const step = createSteps({
    clock: systemClock,
    abort: new LazyAbort(),
    policy: completeRetry().steps,
    pause: undefined,
    failed: () => undefined,
    fail: async () => void calls.push('fail'),
    known: (name) => (Object.hasOwn(done, name) ? { result: done[name] } : undefined),
    enter: () => enter(calls),
    mustHaveBudget: async () => {},
    count: async () => {},
    complete: async (name, result) => void calls.push([name, result]),
  });
  return { step, calls };
}

describe('a step', () => {
  it('is entered, run and kept, in this order', async () => {
    const { step, calls } = steps();
    expect(await step('sum', () => calls.push('run'))).toBe(2);
    expect(calls).toEqual(['enter', 'run', ['sum', 2]]);
  });

  it.each([
    ['without options', undefined],
    ['with retries', { retries: 1 }],
  ])('%s runs once it may: what comes before it in the log is stored', async (_, options) => {
    const stored = Promise.withResolvers<void>();
    const { step, calls } = steps({}, () => stored.promise);
    const run = () => calls.push('run');
    const running = options ? step('sum', options, run) : step('sum', run);
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls).toEqual([]);
    stored.resolve();
    expect(await running).toBe(1);
  });

  it('gives what an earlier attempt kept, without running', async () => {
    const { step, calls } = steps({ sum: { is: 5 }, none: null });
    expect(await step('sum', () => calls.push('run'))).toEqual({ is: 5 });
    expect(await step('none', () => calls.push('run'))).toBeNull();
    expect(calls).toEqual([]);
  });

  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    'that is called %s runs like any other',
    async (name) => {
      const { step, calls } = steps();
      expect(await step(name, () => 'ran')).toBe('ran');
      expect(calls).toEqual(['enter', [name, 'ran']]);
    },
  );

  it('whose name was used in the attempt is refused before it runs, though the first one failed or still runs', async () => {
    const { step, calls } = steps({ kept: 1 });
    const used = (name: string) =>
      expect(step(name, () => calls.push('run'))).rejects.toThrow(
        new TypeError(`The step "${name}" was used in this turn already`),
      );
    await expect(step('fails', () => Promise.reject(new Error('No')))).rejects.toThrow('No');
    const running = step('runs', () => new Promise((resolve) => setImmediate(resolve)));
    await step('kept', () => 0);
    calls.length = 0;
    for (const name of ['fails', 'runs', 'kept']) await used(name);
    expect(calls).not.toContain('run');
    await running;
  });

  it.each<[string, unknown, unknown]>([
    ['nothing', undefined, null],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['members that are undefined', { a: undefined, b: 1 }, { b: 1 }],
    ['a map', new Map([['a', 1]]), {}],
    ['a list with a hole', [undefined], [null]],
  ])('gives of %s what a later attempt would get', async (_, result, expected) => {
    const { step, calls } = steps();
    const given = await step('one', () => result);
    expect(given).toStrictEqual(expected);
    expect(calls.at(-1)).toStrictEqual(['one', expected]);
  });

  it('gives a copy: what the agent does to its own object afterwards is not in the result', async () => {
    const { step } = steps();
    const own = { list: [1] };
    const given = await step('one', () => own);
    own.list.push(2);
    expect(given).toEqual({ list: [1] });
  });

  it.each<[string, unknown]>([
    ['a function', () => {}],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
  ])('whose result is %s is refused, and nothing is kept', async (_, result) => {
    const { step, calls } = steps();
    await expect(step('one', () => result)).rejects.toThrow(
      new TypeError('The result of the step "one" is not JSON, so it cannot be kept'),
    );
    expect(calls).toEqual(['enter']);
  });

  it('whose result cannot be written down is refused with the reason', async () => {
    const reason = new Error('No number');
    const toJSON = () => {
      throw reason;
    };
    await expect(steps().step('one', () => ({ toJSON }) as object)).rejects.toMatchObject({ cause: reason });
  });
});
