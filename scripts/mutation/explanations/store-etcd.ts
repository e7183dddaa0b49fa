import type { Explanation } from './explanation.ts';

const source = 'packages/store-etcd/src';

export const explanationsOfStoreEtcd: readonly Explanation[] = [
  {
    file: `${source}/rows/changes.ts`,
    line: 'const isTooLarge = this.#compares(decided, tasksOf(decision, look)).length > mostCompares;',
    why: 'Only which claims are decided again with fewer tasks, by one comparison.',
  },
  {
    file: `${source}/rows/changes.ts`,
    line: 'const isNew = tasks.some(({ row }) => !row);',
    replacements: ['row'],
    why: 'A guess more is tried, which etcd refuses, or one less: slower, but the same.',
  },
  {
    file: `${source}/rows/changes.ts`,
    line: 'if (change.partly && change.tasks?.length !== tasks.length) return undefined;',
    replacements: ['true'],
    why: 'No guess is used: slower, but the same.',
  },
  {
    file: `${source}/layout/cluster-clock.ts`,
    line: /^if \((performance\.now\(\) - this\.#readAt < tickMs\) return|kept\) this\.#readAt)/,
    why: 'Only how often the clock is read.',
  },
  {
    file: `${source}/rows/writing.ts`,
    line: 'else if (wasLarge) this.#delete(keys.config(task, id));',
    why: 'The same: a key that is not there is deleted.',
  },
  {
    file: `${source}/rows/writing.ts`,
    line: 'else if (webhooks.length > 0) after = this.#addWebhooks(task, before, webhooks);',
    why: 'The same: no webhooks are added.',
  },
  {
    file: `${source}/logs/parts.ts`,
    line: 'if (parts.length < names.length) parts = await read(modRevision);',
    replacements: ['parts.length <= names.length'],
    why: 'The parts are read once more: slower, but the same.',
  },
  {
    file: `${source}/rows/look.ts`,
    line: 'hasMissed = false;',
    why: 'A search is made again: slower, but the same.',
  },
];
