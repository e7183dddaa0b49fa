/** Why a mutation that survives is no missing test. */
export interface Explanation {
  /** The file, from the root of the repository. */
  readonly file: string;
  /** The text of the line where the mutation begins, without spaces around it, or what such lines match. */
  readonly line: string | RegExp;
  /** The replacements that are meant; all of the line if this is left out. */
  readonly replacements?: readonly string[];
  readonly why: string;
}
