import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamResponse, Task, TaskState } from '@batonjs/protocol';
import { checkHistory } from '../../test/histories/history.ts';
import { scopeOf } from '../../test/kit/scope.ts';
import type { Work } from '../workload/plan.ts';
import { between, seeded } from '../workload/random.ts';
import { readLogs } from '../workload/verdict.ts';
import { Refused } from '../workload/wire.ts';
import { Fleet } from './fleet.ts';
import { httpWire } from './http-wire.ts';
import { mediumOf } from './medium.ts';
import type { ChaosOptions } from './options.ts';

/** How a race between cancels and completions went. */
export interface CancelsReport {
  readonly cancels: number;
  readonly canceled: number;
  readonly completed: number;
  /** Clients that got another state than the store has, or no definite one. */
  readonly lost: number;
  readonly details: readonly string[];
}

const atOnce = 16;
const patienceMs = 20_000;
const mostChunks = 200;

/** Cancels tasks through one process just when they complete in another, and compares what every client got. */
export async function raceCancels(cancels: number, options: ChaosOptions): Promise<CancelsReport> {
  const { store: name, seed, sabotage } = options;
  const medium = mediumOf(name);
  const place = await medium.prepare(options.url);
  const orders = { store: name, location: place.location, leaseMs: 4_000, seed, sabotage, faults: false };
  const fleet = new Fleet(new URL('./server.ts', import.meta.url), orders);
  const answered = new Map<string, TaskState[]>();
  const details: string[] = [];
  let begun = 0;
  /** How long the next task is: longer after one that completed, so that both ends come up on a slow machine too. */
  let chunks = 4;

  async function race(n: number): Promise<void> {
    const random = seeded(`${seed} cancel ${n}`);
    const [here, there] = n % 2 === 0 ? fleet.origins : fleet.origins.toReversed();
    const [one, other] = [here, there].map((origin) => httpWire(`${origin}/rerun/`, patienceMs));
    if (!one || !other) throw new TypeError('There are two servers');
    const work: Work = {
      chunks,
      paceMs: 4,
      asks: 0,
      stubborn: random() < 0.5,
      takes: false,
      remembers: false,
      throws: false,
    };
    const message = { messageId: `cancel-${n}`, role: 'ROLE_USER', parts: [{ data: { ...work } }] };
    let taskId = '';
    const heard: TaskState[] = [];
    let canceling = Promise.resolve();
    for await (const { event } of one.stream('SendStreamingMessage', { message })) {
      const state = stateIn(event);
      if (state) heard.push(state);
      if (!('task' in event)) continue;
      taskId = event.task.id;
      canceling = sleep(between(random, 0, 30)).then(async () => {
        heard.push(await cancel(other, taskId));
      });
    }
    await canceling;
    const completed = heard.at(-1) === 'TASK_STATE_COMPLETED';
    chunks = completed ? Math.min(chunks + 2, mostChunks) : Math.max(chunks - 2, 1);
    for (const wire of [one, other])
      heard.push(((await wire.call('GetTask', { id: taskId })) as Task).status.state);
    answered.set(taskId, heard.slice(-4));
  }

  async function client(): Promise<void> {
    while (begun < cancels) {
      const n = begun++;
      await race(n).catch((error: unknown) => details.push(`cancel-${n}: ${error}`));
    }
  }

  try {
    await fleet.start(2);
    await Promise.all(Array.from({ length: atOnce }, client));
    const store = await medium.open(place.location);
    const logs = await readLogs(store, [scopeOf('rerun')]);
    await store.close();
    const states = logs.map(({ head }) => head.state);
    for (const { taskId, head } of logs) {
      const wrong = answered.get(taskId)?.filter((state) => state !== head.state) ?? ['nothing'];
      if (wrong.length > 0) details.push(`${taskId} is ${head.state}, and clients got ${wrong}`);
    }
    for (const { taskId, message } of checkHistory({ logs, settled: true }))
      details.push(`${taskId}: ${message}`);
    const count = (state: TaskState) => states.filter((one) => one === state).length;
    return {
      cancels: logs.length,
      canceled: count('TASK_STATE_CANCELED'),
      completed: count('TASK_STATE_COMPLETED'),
      lost: details.length,
      details,
    };
  } finally {
    await fleet.close();
    await place.remove();
  }
}

/** What a client that cancels learns: the state that comes back, or of the refusal that it completed. */
async function cancel(wire: ReturnType<typeof httpWire>, id: string): Promise<TaskState> {
  try {
    return ((await wire.call('CancelTask', { id })) as Task).status.state;
  } catch (error) {
    if (error instanceof Refused && error.reason === 'TASK_NOT_CANCELABLE') return 'TASK_STATE_COMPLETED';
    throw error;
  }
}

const stateIn = (event: StreamResponse): TaskState | undefined => {
  if ('task' in event) return event.task.status.state;
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined;
};
