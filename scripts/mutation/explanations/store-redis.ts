import type { Explanation } from './explanation.ts';

const file = (name: string): string => `packages/store-redis/src/tasks/${name}.ts`;

export const explanationsOfStoreRedis: readonly Explanation[] = [
  {
    file: file('commits'),
    line: "head ? placeOf(head) : '',",
    replacements: ['"Stryker was here!"'],
    why: 'The same: the place of a commit without a head is not read.',
  },
  {
    file: file('commits'),
    line: "...(release ? ['release', '1'] : []),",
    replacements: ['""'],
    why: 'The same: the script looks whether the name is there, not at its value.',
  },
  {
    file: file('commits'),
    line: "...(aheadMs === undefined ? [] : ['ahead', String(aheadMs)]),",
    replacements: ['false'],
    why: 'The same: a number that is none counts as absent.',
  },
  {
    file: file('leases'),
    line: 'if (taskId !== undefined || shards.all.length === 1)',
    replacements: ['taskId !== undefined && shards.all.length === 1', 'false'],
    why: 'Slower, but the same: the shards are asked in two steps.',
  },
  {
    file: file('leases'),
    line: "return (await this.#ask(only!, request, 'all')).leases;",
    replacements: ['""'],
    why: 'The same: the script leaves out leases only for the other two words.',
  },
  {
    file: file('leases'),
    line: 'if (others === 0 || leases.length === limit) continue;',
    replacements: ['false', 'others === 0 && leases.length === limit'],
    why: 'Slower, but the same: a shard that has none, or may give none, gives none.',
  },
  {
    file: file('leases'),
    line: 'const here = leases.filter(({ taskId }) => shards.of(taskId) === shard);',
    replacements: ['leases', 'true'],
    why: 'Slower, but the same: a shard renews only what it has.',
  },
  {
    file: file('leases'),
    line: 'if (here.length === 0) return;',
    replacements: ['false'],
    why: 'Slower, but the same: a shard that is asked for nothing renews nothing.',
  },
  {
    file: file('leases'),
    line: 'const answer = await this.#database.ofTask(readScript, taskId, taskName(scope, taskId), []);',
    replacements: ['["Stryker was here"]'],
    why: 'The same: the script reads no further argument.',
  },
  {
    file: file('prune'),
    line: 'if (total >= limit) return total;',
    replacements: ['false', 'total > limit'],
    why: 'Slower, but the same: a script that may delete none deletes none.',
  },
  {
    file: file('leases'),
    line: "count === undefined ? '' : String(count),",
    replacements: ['false', '"Stryker was here!"'],
    why: 'The same: a text that is no number is no limit.',
  },
  {
    file: file('commits'),
    line: "if (!StoreError.is(error, 'INVALID_COMMIT') || once === undefined) throw error;",
    replacements: ['false', "!StoreError.is(error, 'INVALID_COMMIT') && once === undefined"],
    why: 'Slower, but the same: no other error arises, and no commit used a key that is undefined.',
  },
];
