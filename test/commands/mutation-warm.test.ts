import { expect, it } from 'vitest';
import * as warm from '../../scripts/mutation/warm/vitest.ts';

it('the warm runner runs a collected test as often as asked, with its hooks, and tells whether it failed', async () => {
  const done: string[] = [];
  let isBroken = false;
  await warm.collect('one.test.ts', async () => {
    warm.describe('a suite', () => {
      warm.beforeAll(() => void done.push('before all'));
      warm.beforeEach(() => void done.push('before'));
      warm.afterEach(() => void done.push('after'));
      warm.afterAll(() => void done.push('after all'));
      warm.describe.each(['x', 'y'])('with %s', (letter: string) => {
        warm.it.each([[1, 'one']])('counts %d', (count: number, name: string) => {
          warm.onTestFinished(() => void done.push('clean up'));
          done.push(`${letter}${count}${name}`);
          warm.expect(isBroken).toBe(false);
        });
      });
      warm.describe.skipIf(true)('skipped', () => warm.it('never', () => {}));
    });
    warm.it('hangs', () => new Promise(() => {}));
  });
  const [x, y, hangs, ...others] = warm.tests;
  expect(warm.tests.map(({ name }) => name)).toEqual([
    'a suite > with x > counts 1',
    'a suite > with y > counts 1',
    'hangs',
  ]);
  expect(others).toEqual([]);
  const around = (inner: string) => ['before', inner, 'clean up', 'after'];
  await warm.runTest(x!, 60_000);
  await warm.runTest(y!, 60_000);
  expect(done.splice(0)).toEqual(['before all', ...around('x1one'), ...around('y1one')]);
  isBroken = true;
  await expect(warm.runTest(x!, 60_000)).rejects.toThrow('expected true to be false');
  expect(done.splice(0)).toEqual(around('x1one'));
  await expect(warm.runTest(hangs!, 1)).rejects.toThrow('The test did not end');
  await warm.end();
  expect(done).toEqual(['after all']);
});

it('the warm runner waits for what holds after some checks', async () => {
  let checks = 0;
  const check = () => {
    if (++checks < 3) throw new Error('Not yet');
    return checks;
  };
  expect(await warm.vi.waitFor(check)).toBe(3);
});

it('the warm runner makes a check until it holds, compares files, and skips what is to be skipped', async () => {
  const collected = warm.tests.length;
  let count = 0;
  await warm.collect('test/commands/mutation-warm.test.ts', async () => {
    warm.it('polls', async () => {
      await warm.expect.poll(() => ++count).toBe(3);
      await warm.expect.poll(() => ++count).not.toBe(4);
    });
    warm.it('compares', () => warm.expect('other').toMatchFileSnapshot('mutation-warm.test.ts'));
    warm.it.skipIf(true)('skipped', () => {});
  });
  const [polls, compares, ...others] = warm.tests.slice(collected);
  expect(others).toEqual([]);
  await warm.runTest(polls!, 60_000);
  expect(count).toBe(5);
  await expect(warm.runTest(compares!, 60_000)).rejects.toThrow("expected 'other' to be");
});

it('the warm runner names the test of an error without its stack, which differs between processes', async () => {
  const collected = warm.tests.length;
  await warm.collect('one.test.ts', async () => {
    warm.it.each([[new TypeError('No')]])('fails with %s', () => {});
  });
  expect(warm.tests.slice(collected).map(({ name }) => name)).toEqual(['fails with TypeError: No']);
});

it('the warm runner names tests by their rows, gives lists as they are beside other values, and leaves tests out', async () => {
  const collected = warm.tests.length;
  const rows: unknown[] = [];
  warm.leaveOut(/SQLite/);
  await warm.collect('one.test.ts', async () => {
    warm.describe.each([{ store: 'memory' }, { store: 'SQLite' }])('in $store, $other', () => {
      warm.it.each([7, []])('of %j', (row: unknown) => void rows.push(row));
    });
  });
  warm.leaveOut(undefined);
  const tests = warm.tests.slice(collected);
  expect(tests.map(({ name }) => name)).toEqual(['in memory, $other > of 7', 'in memory, $other > of %j']);
  for (const test of tests) await warm.runTest(test, 60_000);
  expect(rows).toEqual([7, []]);
});
