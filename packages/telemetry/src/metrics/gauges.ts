import type { ObservedProcess } from '@batonjs/server/adapter';
import type { Attributes, BatchObservableResult, ObservableGauge } from '@opentelemetry/api';
import { attributes, gaugeNames as names } from '../names.ts';
import type { UsedMeter } from './instruments.ts';

/** A queue is measured at most once in this many milliseconds, however often gauges are read. */
const measureEveryMs = 5_000;

/** The states in which a task waits for its client. */
const asking = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const;

type GaugeName = keyof typeof names;

const gauges: Readonly<Record<GaugeName, readonly [unit: string, description: string]>> = {
  waitingTurns: ['{turn}', 'Turns that wait for a process, in the queue of the store'],
  waitingAge: ['s', 'How long the turn that could have begun longest has waited; 0 if none waits'],
  postponedTurns: ['{turn}', 'Turns that go on at a later time, in the queue of the store'],
  questions: ['{task}', 'Tasks that wait for an answer of their client, by state'],
  questionAge: ['s', 'How long the oldest question has been open; 0 without any'],
  waitingWebhooks: ['{webhook}', 'Webhooks that have not heard of all updates'],
  webhookAge: ['s', 'How long the delivery that could have begun longest has waited; 0 if none waits'],
  deadWebhooks: ['{webhook}', 'Webhooks that were given up'],
  unservedVersions: ['{version}', 'Versions of the agent with turns that no process takes'],
  unservedTasks: ['{task}', 'Tasks that wait for one of these versions, of each at most 100'],
  runningTurns: ['{turn}', 'Turns that run in this process'],
  turnLimit: ['{turn}', 'How many turns may run in this process'],
  loadedTasks: ['{task}', 'Tasks that this process has in memory'],
  ready: ['1', 'Whether this process can work: 1 or 0'],
  build: ['1', 'Always 1; its label is the version of the agent'],
};

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
    const made = new Map<GaugeName, ObservableGauge>();
    for (const name of Object.keys(gauges) as GaugeName[]) {
      const [unit, description] = gauges[name];
      made.set(name, meter.createObservableGauge(names[name], { unit, description }));
    }
    meter.addBatchObservableCallback((result) => this.#observe(result, made), [...made.values()]);
  }

  async #observe(
    result: BatchObservableResult,
    made: ReadonlyMap<GaugeName, ObservableGauge>,
  ): Promise<void> {
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
