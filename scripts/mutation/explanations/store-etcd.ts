import type { Explanation } from './explanation.ts';

const source = 'packages/store-etcd/src';

export const explanationsOfStoreEtcd: readonly Explanation[] = [
  {
    file: `${source}/etcd-rows.ts`,
    line: 'watches.close();',
    why: 'Noticed by the check for timers that a file leaves open, which these runs are without.',
  },
  {
    file: `${source}/rows/writing.ts`,
    line: 'if (forgotten > 0)',
    replacements: ['forgotten >= 0'],
    why: 'The same: no caller had a turn before the first one.',
  },
  {
    file: `${source}/layout/indexes.ts`,
    line: /^folder: \(keys, \{ queue = '/,
    replacements: ['"Stryker was here!"'],
    why: 'The same: a task without a queue is in no index of queues.',
  },
  {
    file: `${source}/buckets/buckets.ts`,
    line: 'const absent: Known = { revision: 0, fullAt: undefined };',
    why: 'The same: a number that is left out of a message is 0.',
  },
  {
    file: `${source}/layout/cluster-clock.ts`,
    line: /^if \(kept\) this\.#readAt|^if \(!kept \|\| this\.now\(\) - Number/,
    why: 'Only how often the clock is read and written.',
  },
  {
    file: `${source}/rows/changes.ts`,
    line: 'if (!partly || (!named && tasks.length <= mostTogether)) {',
    replacements: ['tasks.length < mostTogether'],
    why: 'As many tasks as fit are written one by one: slower, but the same.',
  },
  {
    file: `${source}/rows/queue-fronts.ts`,
    line: 'return { ...inside(folder), limit: remembered, keysOnly: true };',
    replacements: ['false'],
    why: 'Values are read, too, and not used: slower, but the same.',
  },
  {
    file: `${source}/rows/waiting-counts.ts`,
    line: 'const next = this.#next.get(queue) ?? this.#queues.run([queue], () => this.#count(queue));',
    replacements: ['[]'],
    why: 'Counts of a queue run beside each other: slower, but the same.',
  },
];
