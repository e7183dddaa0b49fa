import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { Buckets } from './buckets.ts';
import type { Database } from './database/database.ts';
import { migrate } from './database/migrate.ts';
import { translated } from './database/postgres-error.ts';
import { probe } from './database/probe.ts';
import { Transactions } from './database/transactions.ts';
import { Wakeups } from './notifications/wakeups.ts';
import { OpenCalls } from './open-calls.ts';
import { Commits } from './tasks/commits.ts';
import { Facts } from './tasks/facts.ts';
import { GroupCommit } from './tasks/group-commit.ts';
import { Leases } from './tasks/leases.ts';
import { prepareCommit } from './tasks/prepared-commit.ts';
import { Prune } from './tasks/prune.ts';
import { TaskList } from './tasks/task-list.ts';
import { TaskRows } from './tasks/task-row.ts';
import { partOfPrunes, Totals } from './tasks/totals.ts';
import { Turns } from './tasks/turns.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { PushConfigs } from './webhooks/push-configs.ts';

export interface StoreOnDatabaseOptions {
  readonly schema: string;
  readonly notify: boolean;
  readonly onGroup: ((size: number) => void) | undefined;
}

/** A store on a database, which is migrated at the first call. */
export function storeOnDatabase(
  database: Database,
  { schema, notify, onGroup }: StoreOnDatabaseOptions,
): TaskStore & PushConfigStore {
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  const transactions = new Transactions(database);
  const wakeups = new Wakeups({ database, transactions, schema, quoted, notify });
  const rows = new TaskRows(quoted);
  const totals = new Totals(quoted);
  const deliveries = new Deliveries(quoted, transactions, wakeups);
  const commits = new Commits(quoted, { rows, totals, deliveries });
  const group = new GroupCommit({ transactions, commits, wakeups, onGroup });
  const leases = new Leases(quoted, transactions, rows, new Turns(quoted));
  const facts = new Facts(quoted, transactions);
  const tasks = new TaskList(quoted, transactions);
  const prune = new Prune(quoted, transactions, new Totals(quoted, partOfPrunes));
  const pushConfigs = new PushConfigs(quoted, transactions, deliveries);
  const buckets = new Buckets(quoted, transactions);
  const calls = new OpenCalls(database.name);
  let migrated: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  function started(): Promise<void> {
    migrated ??= migrate(database, schema, quoted).catch((error: unknown) => {
      // The next call tries again.
      migrated = undefined;
      throw translated(database.name, error);
    });
    return migrated;
  }

  const call = <T>(work: () => Promise<T>): Promise<T> =>
    calls.pass(async () => {
      await started();
      return work();
    });

  return {
    schedules: true,

    commit: (commit) => {
      const prepared = prepareCommit(commit);
      return call(() => group.run(prepared));
    },
    load: (scope, taskId) => call(() => facts.load(scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      call(() => facts.read(scope, taskId, after, limit, lastCommitId)),
    list: (scope, query) => call(() => tasks.list(scope, query)),
    subscribe: (topic, notifySubscriber) => call(() => wakeups.subscribe(topic, notifySubscriber)),
    claim: (request) => call(() => leases.claim(request)),
    renew: (held, ttlMs) => call(() => leases.renew(held, ttlMs)),
    lease: (scope, taskId) => call(() => leases.read(scope, taskId)),
    waiting: (queue) => call(() => leases.waiting(queue)),
    prune: ({ closedBefore, limit }) => call(() => prune.delete(closedBefore, limit)),
    take: (bucket, rate) => call(() => buckets.take(bucket, rate)),
    probe: () => call(() => probe(transactions, quoted)),
    ping: () => call(async () => void (await transactions.query('SELECT 1'))),

    identity: () =>
      call(async () => {
        const sql = `SELECT value FROM ${quoted}.meta WHERE name = 'identity'`;
        const [row] = await transactions.query(sql);
        if (!row) throw new StoreError('UNUSABLE', `${database.name} has lost the identity of its tasks`);
        return String(row.value);
      }),

    close() {
      closing ??= (async () => {
        await calls.close();
        await buckets.close();
        await wakeups.close();
        await database.close();
      })();
      return closing;
    },

    putPushConfig: (push, atMost) => call(() => pushConfigs.put(push, atMost)),
    getPushConfig: (scope, taskId, id) => call(() => pushConfigs.get(scope, taskId, id)),
    listPushConfigs: (scope, taskId, page) => call(() => pushConfigs.list(scope, taskId, page)),
    removePushConfig: (scope, taskId, id) => call(() => pushConfigs.remove(scope, taskId, id)),
    claimDeliveries: (request) => call(() => deliveries.claim(request)),
    advance: (delivery, outcome) => call(() => deliveries.advance(delivery, outcome)),
    retryNow: (webhooks) => call(() => deliveries.retryNow(webhooks)),
    listDead: (queue, { limit }) => call(() => pushConfigs.dead(queue, limit)),
    revive: (scope, taskId, id) => call(() => pushConfigs.revive(scope, taskId, id)),
  };
}
