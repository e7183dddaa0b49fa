import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { A2AError, isPermanent } from '../src/errors.ts';
import { isSameText } from '../src/security.ts';
import { remember } from '../src/values/bounded-map.ts';
import { isObject, tryJson } from '../src/values/json.ts';
import { backoffMs, sleep } from '../src/values/timing.ts';

it.each([
  ['{"a":1}', true],
  ['{}', true],
  ['[]', false],
  ['null', false],
  ['"text"', false],
  ['no JSON', false],
])('%s is an object of JSON: %s', (text, expected) => {
  expect(isObject(tryJson(text))).toBe(expected);
});

it.each([
  [[1, 2, 3, 9], {}, 0, [800, 1_600, 3_200, 48_000]],
  [[0, 1, 2, 60], { initialMs: 10, maxMs: 50, jitter: 1 }, 0.5, [5, 5, 10, 25]],
  [[1, 2, 3_000], { initialMs: 250, factor: 3, maxMs: 1_000, jitter: 0 }, 0.5, [250, 750, 1_000]],
])('waits after %j failures as %j says', (failures, backoff, random, expected) => {
  expect(failures.map((n) => backoffMs(n, backoff, () => random))).toEqual(expected);
});

describe('a pause', () => {
  it.each<[string, number, AbortSignal | undefined]>([
    ['of no length', -5, undefined],
    ['with a signal that is aborted', 60_000, AbortSignal.abort()],
    ['whose signal is aborted', Number.POSITIVE_INFINITY, AbortSignal.timeout(1)],
  ])('%s ends', async (_, ms, signal) => {
    await expect(sleep(ms, signal)).resolves.toBeUndefined();
  });

  // Node.js warns once in a process.
  it('whose time is over already is no warning of the process', async () => {
    const timing = new URL('../src/values/timing.ts', import.meta.url).href;
    const program = `import { sleep } from '${timing}'; await sleep(-2);`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 20_000,
    });
    expect(await run).toEqual({ stdout: '', stderr: '' });
  });

  it('of more than a timer can is not over at once, and its end leaves no listener', async () => {
    const controller = new AbortController();
    const pause = sleep(2 ** 40, controller.signal);
    const first = await Promise.race([pause.then(() => 'pause'), sleep(20).then(() => 'other')]);
    expect(first).toBe('other');
    controller.abort();
    await pause;
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

it('a bounded map forgets what was put first, and returns it', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  expect(remember(map, 'a', 3, 2)).toBeUndefined();
  expect(remember(map, 'c', 4, 2)).toBe(2);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});

it.each([
  ['', '', true],
  ['abc', 'abc', true],
  ['abc', 'xbc', false],
  ['abc', 'abx', false],
  ['ab', 'ba', false],
  ['abc', 'abcd', false],
  ['abc', 'ab', false],
  ['ab', 'ab\0', false],
  ['ab\0', 'ab', false],
])('%j and %j are the same text: %s', (one, other, expected) => {
  expect(isSameText(one, other)).toBe(expected);
});

it.each([
  ['INVALID_PARAMS', true],
  ['PERMISSION_DENIED', true],
  ['RESOURCE_EXHAUSTED', false],
  ['UNAVAILABLE', false],
  ['INTERNAL_ERROR', false],
] as const)('%s would be refused again: %s', (reason, expected) => {
  expect(isPermanent(new A2AError(reason))).toBe(expected);
});
