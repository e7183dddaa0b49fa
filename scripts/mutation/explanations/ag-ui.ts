import type { Explanation } from './explanation.ts';

export const explanationsOfAgUi: readonly Explanation[] = [
  {
    file: 'packages/ag-ui/src/run.ts',
    line: '...(state !== undefined && { state }),',
    replacements: ['true'],
    why: 'The same: a member that is undefined is not sent.',
  },
];
