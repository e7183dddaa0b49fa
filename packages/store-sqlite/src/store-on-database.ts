import type { DatabaseSync } from 'node:sqlite';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { GroupCommit } from './database/group-commit.ts';
import { hostMonotonic } from './database/host-clock.ts';
import { OpenFile } from './database/open-file.ts';
import { Probe } from './database/probe.ts';
import { Reads } from './database/reads.ts';
import { Changes } from './notifications/changes.ts';
import { Bells } from './notifications/subscribers.ts';
import { Watch } from './notifications/sweep.ts';
import { Gate } from './open-calls.ts';
import { Commits } from './tasks/commits.ts';
import { Contexts } from './tasks/contexts.ts';
import { Facts } from './tasks/facts.ts';
import { Leases } from './tasks/leases.ts';
import { Prune } from './tasks/prune.ts';
import { TaskList } from './tasks/task-list.ts';
import { type Moment, TaskRows } from './tasks/task-row.ts';
import { Totals } from './tasks/totals.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { PushConfigs } from './webhooks/push-configs.ts';

export interface StoreOnOptions {
  /** What errors call the database. */
  readonly name: string;
  /** Whether other processes can write to the database at all. */
  readonly shared: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The clock of leases, in milliseconds; an integer. Default: that of the host. */
  readonly monotonic?: () => number;
  /** Told after each transaction how many writes it held. */
  readonly onGroup?: (size: number) => void;
  /** How long a call waits for other processes that hold the file, in milliseconds. Default 4,000. */
  readonly patienceMs?: number;
}

/** Logs are deleted in transactions of so many, so that other writers get their turn. */
const pruneAtOnce = 50;

/** A store on an open database, which it closes. */
export function storeOn(
  db: DatabaseSync,
  { name, shared, now, monotonic = hostMonotonic, onGroup, patienceMs = 4_000 }: StoreOnOptions,
): TaskStore & PushConfigStore {
  const bells = new Bells();
  const changes = new Changes(db, bells);
  const rows = new TaskRows(db);
  const totals = new Totals(db);
  const contexts = new Contexts(db);
  const deliveries = new Deliveries(db, changes);
  const pushConfigs = new PushConfigs(db, deliveries);
  const commits = new Commits({ db, rows, contexts, totals, deliveries, changes });
  const leases = new Leases(db, rows);
  const reads = new Reads({ db, name, patienceMs });
  const facts = new Facts(db, rows, reads);
  const tasks = new TaskList(db, totals, contexts);
  const prune = new Prune(db, totals, contexts);
  const probe = new Probe({ db, name, patienceMs });
  const watch = new Watch(bells, changes, shared);
  const file = new OpenFile(shared ? name : undefined);
  const gate = new Gate(name, () => file.mustBeUsable());
  const confirm = () => file.mustBeHere();
  const group = new GroupCommit({ db, name, patienceMs, effects: [totals, changes], confirm, onGroup });
  /** Whether the leases of earlier starts of the host were ended. */
  let hasEnded = !shared;
  let closing: Promise<void> | undefined;

  const moment = (): Moment => ({ now: now(), leaseNow: monotonic() });
  const read = <T>(work: () => T): Promise<T> => gate.pass(() => reads.run(work));
  const write = <T>(work: () => T): Promise<T> => gate.pass(() => group.run(work));

  return {
    commit: (commit) =>
      gate.pass(() => {
        const prepared = commits.prepare(commit);
        return group.run(() => prepared(moment()));
      }),

    load: (scope, taskId) => gate.pass(() => facts.load(scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      gate.pass(() => facts.read(scope, taskId, after, limit, lastCommitId)),
    list: (scope, query) => read(() => tasks.list(scope, query)),
    subscribe: (topic, notify) => read(() => watch.start(topic, notify)),

    claim: (request) =>
      gate.pass(async () => {
        if (!hasEnded && (await reads.run(() => leases.anyOfEarlierStarts(moment()))))
          await group.run(() => leases.endThoseOfEarlierStarts(moment()));
        hasEnded = true;
        // Most claims find nothing: they need not wait for the lock of the writers, or make them wait.
        const any = await reads.run(() => leases.anyFor(request, moment()));
        return any ? group.run(() => leases.claim(request, moment())) : [];
      }),

    renew: (held, ttlMs) => write(() => leases.renew(held, ttlMs, moment())),
    waiting: (queue) => read(() => leases.waiting(queue)),

    prune: ({ closedBefore, limit }) =>
      gate.pass(async () => {
        let deleted = 0;
        for (;;) {
          const most = Math.min(pruneAtOnce, limit - deleted);
          const some = await group.run(() => prune.delete(closedBefore, most));
          deleted += some;
          if (some < pruneAtOnce) return deleted;
        }
      }),

    probe: () =>
      gate.pass(() => {
        file.mustBeHere();
        return probe.run();
      }),

    identity: () =>
      gate.pass(() => {
        file.mustBeHere();
        return file.identity;
      }),

    close() {
      closing ??= (async () => {
        watch.stop();
        await gate.close();
        db.close();
      })();
      return closing;
    },

    putPushConfig: (push, atMost) => write(() => pushConfigs.put(push, atMost, now())),
    getPushConfig: (scope, taskId, id) => read(() => pushConfigs.get(scope, taskId, id)),
    listPushConfigs: (scope, taskId, page) => read(() => pushConfigs.list(scope, taskId, page)),
    removePushConfig: (scope, taskId, id) => write(() => pushConfigs.remove(scope, taskId, id)),

    claimDeliveries: (request) =>
      gate.pass(async () => {
        const any = await reads.run(() => deliveries.anyDue(request.queue, now()));
        return any ? group.run(() => deliveries.claim(request, now())) : [];
      }),

    advance: (delivery, outcome) => write(() => deliveries.advance(delivery, outcome, now())),
    retryNow: (webhooks) => write(() => deliveries.retryNow(webhooks, now())),
    listDead: (queue, { limit }) => read(() => pushConfigs.dead(queue, limit)),
    revive: (scope, taskId, id) => write(() => pushConfigs.revive(scope, taskId, id, now())),
  };
}
