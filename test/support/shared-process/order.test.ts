import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { root } from '../../repository/source-files.ts';
import { orderOf } from './order.ts';

const shared = Array.from({ length: 20 }, (_, n) => `packages/a/test/${n}.test.ts`);
const alone = ['test/alone.test.ts', 'test/slow/b.test.ts', 'test/slowest.test.ts'];

/** The files in the order of a seed, and what is printed. */
async function ordered(seed: number, names = [...alone, ...shared]) {
  const printed: string[] = [];
  const ctx = {
    config: { root, sequence: { seed } },
    logger: { log: (text: string) => printed.push(text) },
  } as unknown as Vitest;
  const files = names.map(
    (name) =>
      ({
        moduleId: join(root, name),
        project: { config: { isolate: alone.includes(name) } },
      }) as unknown as TestSpecification,
  );
  const Order = orderOf(['test/slowest.test.ts', 'test/slow/*.test.ts'], ['packages/a/test/1?.test.ts']);
  const sorted = await new Order(ctx).sort(files);
  return { order: sorted.map(({ moduleId }) => moduleId.slice(root.length + 1)), printed: printed.join('') };
}

it('begins with what takes longest, ends with what has processes of its own, and has all files once', async () => {
  const { order } = await ordered(1);
  expect([order[0], order[1], order.at(-1)]).toEqual([
    'test/slowest.test.ts',
    'test/slow/b.test.ts',
    'test/alone.test.ts',
  ]);
  expect(order.slice(2, -1).toSorted()).toEqual(shared.toSorted());
});

it('is the same for the same seed, which is printed, and another for another', async () => {
  const [first, again, other] = [await ordered(1), await ordered(1), await ordered(2)];
  expect(first.printed).toContain('--sequence.seed=1');
  expect(again.order).toEqual(first.order);
  expect(other.order).not.toEqual(first.order);
});

it('is the same among fewer files, so that a failure can be narrowed down', async () => {
  const { order } = await ordered(1);
  const some = order.filter((_, n) => n % 3 === 0);
  expect((await ordered(1, some.toReversed())).order).toEqual(some);
});

it('has no long one among the last', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { order } = await ordered(seed, shared);
    expect(order.at(-1)).toMatch(/\/\d\.test\.ts$/);
  }
  const first = await Promise.all(Array.from({ length: 20 }, (_, seed) => ordered(seed, shared)));
  expect(new Set(first.map(({ order }) => order[0])).size).toBeGreaterThan(5);
});
