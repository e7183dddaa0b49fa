import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The most lines that are remembered. */
const mostLines = 500;

/** What the process serves. */
export interface Served {
  /** The file with the agent. */
  readonly path: string;
  readonly port: number;
  /** The file with the tasks. */
  readonly data: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The process that serves an agent in development, and again after each change of its files. */
export class AgentProcess {
  readonly #child: ChildProcess;
  #printed: string[] = [];
  /** Resolves when the process has ended, for good. */
  readonly ended: Promise<void>;
  /** Where the agent was served last. */
  url: string | undefined;
  /** Under which name its tasks are in the store. */
  name = 'agent';
  /** When it began to start last, in milliseconds since 1970. */
  startedAt = Date.now();
  /** What became of that start; undefined while it goes on. */
  outcome: 'serves' | 'failed' | undefined;

  constructor(
    served: Served,
    heard: { readonly onUrl: (url: string) => void; readonly onLine: (line: string) => void },
  ) {
    const isSource = import.meta.url.endsWith('.ts');
    const program = fileURLToPath(new URL(isSource ? '../main.ts' : './main.js', import.meta.url));
    const { path, port, data, cwd, env } = served;
    const watching = ['--watch', '--watch-preserve-output'];
    this.#child = spawn(
      process.execPath,
      [...process.execArgv, ...watching, program, 'serve-file', path, String(port), data],
      { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } },
    );
    this.ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    eachLine(this.#child.stdout, (line) => {
      const [, label, value = ''] = /^(URL|Name): (\S+)$/.exec(line) ?? [];
      if (label === 'Name') this.name = value;
      else if (label === 'URL') {
        this.url = value;
        this.outcome = 'serves';
        heard.onUrl(value);
      } else this.#print(line, heard.onLine);
    });
    eachLine(this.#child.stderr, (line) => this.#print(line, heard.onLine));
  }

  /** The lines that were printed since the last start, oldest first. */
  get printed(): readonly string[] {
    return this.#printed;
  }

  stop(): void {
    this.#child.kill('SIGTERM');
  }

  #print(line: string, onLine: (line: string) => void): void {
    // What `node --watch` says of a program that it starts again, and of one that ended with an error.
    if (/^Restarting '/.test(line)) {
      this.startedAt = Date.now();
      this.outcome = undefined;
      this.#printed = [];
    } else if (/^Failed running '/.test(line)) this.outcome = 'failed';
    this.#printed.push(line);
    if (this.#printed.length > mostLines) this.#printed.shift();
    onLine(line);
  }
}

/** Calls back with each line that is not empty. */
function eachLine(from: NodeJS.ReadableStream | null, call: (line: string) => void): void {
  let rest = '';
  from?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter(Boolean)) call(line);
  });
}
