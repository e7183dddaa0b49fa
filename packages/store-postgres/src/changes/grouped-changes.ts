import { StoreError } from '@batonjs/store';
import {
  type Change,
  type Found,
  Group,
  type Grouped,
  type KnownTasks,
  type Moment,
  type Step,
  type TaskRow,
  type Wanted,
} from '@batonjs/store/adapter';
import { changeOf, guessed } from '@batonjs/store/rules';
import { keyOf, momentAt } from '../database/database.ts';
import { isAboutValues, type Transactions } from '../database/postgres-error.ts';
import { foundBy, searchesOf, statementsOf } from '../tables/searches.ts';
import { Collected } from './collected.ts';
import type { SingleChanges } from './single-changes.ts';
import type { Writer } from './writer.ts';

export interface GroupedChangesOptions {
  readonly schema: string;
  readonly single: SingleChanges;
  readonly writer: Writer;
  readonly transactions: Transactions;
  readonly known: KnownTasks;
  /** Called with the number of commits of each transaction. */
  readonly onGroup: ((size: number) => void) | undefined;
}

/** A step that waits for its transaction. */
type Pending = Grouped<Step<unknown>>;

// More of them would keep rows locked for too long.
const largestGroup = 256;

/**
 * Changes of tasks by name, and of records with them. Those that arrive while others are under way share one statement, as far as they can be
 * decided on the tasks as this process wrote them last; the others share a transaction. A change that is refused fails alone; a
 * database that fails fails them all. Resolves once the transaction is committed.
 */
export function groupedChanges(options: GroupedChangesOptions): <T>(step: Step<T>) => Promise<T> {
  const { schema, transactions, writer, single, known, onGroup } = options;

  /** Returns the steps that come after others of the group. */
  async function run(group: readonly Pending[]): Promise<readonly Pending[]> {
    const moment = transactions.clock.moment() ?? momentAt((await transactions.look([])).now);
    const guess = guessOf(known, moment);
    const changes = new Map<Pending, Change<unknown>>();
    const unsure: Pending[] = [];
    const later: Pending[] = [];
    for (const pending of group) {
      const change = guess.add(pending.item);
      if (change === 'later') later.push(pending);
      else if (change === 'unsure') unsure.push(pending);
      else changes.set(pending, change);
    }
    unsure.push(...(await write(changes, guess)));
    return unsure.length > 0 ? [...(await transact(unsure)), ...later] : later;
  }

  /** Returns those whose tasks another process has written meanwhile: they are decided again. */
  async function write(
    changes: ReadonlyMap<Pending, Change<unknown>>,
    { collected }: Guess,
  ): Promise<Pending[]> {
    if (changes.size === 0) return [];
    known.forget([...changes.keys()].flatMap(({ item }) => item.wanted.tasks ?? []));
    try {
      const written = await single.write(collected, [...changes.values()]);
      if (written.size > 0) onGroup?.(written.size);
      for (const [{ resolve }, change] of changes) if (written.has(change)) resolve(change.result);
      return [...changes].flatMap(([pending, change]) => (written.has(change) ? [] : [pending]));
    } catch (error) {
      for (const { reject } of changes.keys()) reject(error);
      return [];
    }
  }

  /** Decides on locked rows, no two steps on the same task. Returns the steps at the end that had no room. */
  async function transact(group: readonly Pending[]): Promise<readonly Pending[]> {
    const [named, ...queues] = wantedBy(group);
    const searches = [named, ...queues].map((wanted) => searchesOf(schema, wanted, 'lock'));
    const outcomes = await transactions.run(async (session, now, opened) => {
      const left = [...opened];
      const [found = {}, ...counts] = searches.map((some) =>
        foundBy(some, left.splice(0, statementsOf(some).length)),
      );
      const waiting = new Map(queues.map(({ waiting: one }, n) => [one.queue, counts[n]?.waiting ?? 0]));
      const decided = decideAll(group, { ...momentAt(now), ...found }, waiting);
      await writer.write(session, decided.collected);
      return decided.outcomes;
    }, statementsOf(searches.flat()));
    const changes = outcomes.flatMap(({ change }) => change ?? []);
    single.wrote(changes);
    for (const { pending, change, refusal } of outcomes)
      if (change) pending.resolve(change.result);
      else pending.reject(refusal);
    if (changes.length > 0) onGroup?.(changes.length);
    return group.slice(outcomes.length);
  }

  const group = new Group<Step<unknown>>({
    most: largestGroup,
    run,
    // One change has what the database does not take: each is tried again on its own, so that it fails alone.
    isOfOne: (error) => error instanceof Error && isAboutValues(error.cause),
  });
  return <T>(step: Step<T>) => group.run(step) as Promise<T>;
}

