import type { ObservedProcess } from '@batonjs/server/adapter';
import type { Attributes, BatchObservableResult, ObservableGauge } from '@opentelemetry/api';
import { attributes } from '../names.ts';
import type { UsedMeter } from './registry.ts';

/** A queue is measured at most once in this many milliseconds, however often gauges are read. */
const measureEveryMs = 5_000;

/** The states in which a task waits for its client. */
const asking = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const;

// biome-ignore format: a table reads best with one row per line
/** The gauges: name, unit, description. Those of a queue are the same in every process: take their maximum, not their sum. */
const gauges = {
  waitingTurns: ['baton.turns.waiting', '{turn}', 'Turns that wait for a process, in the queue of the store'],
  waitingAge: ['baton.turns.waiting.age', 's', 'How long the turn that could have begun longest has waited; 0 if none waits'],
  postponedTurns: ['baton.turns.postponed', '{turn}', 'Turns that go on at a later time, in the queue of the store'],
  questions: ['baton.questions.open', '{task}', 'Tasks that wait for an answer of their client, by state'],
  questionAge: ['baton.questions.age', 's', 'How long the oldest question has been open; 0 without any'],
  waitingWebhooks: ['baton.webhooks.waiting', '{webhook}', 'Webhooks that have not heard of all updates'],
  webhookAge: ['baton.webhooks.waiting.age', 's', 'How long the delivery that could have begun longest has waited; 0 if none waits'],
  deadWebhooks: ['baton.webhooks.dead', '{webhook}', 'Webhooks that were given up'],
  unservedVersions: ['baton.versions.unserved', '{version}', 'Versions of the agent with turns that no process takes'],
  unservedTasks: ['baton.tasks.unserved', '{task}', 'Tasks that wait for one of these versions, of each at most 100'],
  runningTurns: ['baton.turns.running', '{turn}', 'Turns that run in this process'],
  turnLimit: ['baton.turns.limit', '{turn}', 'How many turns may run in this process'],
  loadedTasks: ['baton.tasks.loaded', '{task}', 'Tasks that this process has in memory'],
  ready: ['baton.ready', '1', 'Whether this process can work: 1 or 0'],
  build: ['baton.build.info', '1', 'Always 1; its label is the version of the agent'],
} as const;

type GaugeName = keyof typeof gauges;

type Observe = (gauge: GaugeName, value: number | undefined, labels?: Attributes) => void;

interface Watched extends ObservedProcess {
  readonly reading: () => Promise<Awaited<ReturnType<ObservedProcess['measure']>> | undefined>;
}

/** The servers and workers of this process, as gauges show them. */
export class Observed {
  readonly #processes = new Set<Watched>();
  readonly #registered = new WeakSet<UsedMeter>();

  /** Shows a process until the returned function is called. */
  add(process: ObservedProcess): () => void {
    const watched: Watched = { ...process, reading: everyFewSeconds(() => process.measure()) };
    this.#processes.add(watched);
    return () => this.#processes.delete(watched);
  }

  /** Makes the gauges of a meter, once. */
  register(meter: UsedMeter): void {
    if (this.#registered.has(meter)) return;
    this.#registered.add(meter);
    const made = new Map<string, ObservableGauge>();
    for (const [gauge, [name, unit, description]] of Object.entries(gauges))
      made.set(gauge, meter.createObservableGauge(name, { unit, description }));
    meter.addBatchObservableCallback((result) => this.#observe(result, made), [...made.values()]);
  }

  async #observe(result: BatchObservableResult, made: ReadonlyMap<string, ObservableGauge>): Promise<void> {
    const queues = Map.groupBy(this.#processes, ({ queue }) => queue);
    await Promise.all(
      Array.from(queues, ([queue, processes]) =>
        observeQueue(processes, (name, value, labels) => {
          const gauge = made.get(name);
          if (gauge && value !== undefined)
            result.observe(gauge, value, { [attributes.queue]: queue, ...labels });
        }),
      ),
    );
  }
}

/** Servers and workers of one queue, in one process. */
async function observeQueue(processes: readonly Watched[], observe: Observe): Promise<void> {
  const loads = processes.map((process) => process.load());
  observe('runningTurns', sum(loads.map(({ turns }) => turns)));
  observe('loadedTasks', sum(loads.map(({ tasks }) => tasks)));
  observe('turnLimit', sum(processes.map(({ turnLimit }) => turnLimit)));
  const [first] = processes;
  if (!first) return;
  observe('build', 1, first.version === undefined ? {} : { [attributes.serviceVersion]: first.version });
  const [reading, unserved, ...ready] = await Promise.all([
    first.reading(),
    first.unserved().catch(() => undefined),
    ...processes.map((process) => process.readiness()),
  ]);
  const failing = ready.find(({ isReady }) => !isReady);
  observe('ready', failing ? 0 : 1, failing?.reason ? { [attributes.reason]: failing.reason } : {});
  observe('unservedVersions', unserved?.versions);
  observe('unservedTasks', unserved?.tasks);
  // A store that does not answer has no numbers: 0 would end an alert, or scale in.
  if (!reading) return;
  const { waiting, waitingMs = 0, postponed, questions, questionMs = 0 } = reading;
  observe('waitingTurns', waiting);
  observe('waitingAge', waitingMs / 1_000);
  observe('postponedTurns', postponed);
  if (questions) {
    for (const state of asking)
      observe('questions', questions[state] ?? 0, { [attributes.taskState]: state });
    observe('questionAge', questionMs / 1_000);
  }
  const { undelivered, undeliveredMs = 0, dead } = reading;
  observe('waitingWebhooks', undelivered);
  observe('webhookAge', undeliveredMs / 1_000);
  observe('deadWebhooks', dead);
}

/** The result of the last call, made again after some seconds; undefined if it failed. */
function everyFewSeconds<T>(call: () => Promise<T>): () => Promise<T | undefined> {
  let last: Promise<T | undefined> | undefined;
  let since = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (!last || now - since >= measureEveryMs) {
      since = now;
      last = call().catch(() => undefined);
    }
    return last;
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
