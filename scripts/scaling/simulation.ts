import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentServer, createAgentServer, taskAgent } from '@batonjs/server';
import { openStore } from '../../apps/sample-store/src/open-store.ts';
import { rpc, say } from '../../test/kit/rpc.ts';
import { Workers } from './workers.ts';

export interface SimulationOptions {
  /** The address of the store, as `BATON_STORE` has it. */
  readonly store: string;
  /** The program of a worker. */
  readonly program: string;
  /** How many tasks are sent. */
  readonly tasks: number;
  /** How many turns run in one worker. */
  readonly turns: number;
  /** How long a turn waits, as for a model. In milliseconds. */
  readonly turnMs: number;
  /** How many turns go on until a worker was taken away. Default 0. */
  readonly held?: number;
}

/** What became of the tasks. */
export interface Outcome {
  readonly tasks: number;
  readonly completed: number;
  /** Tasks that did not complete. */
  readonly lost: number;
  /** Effects that were done more than once. */
  readonly doubled: number;
  /** From the first worker, for which all tasks wait, to the end of the last task. */
  readonly ms: number;
}

/** A server that leaves turns to workers, its workers, and what they did. */
export class Simulation {
  readonly workers: Workers;
  readonly #options: SimulationOptions;
  readonly #server: AgentServer;
  readonly #store: Awaited<ReturnType<typeof openStore>>;
  readonly #queue: string;
  readonly #folder: string;

  private constructor(
    options: SimulationOptions,
    store: Awaited<ReturnType<typeof openStore>>,
    folder: string,
  ) {
    const { turns, turnMs, program, store: url } = options;
    this.#options = options;
    this.#store = store;
    this.#folder = folder;
    this.#queue = `scaling-${randomUUID()}`;
    this.#server = createAgentServer({
      name: this.#queue,
      card: { name: 'Scaling', description: 'Runs in workers' },
      agent: taskAgent(async function* () {}),
      run: 'workers',
      store,
      limits: { queuedTurns: 1_000_000 },
      logger: () => {},
    });
    const env = {
      BATON_STORE: url,
      QUEUE: this.#queue,
      TURNS: String(turns),
      TURN_MS: String(turnMs),
      EFFECTS: join(folder, 'effects'),
      RELEASED: join(folder, 'released'),
    };
    this.workers = new Workers({ program, env });
  }

  static async open(options: SimulationOptions): Promise<Simulation> {
    const folder = mkdtempSync(join(tmpdir(), 'baton-scaling-'));
    return new Simulation(options, await openStore(options.store, { shared: true }), folder);
  }

  /** Sends all tasks, some at once. */
  async send(): Promise<void> {
    const { tasks, held = 0 } = this.#options;
    let sent = 0;
    const configuration = { returnImmediately: true };
    const sender = async () => {
      while (sent < tasks) {
        const message = say(sent++ < held ? 'hold' : 'go');
        await rpc(this.#server, 'SendMessage', { message, configuration });
      }
    };
    await Promise.all(Array.from({ length: 32 }, sender));
  }

  /** How many turns wait for a worker: what an autoscaler reads as `baton_turns_waiting`. */
  async waiting(): Promise<number> {
    return (await this.#store.measure?.(this.#queue))?.waiting ?? this.#store.waiting(this.#queue);
  }

  /** Lets the turns end that are held. */
  release(): void {
    writeFileSync(join(this.#folder, 'released'), '');
  }

  async #count(state: string): Promise<number> {
    const page = await rpc(this.#server, 'ListTasks', { status: `TASK_STATE_${state}`, pageSize: 1 });
    return page.totalSize;
  }

  async isOver(): Promise<boolean> {
    const states = await Promise.all(['COMPLETED', 'FAILED', 'CANCELED'].map((state) => this.#count(state)));
    return states.reduce((sum, one) => sum + one, 0) >= this.#options.tasks;
  }

  /** What became of the tasks, `since` a time of `performance.now()`. */
  async outcome(since: number): Promise<Outcome> {
    const ms = Math.round(performance.now() - since);
    const completed = await this.#count('COMPLETED');
    const file = join(this.#folder, 'effects');
    const effects = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    const { tasks } = this.#options;
    return {
      tasks,
      completed,
      lost: tasks - completed,
      doubled: effects.length - new Set(effects).size,
      ms,
    };
  }

  async close(): Promise<void> {
    await this.workers.close();
    await this.#server.close({ graceMs: 0 });
    await this.#store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** How long a fixed number of workers takes for a queue that is full when they start. */
export async function drain(options: SimulationOptions & { readonly workers: number }): Promise<Outcome> {
  const simulation = await Simulation.open(options);
  try {
    await simulation.send();
    const began = performance.now();
    await Promise.all(Array.from({ length: options.workers }, () => simulation.workers.start()));
    while (!(await simulation.isOver())) await sleep(100);
    return await simulation.outcome(began);
  } finally {
    await simulation.close();
  }
}

/** The outcome of an autoscaled run. */
export interface Scaled extends Outcome {
  /** The most workers at a time. */
  readonly most: number;
  /** How many workers were taken away while tasks were open. */
  readonly takenAway: number;
  /** How many of them ran a turn when they were asked to end. */
  readonly inTheMiddle: number;
  /** How all workers ended. */
  readonly exitCodes: readonly (number | null)[];
}

/** Workers that come and go with the queue, as KEDA has them: by what waits and what runs, in one at a time. */
export async function autoscale(
  options: SimulationOptions & { readonly most: number; readonly everyMs: number },
): Promise<Scaled> {
  const simulation = await Simulation.open(options);
  const { workers } = simulation;
  const target = Math.max(1, Math.floor(options.turns * 0.7));
  let [most, takenAway, inTheMiddle] = [0, 0, 0];
  try {
    await simulation.send();
    const began = performance.now();
    await workers.start();
    while (!(await simulation.isOver())) {
      const running = await workers.turns();
      const wanted = Math.min(
        options.most,
        Math.max(1, Math.ceil(((await simulation.waiting()) + running) / target)),
      );
      if (wanted > workers.count)
        await Promise.all(Array.from({ length: wanted - workers.count }, () => workers.start()));
      else if (wanted < workers.count && !workers.isDraining) {
        takenAway += 1;
        if (running > 0) inTheMiddle += 1;
        workers.stop();
        simulation.release();
      }
      most = Math.max(most, workers.count);
      await sleep(options.everyMs);
    }
    const outcome = await simulation.outcome(began);
    await workers.close();
    return { ...outcome, most, takenAway, inTheMiddle, exitCodes: workers.exitCodes };
  } finally {
    await simulation.close();
  }
}
