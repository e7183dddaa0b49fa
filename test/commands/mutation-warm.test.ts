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
