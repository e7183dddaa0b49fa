import type { TaskRow } from '../port/rows.ts';
import { type Change, changedRow, isIdle, type Replaced, type Step } from '../rules/change.ts';
import { nameOf } from '../rules/claim.ts';

/** How often the tasks of a change that do not depend on each other are decided again. */
const mostRounds = 20;

/** A change, and how it was decided. */
interface Decided<T> {
  readonly change: Change<T>;
}

type Write = Replaced<TaskRow>;

/** What a database does that writes a change only if what it was decided on is still so. */
export interface Comparing<T, One extends Decided<T>> {
  /** The change on what this process knows; undefined if that is not enough. */
  guess(): One | undefined | Promise<One | undefined>;
  /** The change on the rows of the database. */
  decide(): Promise<One>;
  /** Resolves to whether the change was written. */
  write(decided: One): Promise<boolean>;
  /** Writes those tasks of a change by themselves. Resolves to those that were written. */
  writeEach(decided: One, tasks: readonly Write[]): Promise<readonly Write[]>;
  /** How many tasks of a claim are written together. */
  readonly mostTogether: number;
}

/** Decides changes, compares, and decides again until they are written. */
export class ComparedChanges {
  readonly #queues = new KeyQueues();

  /** Changes of the same task run one after the other: a turn that writes all the time would keep its lease from being renewed. */
  run<T, One extends Decided<T>>(step: Step<T>, database: Comparing<T, One>): Promise<T> {
    const { tasks } = step.wanted;
    return tasks ? this.#queues.run(tasks.map(nameOf), () => run(step, database)) : run(step, database);
  }
}

async function run<T, One extends Decided<T>>({ wanted }: Step<T>, database: Comparing<T, One>): Promise<T> {
  const isNamed = wanted.tasks !== undefined;
  const done = new Set<string>();
  const isDone = (task: Write) => done.has(nameOf(changedRow(task)));
  let guessed = isNamed ? await database.guess() : undefined;
  for (let round = 1; ; round++) {
    const decided = guessed ?? (await database.decide());
    guessed = undefined;
    const { change } = decided;
    if (isIdle(change)) return change.result;
    const { partly, tasks = [] } = change;
    // A claim takes all that it was decided to take, as long as one write can hold it: then none is left over.
    if (!partly || (!isNamed && tasks.length <= database.mostTogether)) {
      if (await database.write(decided)) return change.result;
      continue;
    }
    const left = tasks.filter((task) => !isDone(task));
    for (const task of await database.writeEach(decided, left)) done.add(nameOf(changedRow(task)));
    const written = tasks.filter(isDone);
    // A claim leaves to others what they wrote. A lease that is renewed must not be lost to its own process.
    const isEnough = isNamed ? written.length === tasks.length : written.length > 0;
    if (isEnough || round === mostRounds) return partly(written);
  }
}

/** Runs the changes of a key one after the other, so that they do not make each other fail. */
export class KeyQueues {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Waits for the changes of all these keys that were given before. */
  run<T>(keys: readonly string[], change: () => Promise<T>): Promise<T> {
    const before = keys.flatMap((key) => this.#last.get(key) ?? []);
    const running = before.length === 0 ? change() : Promise.allSettled(before).then(change);
    for (const key of keys) this.#last.set(key, running);
    const done = () => {
      for (const key of keys) if (this.#last.get(key) === running) this.#last.delete(key);
    };
    running.then(done, done);
    return running;
  }
}
