import type { Scope } from '@batonjs/store';
import type { TaskRow } from '@batonjs/store/adapter';
import { isListedAlike, termsOf } from '@batonjs/store/rules';
import type { Database } from '../sql/database.ts';

/** More tasks than this are many: how many more does not matter. */
const many = 1_000;

/** Where tasks with terms are listed, by each of them: the table `terms`, in the order of lists. */
export class Terms {
  readonly #leave;
  readonly #enter;
  readonly #count;

  constructor(db: Database) {
    this.#leave = db.prepare('DELETE FROM terms WHERE task = ?');
    this.#enter = db.prepare(
      'INSERT INTO terms (scope, term, state, status_at, task_id, task) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#count = db.prepare(
      'SELECT count(*) AS tasks FROM (SELECT 1 FROM terms WHERE scope = ? AND term = ? LIMIT ?)',
    );
  }

  /** Lists a task where it stands now. */
  put(task: number, before: TaskRow | undefined, { scope, taskId, head }: TaskRow): void {
    const [was, is] = [termsOf(before?.head), termsOf(head)];
    if (was.length + is.length === 0 || !head || isListedAlike(before?.head, head)) return;
    if (was.length > 0) this.#leave.run(task);
    for (const term of is)
      this.#enter.run(scope, term, head.state ?? '', Date.parse(head.statusAt), taskId, task);
  }

  /** The terms, those with the fewest tasks first. */
  rarestFirst(scope: Scope, terms: readonly string[]): readonly string[] {
    if (terms.length < 2) return terms;
    const counted = terms.map((term) => ({ term, tasks: Number(this.#count.get(scope, term, many)?.tasks) }));
    return counted.sort((one, other) => one.tasks - other.tasks).map(({ term }) => term);
  }
}
