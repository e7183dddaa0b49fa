import type { DatabaseSync } from 'node:sqlite';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { FileChanges } from './database/file-changes.ts';
import { GroupCommit } from './database/group-commit.ts';
import { hostMonotonic } from './database/host-clock.ts';
import { OpenFile } from './database/open-file.ts';
import { Probe } from './database/probe.ts';
import { Reads } from './database/reads.ts';
import { Sweep } from './database/sweep.ts';
import { OpenCalls } from './open-calls.ts';
import { openTables } from './open-tables.ts';
import type { Transactions } from './sql/transactions.ts';
import { storeOnTables } from './store-on-tables.ts';

export interface StoreOnDatabaseOptions {
  /** The name of the database in errors. */
  readonly name: string;
  /** Whether other processes can write to the database at all. */
  readonly shared: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
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
  const tables = openTables(db);
  const { changes, leases, subscribers } = tables;
  const fileChanges = new FileChanges(db, changes, subscribers);
  const reads = new Reads({ db, name, maxWaitMs });
  const probe = new Probe({ db, name, maxWaitMs, row: tables.probe });
  const sweep = new Sweep(subscribers, fileChanges, shared);
  const file = new OpenFile(shared ? name : undefined);
  const calls = new OpenCalls(name, () => file.mustBeUsable());
  const confirmFile = () => file.mustBeHere();
  const hooks = [tables.totals, fileChanges, changes];
  const group = new GroupCommit({ db, name, maxWaitMs, hooks, confirmFile, onGroup });
  const unsynced = new GroupCommit({ db, name, maxWaitMs, hooks: [], isUnsynced: true });
  /** Whether leases from before the last start of the host have been ended. */
  let areOldLeasesEnded = !shared;
  let closing: Promise<void> | undefined;

  const transactions: Transactions = {
    read: (work) => reads.run(work),
    write: (work) => group.run(work),
    writeUnsynced: (work) => unsynced.run(work),
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  };

  async function endOldLeases(): Promise<void> {
    const moment = () => ({ now: now(), leaseNow: monotonic() });
    if (await reads.run(() => leases.hasLeasesFromBeforeBoot(moment())))
      await group.run(() => leases.endLeasesFromBeforeBoot(moment()));
    areOldLeasesEnded = true;
  }

  return {
    ...storeOnTables({
      tables,
      transactions,
      calls,
      now,
      leaseNow: monotonic,
      subscribe: (topic, notify) => sweep.subscribe(topic, notify),
      beforeClaim: () => (areOldLeasesEnded ? undefined : endOldLeases()),
    }),

    probe: () =>
      calls.pass(() => {
        file.mustBeHere();
        return probe.run();
      }),

    identity: () =>
      calls.pass(() => {
        file.mustBeHere();
        return file.identity;
      }),

    close() {
      closing ??= (async () => {
        sweep.stop();
        await calls.close();
        db.close();
      })();
      return closing;
    },
  };
}
