import type { Explanation } from './explanation.ts';

const tables = 'packages/store-sqlite/src/tables';

export const explanationsOfStoreSqlite: readonly Explanation[] = [
  {
    file: `${tables}/tables.ts`,
    line: '} else if (before) this.tasks.delete(before);',
    replacements: ['true'],
    why: 'The same: a change has a row before it or after it.',
  },
  {
    file: `${tables}/task-table.ts`,
    line: 'const id = Number(this.#insert.get(after.scope, after.taskId, context, ...values)?.id);',
    replacements: ['this.#insert.get(after.scope, after.taskId, context, ...values).id'],
    why: 'The same: an insertion returns its row.',
  },
  {
    file: `${tables}/task-table.ts`,
    line: '} else if (isTurnSame) this.#updates.list.run(...log, context, ...list, id);',
    replacements: ['false'],
    why: 'Slower, but the same: columns are set to the values that they have.',
  },
  {
    file: `${tables}/terms.ts`,
    line: 'if (was.length > 0) this.#leave.run(task);',
    replacements: ['true'],
    why: 'Slower, but the same: a task without terms is in no list of terms.',
  },
];