/** All that a group wants: its tasks in their order and its records, and how many wait in each bounded queue. */
function wantedBy(group: readonly Pending[]) {
  const wanted = group.map(({ item }) => item.wanted);
  const records = [...new Set(wanted.flatMap((one) => one.records ?? []))];
  const named: Wanted = {
    tasks: wanted.flatMap(({ tasks = [] }) => tasks),
    webhooks: wanted.some(({ webhooks }) => webhooks),
    ...(records.length > 0 && { records }),
  };
  const queues = [...new Set(wanted.flatMap((one) => one.waiting?.queue ?? []))].sort();
  return [named, ...queues.map((queue) => ({ waiting: { queue } }))] as const;
}

/** Decides one after the other, until there is no room for the writes of the next one. */
function decideAll(group: readonly Pending[], found: Found, waiting: Map<string, number>) {
  const collected = new Collected();
  const outcomes: { pending: Pending; change?: Change<unknown>; refusal?: StoreError }[] = [];
  const names = new Set(group.flatMap(({ item }) => item.wanted.records ?? []));
  const records = new Map(Array.from(names, (name, n) => [name, found.records?.[n]]));
  let from = 0;
  for (const pending of group) {
    const { tasks: named = [], webhooks, waiting: bounded, ...wanted } = pending.item.wanted;
    const tasks = found.tasks?.slice(from, from + named.length);
    from += named.length;
    try {
      const change = changeOf(pending.item, {
        ...found,
        tasks: webhooks ? tasks : tasks?.map((task) => ({ ...task, webhooks: [] })),
        records: wanted.records?.map((name) => records.get(name)),
        waiting: bounded && waiting.get(bounded.queue),
      });
      if (!collected.hasRoom(change)) break;
      collected.add(change);
      for (const { before, after } of change.tasks ?? []) {
        count(before, -1, waiting);
        count(after, 1, waiting);
      }
      outcomes.push({ pending, change });
    } catch (error) {
      if (!StoreError.is(error)) throw error;
      outcomes.push({ pending, refusal: error });
    }
  }
  return { collected, outcomes };
}

/** Counts a task that waits in one of these queues. */
function count(row: TaskRow | undefined, tasks: number, waiting: Map<string, number>): void {
  const others = row?.waitingSince === undefined ? undefined : waiting.get(row.queue ?? '');
  if (others !== undefined) waiting.set(row?.queue ?? '', others + tasks);
}

type Guess = ReturnType<typeof guessOf>;

/** Decides the steps of a group on what this process knows of their tasks. */
function guessOf(known: KnownTasks, moment: Moment) {
  const collected = new Collected();
  /** The keys of tasks that an earlier step of the group wants. */
  const wanted = new Set<string>();

  function changeOf<T>(step: Step<T>): Change<T> | undefined {
    const { waiting, tasks: wanted = [] } = step.wanted;
    const tasks = known.find(wanted);
    // Records that are wanted with a task mostly are not there, and neither is the task: the statement compares both.
    const records = step.wanted.records?.map(() => undefined);
    if (records && tasks?.some(({ row }) => row)) return undefined;
    // The keys of a task are not known, and tasks with webhooks are not either.
    if (!tasks || tasks.some(({ row }, n) => row && wanted[n]?.once)) return undefined;
    // As if none waited but those of this group: the statement compares how many do.
    const inGroup = waiting && (collected.rooms.get(waiting.queue)?.wanted ?? 0);
    const change = guessed(step, { ...moment, tasks, records, waiting: inGroup });
    const isWhole = change?.tasks?.length === tasks.length && change.tasks.every(({ after }) => after);
    if (!isWhole || change.webhooks || change.queue || change.callers || change.records) return undefined;
    return change;
  }

  function keepRoom({ wanted: { waiting } }: Step<unknown>, { tasks = [] }: Change<unknown>): void {
    if (waiting?.atMost === undefined || !tasks.some(({ after }) => after?.waitingSince !== undefined))
      return;
    const { wanted, most } = collected.rooms.get(waiting.queue) ?? { wanted: 0, most: waiting.atMost };
    const room = { wanted: wanted + 1, most: Math.min(most, waiting.atMost - wanted) };
    collected.rooms.set(waiting.queue, room);
  }

  return {
    /**
     * The change of a step, which is collected. `'later'`: not beside the others of the group. `'unsure'`: it has to be decided
     * on the rows of the database.
     */
    add<T>(step: Step<T>): Change<T> | 'later' | 'unsure' {
      const keys = keysOf(step);
      const isFirst = !keys.some((key) => wanted.has(key));
      for (const key of keys) wanted.add(key);
      if (!isFirst) return 'later';
      const change = changeOf(step);
      if (!change) return 'unsure';
      if (!collected.hasRoom(change)) return 'later';
      collected.add(change);
      if (step.wanted.records) {
        collected.newRecords.push(...step.wanted.records);
        collected.newTasks.push(...keys);
      }
      keepRoom(step, change);
      return change;
    },
    collected,
  };
}

const keysOf = ({ wanted: { tasks = [] } }: Step<unknown>): string[] =>
  tasks.map(({ scope, taskId }) => keyOf(scope, taskId));
