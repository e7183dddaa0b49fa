import type { StoreTrouble } from '@batonjs/store';

/** By what Redis's refusals say, wherever a script puts it. */
const troubles: readonly (readonly [RegExp, StoreTrouble])[] = [
  [/\bOOM command not allowed/, 'out-of-memory'],
  [/\bREADONLY You can't write/, 'read-only'],
  [/\bMISCONF .*No space left/, 'disk-full'],
];

/** Why Redis does not write, by the message of its refusal. */
export const troubleOf = (message: string): StoreTrouble | undefined =>
  troubles.find(([pattern]) => pattern.test(message))?.[1];
