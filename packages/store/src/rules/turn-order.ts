import type { TurnSchedule } from '../port/lease.ts';
import type { Scope } from '../port/names.ts';

/** The caller and the context of a task. Equal keys of contexts are equal contexts within one scope. */
export interface TurnPlace {
  readonly scope: Scope;
  readonly context: string;
}

/** Counts the turns that run, and says which may start beside them. In memory: a store makes one for each claim. */
export class TurnGate {
  readonly #schedule: TurnSchedule;
  readonly #callers = new Map<Scope, { turns: number; readonly contexts: Map<string, number> }>();
  #turns = 0;

  constructor(schedule: TurnSchedule, running: Iterable<TurnPlace>) {
    this.#schedule = schedule;
    for (const place of running) this.enter(place);
  }

  /** How many more turns may start, of all callers together. */
  get room(): number {
    return Math.max(0, (this.#schedule.concurrency ?? Number.POSITIVE_INFINITY) - this.#turns);
  }

  /** Whether one more turn of this caller may start, in some context. */
  admitsCaller(scope: Scope): boolean {
    const { perCaller = Number.POSITIVE_INFINITY } = this.#schedule;
    return this.room > 0 && (this.#callers.get(scope)?.turns ?? 0) < perCaller;
  }

  admits({ scope, context }: TurnPlace): boolean {
    return this.admitsCaller(scope) && !this.#isFull(this.#callers.get(scope)?.contexts.get(context));
  }

  /** The contexts of a caller in which no turn may start. */
  fullContexts(scope: Scope): string[] {
    const caller = this.#callers.get(scope);
    if (!caller) return [];
    return [...caller.contexts].filter(([, turns]) => this.#isFull(turns)).map(([context]) => context);
  }

  /** One more turn runs. */
  enter({ scope, context }: TurnPlace): void {
    const caller = this.#callers.get(scope) ?? { turns: 0, contexts: new Map() };
    this.#callers.set(scope, caller);
    caller.turns++;
    caller.contexts.set(context, (caller.contexts.get(context) ?? 0) + 1);
    this.#turns++;
  }

  #isFull(turns = 0): boolean {
    return turns >= (this.#schedule.perContext ?? Number.POSITIVE_INFINITY);
  }
}

/**
 * Picks up to `limit` tasks that may start, one of each caller in turn. `callers` has the tasks of each caller, the most
 * urgent first, and the callers in the order in which they come next. Enters what it picks into the gate.
 */
export function pickTurns<Task extends TurnPlace>(
  gate: TurnGate,
  callers: Iterable<Iterable<Task>>,
  limit: number,
): Task[] {
  const picked: Task[] = [];
  let left = Array.from(callers, (tasks) => tasks[Symbol.iterator]());
  while (left.length > 0) {
    left = left.filter((tasks) => {
      if (picked.length >= limit) return false;
      for (let next = tasks.next(); !next.done; next = tasks.next()) {
        if (!gate.admits(next.value)) continue;
        gate.enter(next.value);
        picked.push(next.value);
        return true;
      }
      return false;
    });
  }
  return picked;
}
