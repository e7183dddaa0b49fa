import type { Explanation } from './explanation.ts';

const source = 'packages/store-postgres/src';

export const explanationsOfStorePostgres: readonly Explanation[] = [
  {
    file: `${source}/tables/searches.ts`,
    line: 'const [waiting = [], due = [], left = []] = rows.map((some) => some.map(taskOfSql));',
    replacements: ['["Stryker was here"]'],
    why: 'The same: each statement has its rows, if only none of them.',
  },
  {
    file: `${source}/database/columns.ts`,
    line: ".filter((name) => name !== 'state' && name !== 'status_at')",
    replacements: ['true'],
    why: 'Two columns more are read, and not used: slower, but the same.',
  },
  {
    file: `${source}/tables/task-list.ts`,
    line: 'return Number(row?.total ?? 0);',
    replacements: ['row.total'],
    why: 'The same: the statement has one row.',
  },
];
