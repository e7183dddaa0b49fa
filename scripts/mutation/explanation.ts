import { readFileSync } from 'node:fs';

/** Why a mutation that survives is no missing test. */
export interface Explanation {
  /** The file, from the root of the repository. */
  readonly file: string;
  /** The text of the line where the mutation begins, without spaces around it. */
  readonly line?: string;
  /** Instead of `line`: a regular expression that such lines match. */
  readonly pattern?: string;
  /** The replacements that are meant; all of the line if this is left out. */
  readonly replacements?: readonly string[];
  readonly why: string;
}

/** Those of `explanations.json`, beside this file. */
export const explanations: readonly Explanation[] = JSON.parse(
  readFileSync(new URL('./explanations.json', import.meta.url), 'utf8'),
);
