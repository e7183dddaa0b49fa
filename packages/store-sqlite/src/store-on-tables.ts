import type { PushConfigStore, TaskStore, Topic, Unsubscribe } from '@batonjs/store';
import type { OpenCalls } from './open-calls.ts';
import type { Tables } from './open-tables.ts';
import type { Transactions } from './sql/transactions.ts';
import { Facts } from './tasks/facts.ts';
import type { Moment } from './tasks/task-row.ts';

export interface StoreOnTablesOptions {
  readonly tables: Tables;
  readonly transactions: Transactions;
  readonly calls: OpenCalls;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The clock of leases, in milliseconds; an integer. */
  readonly leaseNow: () => number;
  readonly subscribe: (topic: Topic, notify: (version?: number) => void) => Unsubscribe;
  /** Called before each claim, which waits for the promise if there is one. */
  readonly beforeClaim?: () => Promise<void> | undefined;
}

/** A store without `identity`, `probe` and `close`. The adapter adds these: they depend on where the database is. */
export type StoreOnTables = Omit<TaskStore & PushConfigStore, 'identity' | 'probe' | 'close'>;

/** How many logs one transaction deletes: other writers run in between. */
const pruneAtOnce = 50;

/** The calls of a store, as transactions on its tables. */
export function storeOnTables({
  tables,
  transactions,
  calls,
  now,
  leaseNow,
  subscribe,
  beforeClaim,
}: StoreOnTablesOptions): StoreOnTables {
  const { buckets, commits, deliveries, leases, prune, pushConfigs, tasks } = tables;
  const facts = new Facts(tables.db, tables.rows, tables.texts, transactions);
  const moment = (): Moment => ({ now: now(), leaseNow: leaseNow() });
  const read = <T>(work: () => T): Promise<T> => calls.pass(() => transactions.read(work));
  const write = <T>(work: () => T): Promise<T> => calls.pass(() => transactions.write(work));

  return {
    schedules: true,

    commit: (commit) =>
      calls.pass(() => {
        const prepared = commits.prepare(commit);
        return transactions.write(() => prepared(moment()));
      }),

    load: (scope, taskId) => calls.pass(() => facts.load(scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      calls.pass(() => facts.read(scope, taskId, after, limit, lastCommitId)),
    list: (scope, query) => read(() => tasks.list(scope, query)),
    subscribe: (topic, notify) => read(() => subscribe(topic, notify)),

    claim: (request) =>
      calls.pass(async () => {
        const before = beforeClaim?.();
        if (before) await before;
        // Most claims find nothing, and then neither wait for the write lock nor hold it.
        const any = await transactions.read(() => leases.anyFor(request, moment()));
        return any ? transactions.write(() => leases.claim(request, moment())) : [];
      }),

    renew: (held, ttlMs) => write(() => leases.renew(held, ttlMs, moment())),
    lease: (scope, taskId) => read(() => leases.read(scope, taskId)),
    waiting: (queue) => read(() => tables.rows.waiting(queue)),

    prune: ({ closedBefore, limit }) =>
      calls.pass(async () => {
        let deleted = 0;
        for (;;) {
          const most = Math.min(pruneAtOnce, limit - deleted);
          const some = await transactions.write(() => prune.delete(closedBefore, most));
          deleted += some;
          if (some < pruneAtOnce) return deleted;
        }
      }),

    // Nothing is lost with what a power failure takes from a bucket, so that no take waits for the disk.
    take: (bucket, rate) =>
      calls.pass(() => transactions.writeUnsynced(() => buckets.take(bucket, rate, leaseNow()))),

    ping: () => read(() => void tables.ping.get()),

    putPushConfig: (push, atMost) => write(() => pushConfigs.put(push, atMost, now())),
    getPushConfig: (scope, taskId, id) => read(() => pushConfigs.get(scope, taskId, id)),
    listPushConfigs: (scope, taskId, page) => read(() => pushConfigs.list(scope, taskId, page)),
    removePushConfig: (scope, taskId, id) => write(() => pushConfigs.remove(scope, taskId, id)),

    claimDeliveries: (request) =>
      calls.pass(async () => {
        const any = await transactions.read(() => deliveries.anyDue(request.queue, now()));
        return any ? transactions.write(() => deliveries.claim(request, now())) : [];
      }),

    advance: (delivery, outcome) => write(() => deliveries.advance(delivery, outcome, now())),
    retryNow: (webhooks) => write(() => deliveries.retryNow(webhooks, now())),
    listDead: (queue, { limit }) => read(() => pushConfigs.dead(queue, limit)),
    revive: (scope, taskId, id) => write(() => pushConfigs.revive(scope, taskId, id, now())),
  };
}
