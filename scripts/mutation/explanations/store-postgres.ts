import type { Explanation } from './explanation.ts';

const source = 'packages/store-postgres/src';
const rowsOfAll = 'The same: each statement has its rows, if only none of them.';

export const explanationsOfStorePostgres: readonly Explanation[] = [
  {
    file: `${source}/changes/named-tasks.ts`,
    line: /^(found: \(\[rows = \[\]|if \(with\w+\) known\.addWebhooks|if \(once\.length > 0\) known)/,
    replacements: ['["Stryker was here"]'],
    why: rowsOfAll,
  },
  {
    file: `${source}/tables/searches.ts`,
    line: /(rows|kept|counts) = \[\]/,
    replacements: ['["Stryker was here"]'],
    why: rowsOfAll,
  },
  {
    file: `${source}/tables/searches.ts`,
    line: 'undelivered: Number(rows[0]?.undelivered),',
    replacements: ['rows[0].undelivered'],
    why: 'The same: the statement has one row.',
  },
  {
    file: `${source}/tables/searches.ts`,
    line: '(rows) => ({ waiting: Number(rows[0]?.tasks) }),',
    why: 'The same: the statement has one row.',
  },
  {
    file: `${source}/tables/searches.ts`,
    line: "const lock = this.#mode === 'lock' ? 'FOR UPDATE' : '';",
    replacements: ['true'],
    why: 'A look locks what it reads until it ends: slower, but the same.',
  },
  {
    file: `${source}/postgres-rows.ts`,
    line: 'if (idle) return idle.result;',
    why: 'A claim that finds nothing takes locks: slower, but the same.',
  },
  {
    file: `${source}/tables/searches.ts`,
    line: "...(this.#mode === 'lock' ? [lock] : []),",
    why: 'Only who waits: the revision of the queue decides, and without the lock a claim is decided again.',
  },
  {
    file: `${source}/changes/named-tasks.ts`,
    line: "ORDER BY key, config_key ${mode === 'lock' ? 'FOR UPDATE' : ''}`;",
    replacements: ['true'],
    why: 'A look locks what it reads until it ends: slower, but the same.',
  },
  {
    file: `${source}/changes/grouped-changes.ts`,
    line: 'const charactersOf = ({ tasks = [] }: Change<unknown>): number =>',
    why: 'The same: a string has no facts.',
  },
  {
    file: `${source}/changes/grouped-changes.ts`,
    line: "if (before > 0 && before + charactersOf(change) > mostCharacters) return 'full';",
    replacements: ['before + charactersOf(change) >= mostCharacters'],
    why: 'Only where a group ends, by one character.',
  },
  {
    file: `${source}/changes/buckets.ts`,
    line: 'const changed = [...buckets.values()].filter(({ before, after }) => after !== before);',
    replacements: ['[...buckets.values()]'],
    why: 'A bucket is written again as it is: slower, but the same.',
  },
  {
    file: `${source}/changes/buckets.ts`,
    line: 'if (this.#takes >= sweepEvery) this.#beginSweep();',
    replacements: ['this.#takes > sweepEvery'],
    why: 'Only when a sweep begins, by one take.',
  },
  {
    file: `${source}/changes/searched-changes.ts`,
    line: 'if (!step.wanted.ended) return change.result;',
    replacements: ['false'],
    why: 'A claim that is made again gets what it has already. Only the next prune reads more.',
  },
  {
    file: `${source}/postgres-rows.ts`,
    line: 'const idle = isMostlyIdle && !wanted.ended ? await searched.idle(step) : undefined;',
    replacements: ['false'],
    why: 'A claim that finds nothing takes locks: slower, but the same.',
  },
];
