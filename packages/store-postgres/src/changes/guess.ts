import type { Change, KnownTasks, Moment } from '@batonjs/store/adapter';
import { guessed } from '@batonjs/store/rules';
import { Collected } from './collected.ts';
import { hasRoom, type Pending } from './group-transaction.ts';

/** The changes of steps that can be decided on what this process knows of their tasks. */
export class Guess {
  readonly collected = new Collected();
  readonly changes = new Map<Pending, Change<unknown>>();
  readonly #known: KnownTasks;
  readonly #moment: Moment | undefined;
  /** The keys of tasks that an earlier step of the group wants. */
  readonly #wanted = new Set<string>();

  constructor(known: KnownTasks, moment: Moment | undefined) {
    this.#known = known;
    this.#moment = moment;
  }

  add(pending: Pending): void {
    const { tasks } = pending.item;
    const isFirst = !tasks.some(({ key }) => this.#wanted.has(key));
    for (const { key } of tasks) this.#wanted.add(key);
    const change = isFirst ? this.#changeOf(pending) : undefined;
    if (!change) return;
    this.changes.set(pending, change);
    this.collected.add(change);
    const { records } = pending.item.step.wanted;
    if (!records) return;
    this.collected.newRecords.push(...records);
    this.collected.newTasks.push(...tasks.map(({ key }) => key));
  }

  #changeOf({ item: { step, tasks: named } }: Pending): Change<unknown> | undefined {
    const { waiting, tasks: wanted = [] } = step.wanted;
    const tasks = this.#known.find(wanted);
    // Records that are wanted with a task mostly are not there, and neither is the task: the statement compares both.
    const records = step.wanted.records?.map(() => undefined);
    if (records && tasks?.some(({ row }) => row)) return undefined;
    // The keys and the webhooks of a task that has some are not known.
    if (!this.#moment || !tasks || tasks.some(({ row }, n) => row && (row.webhooks > 0 || named[n]?.onceKey)))
      return undefined;
    // How many wait is not known: a task that would wait does not fit.
    const found = { ...this.#moment, tasks, records, waiting: waiting && Number.POSITIVE_INFINITY };
    const change = guessed(step, found);
    const isWhole = change?.tasks?.length === tasks.length && change.tasks.every(({ after }) => after);
    if (!isWhole || change.webhooks || change.queue || change.callers || change.records) return undefined;
    // A task without a row may be one that this process does not know: then there is nothing to compare.
    if (change.tasks?.some(({ before, facts = [] }) => !before && facts.length === 0)) return undefined;
    return hasRoom(this.collected, change) ? change : undefined;
  }
}
