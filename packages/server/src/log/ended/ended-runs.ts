import { isTerminal, type State, usedTogether } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import { remember } from '@batonjs/protocol/bounded-map';
import type { RecordStore, Scope } from '@batonjs/store';
import { allRecords, changeRecord, keptMs, recordName, type StoreSource } from '../../base/store/records.ts';
import type { Changed, Transition } from '../write/decision.ts';

/** The tasks of an agent that ended within an hour, with what their models used. */
export interface HourRuns extends Readonly<ReturnType<typeof usedTogether>> {
  readonly ended: number;
  readonly failed: number;
  /** How many took 2^(n/2) milliseconds or less, from their message to their end, and no less than a step before: by n. */
  readonly took: Readonly<Record<string, number>>;
}

/** A caller of whom an agent has had a task. */
export interface KnownCaller {
  readonly scope: Scope;
  readonly caller?: string | undefined;
  readonly tenant?: string | undefined;
  /** ISO 8601, UTC. */
  readonly since: string;
}

const [runsKind, callersKind] = ['runs', 'callers'];
/** How long what ended waits for others to be written with, in milliseconds. It is lost with a process that is killed. */
const everyMs = 2_000;
/** A caller is written again after so long, in milliseconds: it may have been erased. */
const knownMs = 3_600_000;
const mostKnown = 10_000;

/** Those of an hour as they are counted: in place, as this is on the way of each task. */
type Counting = { -readonly [Name in keyof HourRuns]: HourRuns[Name] } & {
  readonly took: Record<string, number>;
};

export type EndedRuns = ReturnType<typeof endedRuns>;

/** Keeps, for the first page of an inspector, how many tasks of an agent ended in each hour, and who its callers are. */
export function endedRuns(queue: string, { store, clock, report }: StoreSource) {
  const known = new Map<Scope, number>();
  let callers: KnownCaller[] = [];
  let hours = new Map<string, Counting>();
  let waiting: AbortController | undefined;
  let writing = Promise.resolve();

  /** Resolves once all that was seen so far is written, also what another call writes. */
  function writeAll(): Promise<void> {
    waiting?.abort();
    waiting = undefined;
    writing = writing.then(write);
    return writing;
  }

  async function write(): Promise<void> {
    const [some, ended] = [callers, hours];
    [callers, hours] = [[], new Map()];
    try {
      for (const caller of some) {
        const options = { ttlMs: keptMs, scope: caller.scope };
        const name = recordName(callersKind, queue, caller.scope);
        await changeRecord<KnownCaller>(store, name, (before) => ({ ...caller, ...before }), options);
      }
      for (const [hour, runs] of ended)
        await changeRecord<HourRuns>(
          store,
          recordName(runsKind, queue, hour),
          (before) => (before ? together(before, runs) : runs),
          { ttlMs: keptMs },
        );
    } catch (error) {
      report('What ended was not counted', { error });
    }
  }

  function isUnknown(scope: Scope): boolean {
    const now = clock.now();
    if (now - (known.get(scope) ?? 0) <= knownMs) return false;
    remember(known, scope, now, mostKnown);
    return true;
  }

  function count(to: TaskState, at: string, { createdAt, tokens = 0, costs }: State): void {
    const hour = at.slice(0, 13);
    const runs = hours.get(hour) ?? { ended: 0, failed: 0, took: {}, tokens: 0, costs: {} };
    hours.set(hour, runs);
    const step = Math.ceil(2 * Math.log2(Math.max(1, Date.parse(at) - Date.parse(createdAt))));
    runs.took[step] = (runs.took[step] ?? 0) + 1;
    runs.ended += 1;
    if (to === 'TASK_STATE_FAILED') runs.failed += 1;
    runs.tokens += tokens;
    if (costs) runs.costs = usedTogether(runs, { tokens: 0, costs }).costs;
  }

  return {
    /** A task of this scope has changed so. Reads and writes nothing now. On the way of each commit. */
    saw({ from, to, at, caller, tenant }: Transition, { scope, state }: Changed): void {
      const isNew = !from && (caller !== undefined || tenant !== undefined) && isUnknown(scope);
      if (isNew) callers.push({ scope, caller, tenant, since: at });
      const hasEnded = state.closed && isTerminal(to);
      if (hasEnded) count(to, at, state);
      if (waiting || !(isNew || hasEnded)) return;
      waiting = new AbortController();
      const { signal } = waiting;
      void clock.sleep(everyMs, signal, 'idle').then(() => (signal.aborted ? undefined : writeAll()));
    },
    /** Writes what has ended so far. */
    close: writeAll,
  };
}

/** Those of two that are of the same hour, or of one day. */
export const together = (one: HourRuns, other: HourRuns): HourRuns => {
  const took = { ...one.took };
  for (const [step, count] of Object.entries(other.took)) took[step] = (took[step] ?? 0) + count;
  const [ended, failed] = [one.ended + other.ended, one.failed + other.failed];
  return { ...usedTogether(one, other), ended, failed, took };
};

/** The tasks that ended since the hour of a time, in milliseconds since 1970, by hour: `2026-11-30T13`, of UTC. */
export async function runsSince(store: RecordStore, queue: string, ms: number) {
  const prefix = recordName(runsKind, queue, '');
  const after = `${prefix}${new Date(ms - 3_600_000).toISOString().slice(0, 13)}`;
  const records = await allRecords(store, { prefix, after });
  return new Map(records.map(({ name, value }) => [name.slice(prefix.length), value as HourRuns]));
}

/** Up to ten thousand callers of whom the agent has had a task, the first one first. */
export async function callersOf(store: RecordStore, queue: string): Promise<readonly KnownCaller[]> {
  const records = await allRecords(store, { prefix: recordName(callersKind, queue, '') });
  const callers = records.map(({ value }) => value as KnownCaller);
  return callers.sort((one, other) => (one.since < other.since ? -1 : 1)).slice(0, mostKnown);
}
