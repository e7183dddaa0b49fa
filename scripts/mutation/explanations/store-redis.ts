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
    line: 'const n = wanted.tasks?.length === 1 ? 0 : (wanted.tasks?.findIndex((one) => isSame(one, name)) ?? -1);',
    replacements: ['+1'],
    why: 'The same: where no tasks were named, none were found by their names.',
  },
  {
    file: `${rows}/known-tasks.ts`,
    line: 'return found.length === wanted.length ? found : undefined;',
    replacements: ['true'],
    why: 'One look more, but the same: what is decided on too few rows is refused.',
  },
  {
    file: `${rows}/task-list.ts`,
    line: "const tasks = groupsOf(members, 3).map(([taskId = '', row = '', entry = '']) => {",
    replacements: ['"Stryker was here!"'],
    why: 'The same: the script answers three texts of each task.',
  },
  {
    file: `${rows}/reader.ts`,
    line: /^ask\(\[.*'hooks'/,
    replacements: ['""'],
    why: 'The same: names that are not of tasks are of webhooks.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'this.#clock.answered(asked, Number(time));',
    why: 'Only how old the estimate of the clock is: looks bring the time, too.',
  },
  {
    file: `${rows}/reader.ts`,
    line: "const { replies, ...moment } = await this.ask(tasks[0]?.taskId ?? '', questions);",
    why: 'The same: a step that names tasks names one at least.',
  },
  {
    file: `${rows}/reader.ts`,
    line: 'groupsOf(reply, 2)',
    why: 'The same: the store sorts webhooks where their order is seen.',
  },
  {
    file: `${rows}/task-list.ts`,
    line: 'const share = all.length === 1 ? limit : Math.min(limit, 2 + Math.ceil((2 * limit) / all.length));',
    replacements: ['true'],
    why: 'Slower, but the same: each shard offers more than is taken.',
  },
  {
    file: `${rows}/changes.ts`,
    line: '(before?.holder !== undefined && after?.holder === undefined),',
    replacements: ['after.holder'],
    why: 'The same: a task that gets facts has a row.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'if (!tasks) return undefined;',
    why: 'The same, or one command more: what is decided on no rows changes nothing, or is refused.',
  },
  {
    file: `${rows}/places.ts`,
    line: 'if (isListedAlike(before?.head, after?.head)) return [];',
    replacements: ['false'],
    why: 'Slower, but the same: nothing moves.',
  },
  {
    file: `${rows}/places.ts`,
    line: 'if (now !== undefined && (old !== now || from !== to)) pairs.push(now, String(to));',
    replacements: ['true'],
    why: 'Slower, but the same: what stays in its place is put there.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'const args = first && groups.length === 1 ? first.args : groups.flatMap((group) => group.args);',
    replacements: ['false'],
    why: 'Slower, but the same: the arguments of one group are those of all.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'if (this.#renewals.size > 0)',
    replacements: ['true'],
    why: 'Slower, but the same: there is no renewal to wait for.',
  },
  {
    file: `${rows}/changes.ts`,
    line: 'const found = { ...this.#clock.moment(), tasks, waiting: wanted.waiting && 0 };',
    replacements: ['true'],
    why: 'The same, or a look more: Redis counts what waits when it writes.',
  },
  {
    file: `${rows}/known-tasks.ts`,
    line: 'if (this.#tasks.size <= most) return;',
    why: 'One task less is remembered.',
  },
];
