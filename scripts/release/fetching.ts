/** How long a step that fetches may take, in milliseconds. */
const usualBoundMs = 300_000;

interface FetchingOptions {
  readonly boundMs?: number;
  readonly say?: (line: string) => void;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Runs a step that fetches something: says so first, because it may take minutes, and ends it at a bound. `use` ends when
 * the signal is aborted. Rejects with an error that names what was not fetched.
 */
export async function fetching<T>(
  what: string,
  use: (signal: AbortSignal) => Promise<T>,
  { boundMs = usualBoundMs, say = print }: FetchingOptions = {},
): Promise<T> {
  say(`Fetching ${what}, for at most ${boundMs / 1_000} s …`);
  const late = AbortSignal.timeout(boundMs);
  try {
    return await use(late);
  } catch (cause) {
    const { message, stderr = '' } = cause as Error & { stderr?: string };
    const why = late.aborted ? `not there after ${boundMs / 1_000} s` : `${message}\n${stderr}`.trim();
    throw new Error(`Fetching ${what} failed: ${why}`, { cause });
  }
}
