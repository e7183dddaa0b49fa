import { unlessAborted } from '@batonjs/protocol/timing';
import type { TaskName } from '@batonjs/store';
import { changeRecord, recordName } from '../../base/store/records.ts';
import { mustBePositive } from '../../base/timeouts.ts';
import type { RunLimit } from '../../turns/steps/run-limit.ts';
import type { Dependencies } from '../call/call-context.ts';
import type { RunningSchedules } from './recurring-task.ts';

/** How long a run lasts. */
export interface RunDueOptions {
  /** How long the run may take in all, in milliseconds: less than the host gives. It claims nothing in its last third. */
  readonly forMs: number;
  /** Aborted when the run should end early: from then on it claims nothing, and hands turns on. */
  readonly signal?: AbortSignal | undefined;
}

/** What a run did. */
export interface DueRun {
  /** How many tasks it worked on. */
  readonly turns: number;
  /** When something is due next, in milliseconds since 1970: now if a turn was handed on. Undefined: nothing is. */
  readonly nextAt: number | undefined;
}

/** How much of its time a run keeps for its last writes, and before that for steps that run, at most: in milliseconds. */
const [mostForWrites, mostForSteps] = [5_000, 60_000];

/**
 * A part of a server that works for a time, once. `work` resolves when all that was begun is over or given back. `wholeMs`:
 * the time of a whole run, if this one has only the rest of it.
 */
function bounded(
  source: RunSource,
  forMs: number,
  signals: readonly AbortSignal[],
  delivers: boolean,
  wholeMs = forMs,
) {
  const { clock } = source;
  const [stop, over] = [new AbortController(), new AbortController()];
  const did = { forMs: wholeMs, ending: AbortSignal.any([stop.signal, ...signals]), turns: 0 };
  const { rounds, start, close } = source.begin(did, delivers);
  const lastMs = forMs - Math.min(forMs / 10, mostForWrites);
  const lastAt = clock.monotonic() + lastMs;
  void clock.sleep(lastMs - Math.min(lastMs / 3, mostForSteps), over.signal).then(() => stop.abort());
  return {
    did,
    rounds,
    async work(only?: TaskName): Promise<void> {
      await unlessAborted(start(only), did.ending).catch(() => {});
      await close(Math.max(0, lastAt - clock.monotonic()));
    },
    end: () => over.abort(),
  };
}

/** The parts of a server that its runs are made with. */
interface RunSource extends Pick<Dependencies, 'clock' | 'options' | 'owners' | 'report' | 'store'> {
  readonly schedules?: RunningSchedules | undefined;
  readonly closing: AbortSignal;
  readonly begin: (
    limit: RunLimit,
    delivers: boolean,
  ) => {
    readonly rounds: readonly { once(): Promise<void>; close(): Promise<void> }[];
    start(only?: TaskName): Promise<void> | undefined;
    close(graceMs: number): Promise<void>;
  };
}

/** A signed call of a run: its id, and the time, in milliseconds since 1970, from which its signature counts no more. */
type Tick = readonly [id: string, until: number];

/** What a store remembers of the runs of a queue: when the last began that had something to do, and the ticks of such runs. */
export interface LastRun {
  readonly at: number;
  readonly ticks: readonly Tick[];
}

export const lastRunOf = (queue: string): string => recordName('due-runs', queue);

/** Notes that a run begins. Resolves to whether it may: its tick was not there before. */
async function begins({ store, clock, options }: RunSource, tick: Tick | undefined): Promise<boolean> {
  let isRepeated = false;
  await changeRecord<LastRun>(store, lastRunOf(options.queue), (last) => {
    const at = clock.now();
    // A repeat counts for as long as this tick, which was in time before the store was asked.
    const ticks = last?.ticks.filter(([, until]) => until >= Math.min(at, tick?.[1] ?? at)) ?? [];
    isRepeated = ticks.some(([id]) => id === tick?.[0]);
    return isRepeated ? undefined : { at, ticks: [...ticks, ...(tick ? [tick] : [])].slice(-500) };
  });
  return !isRepeated;
}

/** See `AgentServer.runDue` and `Inside.runDue`. Rejects if the store fails. A tick is looked up only where something is due. */
export async function runDue(
  source: RunSource,
  { forMs, signal }: RunDueOptions,
  { tick, wholeMs }: { readonly tick?: Tick | undefined; readonly wholeMs?: number } = {},
): Promise<DueRun | undefined> {
  const { store, clock, owners, schedules, closing } = source;
  const { queue, run } = source.options;
  if (run !== 'due') throw new TypeError("`runDue` needs `run: 'due'`: this server works by itself");
  mustBePositive('runDue', { forMs });
  const { did, rounds, work, end } = bounded(source, forMs, [closing, signal ?? closing], true, wholeMs);
  // A store that does not tell is asked for work each time.
  const nextMs = async (unknown?: number) => (store.measure ? (await store.measure(queue)).nextMs : unknown);
  try {
    const scheduledAt = await schedules?.due(did.ending);
    let inMs = await nextMs(0);
    did.ending.addEventListener('abort', () => rounds.map((one) => one.close()));
    const deleted = Promise.all(rounds.map((one) => one.once()));
    if (inMs === 0 && !did.ending.aborted && (await owners.refusal()) === undefined) {
      if (!(await begins(source, tick))) return undefined;
      await work();
      inMs = await nextMs();
    }
    await deleted;
    const at = Math.min(
      scheduledAt ?? Number.POSITIVE_INFINITY,
      clock.now() + (inMs ?? Number.POSITIVE_INFINITY),
    );
    return { turns: did.turns, nextAt: Number.isFinite(at) ? at : undefined };
  } finally {
    end();
  }
}

/** Works on the task of a call that waits for it. Returns what ends that. Deliveries are left to the next run. */
export function workInCall(source: RunSource, task: TaskName): () => Promise<void> {
  const left = new AbortController();
  const { work, end } = bounded(source, source.options.timeouts.blockingMs, [left.signal], false);
  const working = work(task).catch((error: unknown) =>
    source.report('Could not work on a task', { taskId: task.taskId, error }),
  );
  return async () => {
    left.abort();
    await working;
    end();
  };
}
