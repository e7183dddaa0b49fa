import type { DatabaseSync } from 'node:sqlite';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { createStore } from '@batonjs/store/adapter';
import { mustReadLayout } from './database/create-tables.ts';
import { FileChanges } from './database/file-changes.ts';
import { freeze } from './database/freeze.ts';
import { GroupCommit } from './database/group-commit.ts';
import { hostMonotonic } from './database/host-clock.ts';
import { OpenFile } from './database/open-file.ts';
import { OwnTransactions } from './database/own-transactions.ts';
import { Sweep } from './database/sweep.ts';
import { rowsOnTables } from './rows-on-tables.ts';
import { KnownTasks } from './sql/known-tasks.ts';
import { ProbeRow } from './sql/probe-row.ts';
import { Leases } from './tables/leases.ts';
import { Tables } from './tables/tables.ts';

export interface StoreOnDatabaseOptions {
  /** The name of the database in errors. */
  readonly name: string;
  /** Whether other processes can write to the database at all. */
  readonly shared: boolean;
  /** The wall clock, in milliseconds since 1970. Default: that of this process. */
  readonly now?: (() => number) | undefined;
  /** The clock of leases, in milliseconds; an integer. Default: that of the host. */
  readonly monotonic?: () => number;
  /** Called after each transaction with the number of writes in it. */
  readonly onGroup?: (size: number) => void;
  /** How long a call waits for another process's lock on the file, in milliseconds. Default 4,000. */
  readonly maxWaitMs?: number;
}

/** A store on an open database. `close` of the store closes the database. */
export function storeOnDatabase(
  db: DatabaseSync,
  { name, shared, now, monotonic = hostMonotonic, onGroup, maxWaitMs = 4_000 }: StoreOnDatabaseOptions,
): TaskStore & PushConfigStore {
  const known = new KnownTasks(db);
  const tables = new Tables(db, { now, leaseNow: monotonic, known });
  const { changes, counts, subscribers } = tables;
  const leases = new Leases(db);
  const fileChanges = new FileChanges(db, changes, subscribers);
  const reads = new OwnTransactions({ db, name, maxWaitMs, begin: 'BEGIN' });
  const probes = new OwnTransactions({ db, name, maxWaitMs, begin: 'BEGIN IMMEDIATE' });
  const probeRow = new ProbeRow(db);
  const sweep = new Sweep(subscribers, fileChanges, shared);
  const file = new OpenFile(shared ? name : undefined);
  const confirmFile = () => file.mustBeHere();
  const hooks = [counts, fileChanges, changes, known];
  const group = new GroupCommit({ db, name, maxWaitMs, hooks, confirmFile, onGroup });
  const unsynced = new GroupCommit({ db, name, maxWaitMs, hooks: [], isUnsynced: true });
  /** Whether leases from before the last start of the host have been ended. */
  let areOldLeasesEnded = !shared;

  function usable<Runner>(runner: Runner): Runner {
    file.mustBeUsable();
    return runner;
  }

  async function endOldLeases(): Promise<void> {
    if (await reads.run(() => leases.hasLeasesFromBeforeBoot(monotonic())))
      await group.run(() => {
        leases.endLeasesFromBeforeBoot(monotonic());
        known.forgetAll();
      });
    areOldLeasesEnded = true;
  }

  return createStore(name, {
    ...rowsOnTables({
      tables,
      transactions: {
        read: (work) => usable(reads).run(work),
        write: (work) => usable(group).run(work),
        writeUnsynced: (work) => usable(unsynced).run(work),
        pause: () => new Promise((resolve) => setImmediate(resolve)),
      },
      subscribe: (topic, notify) => sweep.subscribe(topic, notify),
      beforeClaim: () => (areOldLeasesEnded ? undefined : endOldLeases()),
    }),

    ...(shared && { freeze: (ms) => usable(group).run(() => freeze(db, ms)) }),

    probe: () => {
      file.mustBeHere();
      // A rollback would prove nothing: SQLite writes to the disk only when it commits.
      return probes.run(() => probeRow.write());
    },

    identity: () => {
      file.mustBeHere();
      mustReadLayout(db, name);
      return file.identity;
    },

    close: () => {
      sweep.stop();
      db.close();
    },
  });
}
