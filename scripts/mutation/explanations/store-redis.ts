import type { Explanation } from './explanation.ts';

const rows = 'packages/store-redis/src/rows';

export const explanationsOfStoreRedis: readonly Explanation[] = [
  {
    file: `${rows}/task-list.ts`,
    line: 'return Buffer.compare(Buffer.from(one.taskId), Buffer.from(other.taskId)) > 0;',
    replacements: ['Buffer.compare(Buffer.from(one.taskId), Buffer.from(other.taskId)) >= 0'],
    why: 'The same: no task is in two shards.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'const names = wanted.tasks ?? change.tasks?.map(changedRow) ?? [];',
    replacements: ['wanted.tasks && change.tasks?.map(changedRow)'],
    why: 'The same, or one look more: what changes lies where the named task does, and an old row is found out when it is written.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'const n = wanted.tasks?.length === 1 ? 0 : (wanted.tasks?.findIndex((one) => isSame(one, name)) ?? -1);',
    replacements: ['+1'],
    why: 'The same: where no tasks were named, none were found by their names.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'const isVital = ({ tasks = [], webhooks = [] }: Change<unknown>): boolean =>',
    replacements: ['["Stryker was here"]'],
    why: 'The same: a text has no facts.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'const named = change.partly ? [] : (wanted.tasks ?? []);',
    replacements: ['["Stryker was here"]'],
    why: 'The same: under what is no name there is no task, as was found.',
  },
  {
    file: `${rows}/known-tasks.ts`,
    line: 'return found.length === wanted.length ? found : undefined;',
    replacements: ['true'],
    why: 'One look more, but the same: what is decided on too few rows is refused.',
  },
];
