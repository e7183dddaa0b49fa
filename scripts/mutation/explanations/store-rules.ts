import type { Explanation } from './explanation.ts';

export const explanationsOfStoreRules: readonly Explanation[] = [
  {
    file: 'packages/store/src/rules/claim.ts',
    line: "return dueAt !== undefined && dueAt <= now ? 'due' : undefined;",
    replacements: ['true'],
    why: 'The same: no time is undefined or earlier.',
  },
];
