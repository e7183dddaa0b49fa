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
  {
    file: `${tables}/tables.ts`,
    line: 'if (bucket !== undefined && fullAt !== undefined)',
    replacements: ['true'],
    why: 'The same: a change that says when a bucket is full is one of a bucket.',
  },
  {
    file: `${tables}/terms.ts`,
    line: 'if (terms.length < 2) return terms;',
    why: 'Slower, but the same: a search may walk along any of its terms.',
  },
  {
    file: `${tables}/task-list.ts`,
    line: "found.fact === null ? '' : this.#longTexts.read(Number(found.task), version, String(found.fact));",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither is a fact.',
  },
  {
    file: `${tables}/task-list.ts`,
    line: 'return sought.context === undefined',
    replacements: ['false'],
    why: 'Slower, but the same: all tasks are looked at, for those with the text.',
  },
  {
    file: 'packages/store-sqlite/src/rows-on-tables.ts',
    line: 'return step.wanted.bucket === undefined ? transactions.write(work) : transactions.writeUnsynced(work);',
    replacements: ['true'],
    why: 'Slower, but the same: what is taken from a bucket waits for the disk, too.',
  },
  {
    file: `${tables}/buckets.ts`,
    line: "#sweptUntil = '';",
    why: 'Only which full buckets are deleted first.',
  },
  {
    file: `${tables}/logs.ts`,
    line: 'if (length > sliceLength || performance.now() > end) break;',
    replacements: ['false'],
    why: 'Only how long the event loop is blocked: a slice ends by its length, too.',
  },
];
