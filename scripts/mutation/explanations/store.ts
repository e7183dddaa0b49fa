import type { Explanation } from './explanation.ts';

export const explanationsOfStore: readonly Explanation[] = [
  {
    file: 'packages/store/src/adapter/words.ts',
    line: "piece.length <= longestWord || isUnspaced.test(piece) ? piece : [...piece].slice(0, longestWord).join('');",
    replacements: ['false'],
    why: 'Slower, but the same: a short word is cut behind its end.',
  },
];
