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

/** What the process reports over its channel: standard output is the agent's, and may say anything. */
export type AgentReport =
  | { readonly state: 'starts' }
  | { readonly state: 'serves'; readonly url: string; readonly name: string }
  | { readonly state: 'failed' };

/** The process that serves an agent in development, and again after each change of its files. */
export class AgentProcess {
  readonly #child: ChildProcess;
  #printed: string[] = [];
  #isStopped = false;
  /** Resolves when the process has ended, for good: to its signal or exit code unless `stop` was called. */
  readonly ended: Promise<string | undefined>;
  /** Where the agent was served last. */
  url: string | undefined;
  /** Under which name its tasks are in the store. */
  name = 'agent';
  /** When it began to start last, in milliseconds since 1970. */
  startedAt = Date.now();
  state: AgentReport['state'] = 'starts';

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
      // Nothing is written to its standard input, which closes when this process ends, however it ends.
      { cwd, stdio: ['pipe', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...env } },
    );
    this.ended = new Promise((resolve) =>
      this.#child.once('exit', (code, signal) =>
        resolve(this.#isStopped ? undefined : (signal ?? `exit code ${code}`)),
      ),
    );
    this.#child.on('message', (report: AgentReport) => {
      // The process that watches tells of the files that it watches, too.
      if (!('state' in report)) return;
      this.state = report.state;
      if (report.state === 'starts') this.startedAt = Date.now();
      if (report.state !== 'serves') return;
      this.url = report.url;
      this.name = report.name;
      heard.onUrl(report.url);
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      eachLine(stream, (line) => this.#print(line, heard.onLine));
  }

  /** The lines that were printed since the last start, oldest first. */
  get printed(): readonly string[] {
    return this.#printed;
  }

  stop(): void {
    this.#isStopped = true;
    this.#child.kill('SIGTERM');
  }

  #print(line: string, onLine: (line: string) => void): void {
    // What `node --watch` says of a program that it starts again: it decides only which lines are shown.
    if (/^Restarting '/.test(line)) this.#printed = [];
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
