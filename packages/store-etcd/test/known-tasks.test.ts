import { expect, it } from 'vitest';
import { remember } from '../src/layout/remember.ts';
import { KnownTasks } from '../src/rows/known-tasks.ts';

it('remembers so many entries: the one that was put first is forgotten, also if it was put again', () => {
  const map = new Map<string, number>();
  for (const key of ['a', 'b', 'c']) remember(map, key, 1, 3);
  expect([...map.keys()]).toEqual(['a', 'b', 'c']);
  remember(map, 'a', 2, 3);
  remember(map, 'd', 1, 3);
  expect([...map]).toEqual([
    ['c', 1],
    ['a', 2],
    ['d', 1],
  ]);
});

it('takes one task that is not known for a new one, and asks etcd about several', () => {
  const known = new KnownTasks();
  expect(known.find([{ task: 'a' }])?.map(({ known }) => known.row)).toEqual([undefined]);
  expect(known.find([{ task: 'a' }, { task: 'b' }])).toBeUndefined();
});
