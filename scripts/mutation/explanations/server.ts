import type { Explanation } from './explanation.ts';

export const explanationsOfServer: readonly Explanation[] = [
  {
    file: 'packages/server/src/options.ts',
    line: /^(\w+: true,|const of\w+: Names<\w+> = .*)$/,
    replacements: ['false'],
    why: 'The same: only the names are read.',
  },
  {
    file: 'packages/server/src/base/store/inside-of.ts',
    line: "const inside = Symbol.for('@batonjs/server/inside');",
    why: 'The same: every module that uses the symbol gets it from here.',
  },
  {
    file: 'packages/server/src/turns/task-writer.ts',
    line: 'const want = next !== undefined && next <= now;',
    replacements: ['true'],
    why: 'The same: nothing is before or at an undefined time.',
  },
  {
    file: 'packages/server/src/front/calls/answer-call.ts',
    line: ': [];',
    why: 'The same: where the card declares no extensions, none that is asked for is active.',
  },
  {
    file: 'packages/server/src/base/system/new-id.ts',
    line: 'if (used === pool.length) {',
    replacements: ['true'],
    why: 'Slower, but the same: random bytes are fetched for each id.',
  },
  {
    file: 'packages/server/src/front/http/fetch.ts',
    line: 'const letGo = () => void iterator.return?.();',
    replacements: ['iterator.return()'],
    why: 'No reply has it: the body of a stream can be left.',
  },
];
