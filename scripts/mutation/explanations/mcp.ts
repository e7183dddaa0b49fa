import type { Explanation } from './explanation.ts';

export const explanationsOfMcp: readonly Explanation[] = [
  {
    file: 'packages/mcp/src/flags.ts',
    line: "const [, name = '', variable = ''] = /^([^=]+)=(\\w+)$/.exec(header) ?? [];",
    replacements: ['"Stryker was here!"'],
    why: 'The same: without a name, nothing reads the variable.',
  },
];
