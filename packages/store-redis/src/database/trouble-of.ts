import type { StoreError } from '@batonjs/store';

/** Patterns of Redis's refusals, anywhere in the message: scripts put text before them. */
const troubles: readonly (readonly [RegExp, StoreError['trouble']])[] = [
  [/\bOOM command not allowed/, 'out-of-memory'],
  [/\bREADONLY You can't write/, 'read-only'],
  [/\bFROZEN takes no writes/, 'read-only'],
  [/\bMISCONF .*No space left/, 'disk-full'],
];

/** Why Redis does not write, from the message of its refusal. */
export const troubleOf = (message: string): StoreError['trouble'] =>
  troubles.find(([pattern]) => pattern.test(message))?.[1];
