import type { Change, KnownTasks, Moment, Step } from '@batonjs/store/adapter';
import { guessed } from '@batonjs/store/rules';
import { keyOf } from '../database/keys.ts';
import { Collected } from './collected.ts';

/** Decides the steps of a group on what this process knows of their tasks. */
export class Guess {
  readonly collected = new Collected();
  readonly #known: KnownTasks;
  readonly #moment: Moment;
  /** The keys of tasks that an earlier step of the group wants. */
  readonly #wanted = new Set<string>();

  constructor(known: KnownTasks, moment: Moment) {
    this.#known = known;
    this.#moment = moment;
  }

  /**
   * The change of a step, which is collected. `'later'`: not beside the others of the group. `'unsure'`: it has to be decided
   * on the rows of the database.
   */
  add<T>(step: Step<T>): Change<T> | 'later' | 'unsure' {
    const keys = keysOf(step);
    const isFirst = !keys.some((key) => this.#wanted.has(key));
    for (const key of keys) this.#wanted.add(key);
    if (!isFirst) return 'later';
    const change = this.#changeOf(step);
    if (!change) return 'unsure';
    if (!this.collected.hasRoom(change)) return 'later';
    this.collected.add(change);
    if (step.wanted.records) {
      this.collected.newRecords.push(...step.wanted.records);
      this.collected.newTasks.push(...keys);
    }
    this.#keepRoom(step, change);
    return change;
  }

  #changeOf<T>(step: Step<T>): Change<T> | undefined {
    const { waiting, tasks: wanted = [] } = step.wanted;
    const tasks = this.#known.find(wanted);
    // Records that are wanted with a task mostly are not there, and neither is the task: the statement compares both.
    const records = step.wanted.records?.map(() => undefined);
    if (records && tasks?.some(({ row }) => row)) return undefined;
    // The keys of a task are not known, and tasks with webhooks are not either.
    if (!tasks || tasks.some(({ row }, n) => row && wanted[n]?.once)) return undefined;
    // As if none waited but those of this group: the statement compares how many do.
    const inGroup = waiting && (this.collected.rooms.get(waiting.queue)?.wanted ?? 0);
    const change = guessed(step, { ...this.#moment, tasks, records, waiting: inGroup });
    const isWhole = change?.tasks?.length === tasks.length && change.tasks.every(({ after }) => after);
    if (!isWhole || change.webhooks || change.queue || change.callers || change.records) return undefined;
    return change;
  }

  #keepRoom({ wanted: { waiting } }: Step<unknown>, { tasks = [] }: Change<unknown>): void {
    if (waiting?.atMost === undefined || !tasks.some(({ after }) => after?.waitingSince !== undefined))
      return;
    const { wanted, most } = this.collected.rooms.get(waiting.queue) ?? { wanted: 0, most: waiting.atMost };
    const room = { wanted: wanted + 1, most: Math.min(most, waiting.atMost - wanted) };
    this.collected.rooms.set(waiting.queue, room);
  }
}

const keysOf = ({ wanted: { tasks = [] } }: Step<unknown>): string[] =>
  tasks.map(({ scope, taskId }) => keyOf(scope, taskId));
