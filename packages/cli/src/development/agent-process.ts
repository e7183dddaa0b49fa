import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

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

/** What the process reports over its channel once it serves: standard output is the agent's, and may say anything. */
export interface AgentReport {
  readonly serves: string;
}

/** The process that serves an agent in development, and again after each change of its files. */
export class AgentProcess {
  readonly #child: ChildProcess;
  #isStopped = false;
  /** Resolves when the process has ended, for good: to its signal or exit code unless `stop` was called. */
  readonly ended: Promise<string | undefined>;

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
    // The process that watches tells of the files that it watches, too.
    this.#child.on('message', (report: Partial<AgentReport>) => {
      if (report.serves !== undefined) heard.onUrl(report.serves);
    });
    for (const input of [this.#child.stdout, this.#child.stderr])
      if (input) createInterface({ input }).on('line', (line) => line && heard.onLine(line));
  }

  stop(): void {
    this.#isStopped = true;
    this.#child.kill('SIGTERM');
  }
}
