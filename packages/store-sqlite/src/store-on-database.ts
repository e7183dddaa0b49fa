import type { DatabaseSync } from 'node:sqlite';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { Buckets } from './buckets.ts';
import { GroupCommit } from './database/group-commit.ts';
import { hostMonotonic } from './database/host-clock.ts';
import { OpenFile } from './database/open-file.ts';
import { Probe } from './database/probe.ts';
import { Reads } from './database/reads.ts';
import { Changes } from './notifications/changes.ts';
import { Subscribers } from './notifications/subscribers.ts';
import { Sweep } from './notifications/sweep.ts';
import { OpenCalls } from './open-calls.ts';
import { Commits } from './tasks/commits.ts';
import { Contexts } from './tasks/contexts.ts';
import { Facts } from './tasks/facts.ts';
import { Leases } from './tasks/leases.ts';
import { Prune } from './tasks/prune.ts';
import { TaskList } from './tasks/task-list.ts';
import { type Moment, TaskRows } from './tasks/task-row.ts';
import { Totals } from './tasks/totals.ts';
import { Turns } from './tasks/turns.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { PushConfigs } from './webhooks/push-configs.ts';

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

/** How many logs one transaction deletes: other writers run in between. */
const pruneAtOnce = 50;

/** A store on an open database. `close` of the store closes the database. */
export function storeOnDatabase(
  db: DatabaseSync,
  { name, shared, now, monotonic = hostMonotonic, onGroup, maxWaitMs = 4_000 }: StoreOnDatabaseOptions,
): TaskStore & PushConfigStore {
  const subscribers = new Subscribers();
  const changes = new Changes(db, subscribers);
  const rows = new TaskRows(db);
  const totals = new Totals(db);
  const contexts = new Contexts(db);
  const deliveries = new Deliveries(db, changes);
  const pushConfigs = new PushConfigs(db, deliveries);
  const commits = new Commits({ db, rows, contexts, totals, deliveries, changes });
  const leases = new Leases(db, rows, new Turns(db));
  const reads = new Reads({ db, name, maxWaitMs });
  const facts = new Facts(db, rows, reads);
  const tasks = new TaskList(db, totals, contexts);
  const prune = new Prune(db, totals, contexts);
  const probe = new Probe({ db, name, maxWaitMs });
  const sweep = new Sweep(subscribers, changes, shared);
  const file = new OpenFile(shared ? name : undefined);
  const calls = new OpenCalls(name, () => file.mustBeUsable());
  const confirmFile = () => file.mustBeHere();
  const group = new GroupCommit({ db, name, maxWaitMs, effects: [totals, changes], confirmFile, onGroup });
  const buckets = new Buckets(db);
  // Nothing is lost with what a power failure takes from a bucket, so that no take waits for the disk.
  const unsynced = new GroupCommit({ db, name, maxWaitMs, effects: [], isUnsynced: true });
  /** Whether leases from before the last start of the host have been ended. */
  let hasEnded = !shared;
  let closing: Promise<void> | undefined;

  const moment = (): Moment => ({ now: now(), leaseNow: monotonic() });
  const read = <T>(work: () => T): Promise<T> => calls.pass(() => reads.run(work));
  const write = <T>(work: () => T): Promise<T> => calls.pass(() => group.run(work));

  return {
    schedules: true,

    commit: (commit) =>
      calls.pass(() => {
        const prepared = commits.prepare(commit);
        return group.run(() => prepared(moment()));
      }),

    load: (scope, taskId) => calls.pass(() => facts.load(scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      calls.pass(() => facts.read(scope, taskId, after, limit, lastCommitId)),
    list: (scope, query) => read(() => tasks.list(scope, query)),
    subscribe: (topic, notify) => read(() => sweep.subscribe(topic, notify)),

    claim: (request) =>
      calls.pass(async () => {
        if (!hasEnded && (await reads.run(() => leases.anyOfEarlierStarts(moment()))))
          await group.run(() => leases.endThoseOfEarlierStarts(moment()));
        hasEnded = true;
        // Most claims find nothing, and then neither wait for the write lock nor hold it.
        const any = await reads.run(() => leases.anyFor(request, moment()));
        return any ? group.run(() => leases.claim(request, moment())) : [];
      }),

    renew: (held, ttlMs) => write(() => leases.renew(held, ttlMs, moment())),
    lease: (scope, taskId) => read(() => leases.read(scope, taskId)),
    waiting: (queue) => read(() => rows.waiting(queue)),

    prune: ({ closedBefore, limit }) =>
      calls.pass(async () => {
        let deleted = 0;
        for (;;) {
          const most = Math.min(pruneAtOnce, limit - deleted);
          const some = await group.run(() => prune.delete(closedBefore, most));
          deleted += some;
          if (some < pruneAtOnce) return deleted;
        }
      }),

    take: (bucket, rate) => calls.pass(() => unsynced.run(() => buckets.take(bucket, rate, monotonic()))),

    ping: () => read(() => void db.prepare('SELECT 1').get()),

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

    putPushConfig: (push, atMost) => write(() => pushConfigs.put(push, atMost, now())),
    getPushConfig: (scope, taskId, id) => read(() => pushConfigs.get(scope, taskId, id)),
    listPushConfigs: (scope, taskId, page) => read(() => pushConfigs.list(scope, taskId, page)),
    removePushConfig: (scope, taskId, id) => write(() => pushConfigs.remove(scope, taskId, id)),

    claimDeliveries: (request) =>
      calls.pass(async () => {
        const any = await reads.run(() => deliveries.anyDue(request.queue, now()));
        return any ? group.run(() => deliveries.claim(request, now())) : [];
      }),

    advance: (delivery, outcome) => write(() => deliveries.advance(delivery, outcome, now())),
    retryNow: (webhooks) => write(() => deliveries.retryNow(webhooks, now())),
    listDead: (queue, { limit }) => read(() => pushConfigs.dead(queue, limit)),
    revive: (scope, taskId, id) => write(() => pushConfigs.revive(scope, taskId, id, now())),
  };
}
