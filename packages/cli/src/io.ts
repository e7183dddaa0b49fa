/** What a command reads and writes besides the agent: of this process, or of a test. */
export interface Io {
  /** Where it is a terminal, lists are written for a person. */
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's home folder, with `.config` and `.cache`. */
  readonly home: string;
  /** The name that the user typed: `baton` or `a2a-cli`. Hints use it. */
  readonly program: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}
