import type { TaskName } from '@batonjs/store';
import type { Database, KeptTask } from './database.ts';

/** How many are known at most. They are read again after that. */
const most = 1_024;

export type KnownTasks = ReturnType<typeof knownTasksOf>;

/**
 * Rows of open tasks as this connection wrote them last, so that its next write need not read them. Only inside a
 * transaction that writes, which no other one changes: they are those of the file unless another connection has committed
 * since, and `data_version` says whether one has.
 */
export function knownTasksOf(db: Database) {
  const rows = new Map<string, KeptTask>();
  let seen: unknown;
  let isWriting = false;
  const versionOf = db.prepare('PRAGMA data_version');

  /** To be called for each row that is deleted. */
  function forget(name: TaskName): void {
    rows.delete(keyOf(name));
  }

  return {
    afterBegin(): void {
      const version = versionOf.get()?.data_version;
      if (version !== seen) rows.clear();
      seen = version;
      isWriting = true;
    },
    afterCommit(): void {
      isWriting = false;
    },
    afterRollback(): void {
      isWriting = false;
      rows.clear();
    },
    find: (name: TaskName): KeptTask | undefined => (isWriting ? rows.get(keyOf(name)) : undefined),
    /** To be called for each row that is written. */
    note(row: KeptTask): void {
      // Hardly anything is written to a task whose log is closed.
      if (!isWriting || row.head?.closed) {
        forget(row);
        return;
      }
      if (rows.size === most) rows.clear();
      rows.set(keyOf(row), row);
    },
    forget,
    /** To be called by statements that change rows of many tasks. */
    forgetAll: (): void => void rows.clear(),
  };
}

const keyOf = ({ scope, taskId }: TaskName): string => `${taskId}\n${scope}`;
