import type { Explanation } from './explanation.ts';

export const explanationsOfOAuth: readonly Explanation[] = [
  {
    file: 'packages/oauth/src/node/file-token-store.ts',
    line: '} catch {',
    replacements: ['{}'],
    why: 'The same: a function that ends without a value gives undefined.',
  },
  {
    file: 'packages/oauth/src/servers/guarded-fetch.ts',
    line: "if (!reader) return '';",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither an empty answer nor these words are an answer of OAuth.',
  },
];
