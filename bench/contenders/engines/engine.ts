/** What the programs of all engines have in common: the task, and who runs it again and again. */
import { setTimeout as pause } from 'node:timers/promises';
import { inTurn } from '../../harness/in-turn.ts';
import { median } from '../../harness/measure.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import type { StoreChoice } from '../stores.ts';

/** How a program is started. */
export type EngineOptions = (
  | StoreChoice
  | { readonly store: 'restate'; readonly ingress: string; readonly admin: string; readonly port: number }
) & {
  /** Where the engines are installed. */
  readonly engines?: string;
  /** The second step never ends: its process is killed there. */
  readonly stays?: boolean;
  /** Of Baton, in milliseconds. */
  readonly lease?: number;
};

/** What a step records. */
export interface Recorded {
  readonly i: number;
  /** The process that ran the first step. */
  readonly first: number;
  readonly text: string;
}

/** An engine with its task in this process: three steps, whose last result is the task's, as `resultOf` says it. */
export interface Engine {
  /** Runs a task to its end. */
  run(): Promise<string>;
  /** So many tasks run at a time from now on, where an engine has to know. */
  prepare?(atATime: number): Promise<unknown>;
  /** Starts a task; resolves to its id. */
  begin?(): Promise<string>;
  /** Resolves once a task has ended that another process began. */
  result?(id: string): Promise<string>;
}

export const options = given<EngineOptions>();

let stepMs = 0;
const inSecond = Promise.withResolvers<void>();

/** One step, given what the one before has recorded. */
export async function step(before?: Recorded): Promise<Recorded> {
  if (options.stays && before?.i === 1) {
    inSecond.resolve();
    await new Promise(() => {});
  }
  if (stepMs > 0) await pause(stepMs);
  return { i: (before?.i ?? 0) + 1, first: before?.first ?? process.pid, text: 'x'.repeat(100) };
}

export const resultOf = ({ i, first }: Recorded): string => `${i} ${first}`;

/** A part of a measurement: closed loops, for so many milliseconds. */
export interface Drive {
  readonly forMs: number;
  readonly atATime: number;
  readonly stepMs: number;
}

/** Answers the questions of the benchmark with this engine. */
export function serve(engine: Engine): void {
  // An engine whose connections do not hold the process is not to end it.
  setInterval(() => {}, 60_000);
  answer({ ...questionsOf(engine), ...vitals });
}

const questionsOf = (engine: Engine) => ({
  async drive({ forMs, atATime, stepMs: ms }: Drive) {
    stepMs = ms;
    await engine.prepare?.(atATime);
    const latencies: number[] = [];
    const expected = `3 ${process.pid}`;
    const start = performance.now();
    await inTurn(atATime, atATime, async () => {
      while (performance.now() - start < forMs) {
        const began = performance.now();
        const result = await engine.run();
        if (result !== expected) throw new Error(`A wrong result: ${result}`);
        latencies.push(performance.now() - began);
      }
    });
    const took = performance.now() - start;
    latencies.sort((a, b) => a - b);
    return {
      tasks: latencies.length,
      ms: took,
      p50: median(latencies),
      p99: latencies[Math.floor(latencies.length * 0.99)]!,
    };
  },
  /** Starts a task; resolves to its id, once it is in the second step. */
  async begin(): Promise<string> {
    const id = await engine.begin!();
    await inSecond.promise;
    return id;
  },
  result: (id: string) => engine.result!(id),
  pid: () => process.pid,
  die: () => process.kill(process.pid, 'SIGKILL'),
});

export type EngineProgram = ReturnType<typeof questionsOf> & typeof vitals;
