import { Group } from '@batonjs/store/adapter';
import { expect, test } from 'vitest';
import type { GroupOptions } from '../../src/adapter/calls/group.ts';

/** Runs words in groups, and resolves each to itself. A group with `bad` fails. */
function words(options: Partial<GroupOptions<string>> = {}) {
  const groups: string[] = [];
  let underWay = 0;
  let most = 0;
  const group = new Group<string>({
    most: 3,
    run: async (members) => {
      groups.push(members.map(({ item }) => item).join(' '));
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      for (const { item, resolve } of members) if (item === 'done') resolve(item);
      if (members.some(({ item }) => item === 'bad')) throw new Error('is bad');
      for (const { item, resolve } of members) resolve(item);
      return undefined;
    },
    ...options,
  });
  const outcome = (word: string) => group.run(word).catch((error: Error) => error.message);
  return { groups, mostUnderWay: () => most, run: (all: string) => Promise.all(all.split(' ').map(outcome)) };
}

const fits: GroupOptions<string>['fits'] = (word, group) => !group.some(({ item }) => item === word);
const isOfOne = () => true;

test.each([
  { title: 'share one', words: 'a b', groups: ['a b'] },
  { title: 'come in several, in order, if they are many', words: 'a b c d e', groups: ['a b c', 'd e'] },
  { title: 'that do not fit come later', options: { fits }, words: 'a a b a', groups: ['a b', 'a', 'a'] },
  { title: 'all fail with their group', words: 'a bad', groups: ['a bad'], outcomes: 'is bad,is bad' },
  {
    title: 'that may fail alone are run again alone, but for those that are settled',
    options: { isOfOne },
    words: 'a done bad',
    groups: ['a done bad', 'a', 'bad'],
    outcomes: 'a,done,is bad',
  },
])('items of a group $title', async ({ options, words: given, groups, outcomes }) => {
  const made = words(options);
  const settled = await made.run(given);
  expect(made.groups).toEqual(groups);
  expect(String(settled)).toBe(outcomes ?? given.replaceAll(' ', ','));
});

test.each([1, 2])('%i groups are under way at once', async (atOnce) => {
  const made = words({ most: 1, atOnce });
  await made.run('a b c d');
  expect(made.mostUnderWay()).toBe(atOnce);
});

test('items that are left come first in the next group', async () => {
  const groups: string[] = [];
  const group = new Group<string>({
    most: 2,
    run: ([first, ...left]) => {
      groups.push([first, ...left].map((one) => one?.item).join(' '));
      first?.resolve(undefined);
      return left;
    },
  });
  await Promise.all(['a', 'b', 'c'].map((word) => group.run(word)));
  expect(groups).toEqual(['a b', 'b c', 'c']);
});

test('a group that is over at once leaves the event loop to others before the next one', async () => {
  const order: string[] = [];
  const group = new Group<string>({
    most: 1,
    run: ([one]) => {
      order.push(one!.item);
      one!.resolve(undefined);
      return undefined;
    },
  });
  const all = ['a', 'b'].map((word) => group.run(word));
  setImmediate(() => order.push('others'));
  await Promise.all(all);
  expect(order).toEqual(['a', 'others', 'b']);
});
