/** The part of Stryker's JSON report that is read. */
export interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mutation that no test noticed. `line` is the text of the line where it begins, without spaces around it. */
export interface Survivor {
  readonly file: string;
  readonly line: string;
  readonly original: string;
  readonly replacement: string;
}

/** Which mutations of a part are tried: so many, chosen at random, the same for the same seed. */
export interface Sample {
  readonly size: number;
  readonly seed: string;
}

/** The outcome of one part. `timeout`: noticed only because a test run did not end. */
export interface Result {
  /** The day of the run, such as `2026-11-22`. */
  readonly date: string;
  readonly killed: number;
  readonly timeout: number;
  readonly survivors: readonly Survivor[];
  /** Only a sample was tried, of so many mutations. All of them if it is left out. */
  readonly sample?: { readonly seed: string; readonly of: number };
}

/** Stryker's runner crashes over an error that nothing handles, with which a run of vitest fails. */
const noticed: ReadonlySet<string> = new Set(['Killed', 'RuntimeError']);
const undetected: ReadonlySet<string> = new Set(['Survived', 'NoCoverage']);

/** Throws if a mutation was neither noticed nor missed, unless it is not in `sample`: such a run says nothing. */
export function resultOf({ files }: Report, date: string, sample?: Sample): Result {
  let left = 0;
  const found = { date, killed: 0, timeout: 0, survivors: [] as Survivor[] };
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const lines = source.split('\n');
    for (const { location, replacement = '', status } of mutants) {
      if (noticed.has(status)) found.killed++;
      else if (status === 'Timeout') found.timeout++;
      else if (undetected.has(status)) {
        const line = lines[location.start.line - 1]?.trim() ?? '';
        found.survivors.push({
          file,
          line,
          original: textAt(lines, location),
          replacement: onOneLine(replacement),
        });
      } else if (sample && status === 'CompileError') left++;
      else if (status !== 'Ignored')
        throw new Error(`${file}:${location.start.line}: a mutation is ${status}`);
    }
  }
  if (!sample) return found;
  const of = left + found.killed + found.timeout + found.survivors.length;
  return { ...found, sample: { seed: sample.seed, of } };
}

/** Percent, rounded down to a tenth. */
export function scoreOf({ killed, timeout, survivors }: Result): number {
  const detected = killed + timeout;
  return Math.floor((detected / Math.max(1, detected + survivors.length)) * 1_000) / 10;
}

function textAt(lines: readonly string[], { start, end }: Mutant['location']): string {
  const found = lines.slice(start.line - 1, end.line);
  const last = found.length - 1;
  found[last] = found[last]!.slice(0, end.column - 1);
  found[0] = found[0]!.slice(start.column - 1);
  return onOneLine(found.join(' '));
}

/** The text with each run of spaces and line ends as one space. */
export const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
