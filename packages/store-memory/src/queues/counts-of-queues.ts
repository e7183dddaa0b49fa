import type { TaskRow } from '@batonjs/store/adapter';
import { countedAs, isAsking, type QueueCounts } from '@batonjs/store/rules';
import { PriorityQueues, type Queued } from '../order/priority-queues.ts';

/** A task that asks its client. */
class Question implements Queued {
  queued: Queued['queued'];
}

/** Counts the tasks of each queue that ask, and those that are postponed. Holds nothing for other tasks. */
export class CountsOfQueues {
  readonly #questions = new Map<object, Question>();
  readonly #asked = new PriorityQueues<Question>();
  readonly #tasks = new Map<string, Map<string, number>>();

  /** Called for every row that replaces another. `task`: the same object each time. */
  replace(task: object, before: TaskRow | undefined, after: TaskRow | undefined): void {
    const was = countedAs(before);
    const is = countedAs(after);
    if (was === undefined && is === undefined) return;
    if (before?.queue !== undefined && was !== undefined) this.#add(before.queue, was, -1);
    if (after?.queue !== undefined && is !== undefined) this.#add(after.queue, is, 1);
    const known = this.#questions.get(task);
    if (known) this.#asked.delete(known);
    if (after?.queue === undefined || !isAsking(after)) {
      if (known) this.#questions.delete(task);
      return;
    }
    const question = known ?? new Question();
    this.#questions.set(task, question);
    this.#asked.set(question, after.queue, Date.parse(after.head?.statusAt ?? ''));
  }

  of(queue: string): QueueCounts {
    const tasks = Object.fromEntries(this.#tasks.get(queue) ?? []);
    return { tasks, askedAt: this.#asked.first(queue) };
  }

  #add(queue: string, name: string, tasks: number): void {
    const names = this.#tasks.get(queue) ?? new Map<string, number>();
    this.#tasks.set(queue, names);
    const count = (names.get(name) ?? 0) + tasks;
    if (count === 0) names.delete(name);
    else names.set(name, count);
    if (names.size === 0) this.#tasks.delete(queue);
  }
}
