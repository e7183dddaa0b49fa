import type { DatabaseSync } from 'node:sqlite';
import type { Unsubscribe } from '@batonjs/store';
import type { Subscribers, Topic } from '@batonjs/store/adapter';
import type { Changes } from '../notifications/changes.ts';

// How often the file is read for changes of other processes, in milliseconds. Busy: after a change, and while a task is
// followed, whose next update another process may be about to write.
const busyMs = 10;
const idleMs = 25;

/**
 * Reads changes of other processes from the file while there are subscribers. `shared`: whether other processes can write to
 * the database at all.
 */
export function sweepOf(subscribers: Subscribers, changes: FileChanges, shared: boolean) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isIdle = true;
  /** How many subscriptions are on tasks. */
  let taskSubscriptions = 0;

  function begin(isBusy: boolean): void {
    if (timer === undefined) changes.start();
    // Does not restart a short timer: many subscriptions would postpone the sweep forever.
    else if (!isBusy || !isIdle) return;
    sweepSoon(isBusy);
  }

  function sweepSoon(isBusy: boolean): void {
    clearTimeout(timer);
    isIdle = !isBusy;
    // Subscribers alone do not keep the process alive.
    timer = setTimeout(sweep, isBusy ? busyMs : idleMs).unref();
  }

  function sweep(): void {
    let changed = true;
    try {
      changed = changes.refresh();
    } catch {
      // The file is locked or fails just now. The next sweep finds the same changes; calls report the error.
    }
    if (timer !== undefined) sweepSoon(changed || taskSubscriptions > 0);
  }

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function subscribe(topic: Topic, notify: (version?: number) => void): Unsubscribe {
    const remove = subscribers.add(topic, notify);
    const onTasks = 'taskId' in topic ? 1 : 0;
    try {
      if (shared) begin(onTasks > 0);
    } catch (error) {
      remove();
      throw error;
    }
    taskSubscriptions += onTasks;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      taskSubscriptions -= onTasks;
      remove();
      if (subscribers.isEmpty) stop();
    };
  }

  return { subscribe, stop };
}

/** How many transactions the file remembers. A process that falls further behind notifies all its subscribers. */
const remembered = 1_024;

export type FileChanges = ReturnType<typeof fileChangesOf>;

/** Writes the topics that each transaction changed to the file, and reads what other processes wrote there. */
export function fileChangesOf(db: DatabaseSync, changes: Changes, subscribers: Subscribers) {
  let sequence = 0;
  let seen = 0;
  let seenVersion: unknown;
  const sql = {
    insert: db.prepare('INSERT INTO changes (touched) VALUES (?)'),
    forgetOld: db.prepare('DELETE FROM changes WHERE sequence <= ?'),
    since: db.prepare('SELECT sequence, touched FROM changes WHERE sequence > ? ORDER BY sequence'),
    last: db.prepare('SELECT coalesce(max(sequence), 0) AS sequence FROM changes'),
    version: db.prepare('PRAGMA data_version'),
  };

  const readDataVersion = (): unknown => sql.version.get()?.data_version;

  return {
    /** Writes the changes of this transaction to the file, for other processes. */
    beforeCommit(): void {
      if (changes.touched.size === 0) return;
      const touched: (number | null)[] = [];
      for (const [number, version] of changes.touched) touched.push(number, version ?? null);
      sequence = Number(sql.insert.run(JSON.stringify(touched)).lastInsertRowid);
      if (sequence % 256 === 0) sql.forgetOld.run(sequence - remembered);
    },
    afterCommit(): void {
      // No other process wrote in between: `refresh` need not read these changes again.
      if (sequence === seen + 1) seen = sequence;
    },
    /** Begins to follow other processes: `refresh` finds what they change from here on. */
    start(): void {
      seenVersion = readDataVersion();
      seen = Number(sql.last.get()?.sequence);
    },
    /** Notifies of what other processes changed since the last time. Returns whether they changed anything. */
    refresh(): boolean {
      const dataVersion = readDataVersion();
      if (dataVersion === seenVersion) return false;
      const changes = sql.since.all(seen);
      seenVersion = dataVersion;
      const [first, last] = [changes[0], changes.at(-1)];
      if (!first || !last) return false;
      const missed = first.sequence !== seen + 1;
      seen = Number(last.sequence);
      if (missed) subscribers.notifyAll();
      else for (const { touched } of changes) subscribers.notifyPairs(JSON.parse(String(touched)));
      return true;
    },
  };
}
