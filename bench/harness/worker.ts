import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Questions that a process answers, by name. */
export type Questions = Readonly<Record<string, (params: never) => unknown>>;

type Asked<All extends Questions, Name extends keyof All> = Parameters<All[Name]>[0];
type Answered<All extends Questions, Name extends keyof All> = Awaited<ReturnType<All[Name]>>;

interface Question {
  readonly id: number;
  readonly name: string;
  readonly params: unknown;
}

type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

/** In the process: answers what it is asked until its parent is gone. Questions are answered as they come, not in turn. */
export function answer(questions: Questions): void {
  process.on('message', async ({ id, name, params }: Question) => {
    try {
      const value = await (questions[name] as (params: unknown) => unknown)(params);
      process.send!({ id, value } satisfies Answer);
    } catch (error) {
      process.send!({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on('disconnect', () => process.exit());
  process.send!({ id: 0, value: 'ready' });
}

/** What the process was started with. */
export const given = <Options>(): Options => JSON.parse(process.argv[2] ?? '{}') as Options;

const running = new Set<ChildProcess>();

/** Ends those that a benchmark which failed has left: each holds this process. */
export function killWorkers(): void {
  for (const child of running) child.kill('SIGKILL');
}
process.on('exit', killWorkers);

const waiting = new Set<string>();

/** The questions without an answer so far, with what they ask for. */
export const unanswered = (): readonly string[] => [...waiting];

/** A process of its own that answers questions. */
export class Worker<All extends Questions> {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #ids = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (answer: Answer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    child.once('exit', (code, signal) => {
      running.delete(child);
      for (const settle of this.#waiting.values()) settle({ id: 0, error: `ended with ${code ?? signal}` });
    });
  }

  /**
   * Starts a program of the folder `bench` and waits until it is ready. `flags` are for Node.js; `bench` is that of another
   * checkout, where one is compared with this.
   */
  static async start<All extends Questions>(
    program: string,
    options: unknown = {},
    flags: readonly string[] = [],
    bench = new URL('../', import.meta.url),
  ): Promise<Worker<All>> {
    const path = fileURLToPath(new URL(program, bench));
    const child = fork(path, [JSON.stringify(options)], { execArgv: [...process.execArgv, ...flags] });
    running.add(child);
    const worker = new Worker<All>(child);
    await worker.#answerTo(0);
    return worker;
  }

  /** Rejects with what the process threw, or if it ended. */
  ask<Name extends keyof All & string>(
    name: Name,
    ...[params]: Asked<All, Name> extends undefined ? [] : [Asked<All, Name>]
  ): Promise<Answered<All, Name>> {
    const id = ++this.#ids;
    this.#child.send({ id, name, params } satisfies Question);
    const asked = `${this.#child.spawnargs.slice(1).join(' ')}: ${name} ${JSON.stringify(params)}`;
    waiting.add(asked);
    return this.#answerTo(id).finally(() => waiting.delete(asked)) as Promise<Answered<All, Name>>;
  }

  async stop(): Promise<void> {
    if (!running.has(this.#child)) return;
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    // A contender has nothing to lose; one that hangs must not keep the rest waiting.
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
    await ended;
    clearTimeout(late);
  }

  async #answerTo(id: number): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, resolve);
    const answer = await promise;
    if ('error' in answer) throw new Error(answer.error);
    return answer.value;
  }
}
