import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export interface WorkerSettings {
  /** The file of the program. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ended: Promise<number | null>;
}

/** Worker processes that come and go. */
export class Workers {
  readonly #settings: WorkerSettings;
  readonly #running: Running[] = [];
  readonly #draining = new Set<Promise<number | null>>();
  /** How each worker ended that was asked to. */
  readonly exitCodes: (number | null)[] = [];

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
  }

  get count(): number {
    return this.#running.length;
  }

  get isDraining(): boolean {
    return this.#draining.size > 0;
  }

  async start(): Promise<void> {
    const { program, env } = this.#settings;
    const child = fork(program, {
      env: { ...process.env, ...env },
      execArgv: program.endsWith('.ts') ? ['--conditions=@batonjs/source'] : [],
    });
    const ended = once(child, 'exit').then(([code]) => code as number | null);
    const ready = await Promise.race([once(child, 'message'), ended]);
    if (!Array.isArray(ready)) throw new Error('A worker ended before it was ready');
    this.#running.push({ child, url: (ready[0] as { url: string }).url, ended });
  }

  /** Sends SIGTERM to the one that runs longest, as an orchestrator may to any. Resolves before it has ended. */
  stop(): void {
    const worker = this.#running.shift();
    if (!worker) return;
    worker.child.kill('SIGTERM');
    const ending = worker.ended.then((code) => {
      this.exitCodes.push(code);
      this.#draining.delete(ending);
      return code;
    });
    this.#draining.add(ending);
  }

  /** How many turns run in all of them, as their metrics say. */
  async turns(): Promise<number> {
    const texts = await Promise.all(
      this.#running.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
    );
    return texts.reduce(
      (sum, text) => sum + Number(/^baton_turns_running\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0),
      0,
    );
  }

  async close(): Promise<void> {
    while (this.count > 0) this.stop();
    await Promise.all(this.#draining);
  }
}
