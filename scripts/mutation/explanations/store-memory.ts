import type { Explanation } from './explanation.ts';

const source = 'packages/store-memory/src';

export const explanationsOfStoreMemory: readonly Explanation[] = [
  {
    file: `${source}/queues/tallies.ts`,
    line: "this.#asked.set(question, after.queue, Date.parse(after.head?.statusAt ?? ''));",
    why: 'The same: a task that asks has a head.',
  },
  {
    file: `${source}/queues/webhooks.ts`,
    line: 'if (!log) return;',
    replacements: ['false'],
    why: 'The same: the task of a webhook has a row, if only for its webhooks.',
  },
  {
    file: `${source}/logs/lists.ts`,
    line: 'this.#byKey.set(key, few instanceof Log || few.length <= mostUnlisted ? few : scopesOf(few));',
    why: 'More memory or time, but the same: lists are made of few logs where they are read.',
  },
  {
    file: `${source}/logs/lists.ts`,
    line: "const stateOf = ({ placedBy }: Log): string => placedBy?.head?.state ?? '';",
    why: 'The same: what is in lists has a row and a head.',
  },
  {
    file: `${source}/memory-rows.ts`,
    line: 'const { tasks, webhooks = false } = wanted;',
    replacements: ['true'],
    why: 'Slower, but the same: rows that are not wanted are not looked at.',
  },
  {
    file: `${source}/order/sorted-list.ts`,
    line: 'if (element === undefined || holds(element)) high = middle;',
    replacements: ['false'],
    why: 'The same: there is an element at each index below the length.',
  },
  {
    file: `${source}/order/sorted-list.ts`,
    line: 'if (!chunk || last === undefined || this.#compare(last, item) >= 0) return false;',
    replacements: ['this.#compare(last, item) > 0'],
    why: 'The same: no item is added twice, and no other compares as equal.',
  },
  {
    file: `${source}/task-index.ts`,
    line: '].sort((one, other) => sizeOf(one) - sizeOf(other));',
    why: 'Slower, but the same: any of the lists can be searched for the logs that the others have too.',
  },
];
