import { between, pick } from './random.ts';

/** What the agent is asked to do: travels in the first message of a task. */
export interface Work {
  /** How many chunks before each question, and before the end. */
  readonly chunks: number;
  /** Milliseconds before each chunk. */
  readonly paceMs: number;
  /** How many questions. */
  readonly asks: number;
  /** Whether it goes on after a cancel, until it is forced. */
  readonly stubborn: boolean;
  /** Whether it takes messages that arrive while it runs. */
  readonly takes: boolean;
  /** Whether it keeps in the memory of the task how many chunks there are, and fails if that is wrong later. */
  readonly remembers: boolean;
  /** Whether every fourth chunk throws once, and one between them needs a step that fails at its first try. */
  readonly throws: boolean;
}

/** What one client does with one task. */
export interface TaskPlan {
  readonly name: string;
  /** Which agent: one whose turns are run again, or one whose tasks fail when their process dies. */
  readonly agent: 'rerun' | 'fail';
  readonly work: Work;
  readonly via: 'stream' | 'block' | 'poll';
  /** Milliseconds after the task is known. */
  readonly cancelAfterMs?: number;
  /** Sends a message to the running task when it sees these chunks: the last before a question is the best moment. */
  readonly asides: readonly number[];
  /** Answers no question until everybody else is done. */
  readonly late: boolean;
  /** How often the client leaves its stream: a chance per event. */
  readonly leaves: number;
}

/** How large the plans of a run are at most. */
export interface PlanSize {
  readonly chunks: number;
  /** Milliseconds before a chunk. */
  readonly paceMs: number;
}

/** A plan at random. */
export function randomPlan(random: () => number, name: string, size: PlanSize): TaskPlan {
  const work = {
    chunks: between(random, 1, size.chunks),
    paceMs: between(random, 0, size.paceMs),
    asks: pick(random, [0, 0, 1, 1, 2]),
    stubborn: random() < 0.3,
    takes: random() < 0.5,
    remembers: random() < 0.5,
    throws: random() < 0.3,
  };
  const typicalMs = (work.asks + 1) * work.chunks * (work.paceMs + 3);
  const [cancels, cancelAt] = [random(), random()];
  const chances = Array.from({ length: work.asks + 1 }, random);
  return {
    name,
    agent: random() < 0.75 ? 'rerun' : 'fail',
    work,
    via: pick(random, ['stream', 'stream', 'block', 'poll']),
    leaves: pick(random, [0, 0, 0.1, 0.3]),
    asides: chances.flatMap((chance, n) => (chance < 0.3 ? [(n + 1) * work.chunks - 1] : [])),
    late: work.asks > 0 && random() < 0.2,
    ...(cancels < 0.2 && { cancelAfterMs: Math.floor(cancelAt * typicalMs * 1.2) }),
  };
}
