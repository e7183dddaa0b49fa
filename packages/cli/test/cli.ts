import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { runCli } from '../src/run-cli.ts';

/** What a command wrote, and how it ended. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The one document on standard output. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly json: any;
  /** The documents on standard output, one per line. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly lines: any[];
}

/** What surrounds a command. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  readonly cwd?: string;
  /** What stands there, or arrives there. */
  readonly stdin?: string | AsyncIterable<string>;
  readonly isTTY?: boolean;
  /** The same as `isTTY` unless it is given. */
  readonly isStdinTTY?: boolean;
  readonly signal?: AbortSignal;
  /** Sees what is written, as it is written. */
  readonly onWrite?: (stream: 'stdout' | 'stderr', text: string) => void;
}

/** Runs a command line in this process, with a home folder and an environment of its own. */
export async function cli(line: string | readonly string[], around: Surroundings = {}): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const into = (stream: 'stdout' | 'stderr') => ({
    isTTY: around.isTTY ?? false,
    columns: 80,
    write(text: string) {
      written[stream] += text;
      around.onWrite?.(stream, text);
    },
  });
  const io = {
    stdout: into('stdout'),
    stderr: into('stderr'),
    stdin: Object.assign(stdinOf(around.stdin ?? ''), {
      isTTY: around.isStdinTTY ?? around.isTTY ?? false,
    }),
    env: around.env ?? {},
    cwd: around.cwd ?? around.home ?? temporaryFolder(),
    home: around.home ?? temporaryFolder(),
    program: 'baton',
    signal: around.signal ?? new AbortController().signal,
  };
  const args = typeof line === 'string' ? wordsOf(line) : line;
  const code = await runCli(args, io, '1.2.3');
  const { stdout, stderr } = written;
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout);
    },
    get lines() {
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((each) => JSON.parse(each));
    },
  };
}

/** The words of a line; quotes keep blanks. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, plain]) => one ?? two ?? plain ?? '');

async function* stdinOf(text: string | AsyncIterable<string>): AsyncGenerator<string> {
  if (typeof text !== 'string') yield* text;
  else if (text) yield text;
}

/** The value of a field in text output. */
export const fieldOf = (text: string, label: string): string | undefined =>
  new RegExp(`^${label}: (.*)$`, 'm').exec(text)?.[1];

/** A signal that is aborted when the test ends. */
export function abortedAfterTest(): AbortController {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  return controller;
}
