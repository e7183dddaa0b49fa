import { Buckets } from './buckets.ts';
import { NextWork } from './next-work.ts';
import { Changes } from './notifications/changes.ts';
import { Subscribers } from './notifications/subscribers.ts';
import type { Database } from './sql/database.ts';
import { LongTexts } from './sql/long-texts.ts';
import { ProbeRow } from './sql/probe-row.ts';
import { Commits } from './tasks/commits.ts';
import { Contexts } from './tasks/contexts.ts';
import { Leases } from './tasks/leases.ts';
import { Prune } from './tasks/prune.ts';
import { TaskList } from './tasks/task-list.ts';
import { TaskRows } from './tasks/task-row.ts';
import { Totals } from './tasks/totals.ts';
import { Turns } from './tasks/turns.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { PushConfigs } from './webhooks/push-configs.ts';

/** The tables of a store, with the statements on them. */
export type Tables = ReturnType<typeof openTables>;

/**
 * Prepares the statements on a database that has the newest schema. `longestText`: how many characters a value may
 * have, of up to 3 bytes each; default: any number. `totals` and `changes` are hooks of every transaction that
 * writes.
 */
export function openTables(db: Database, { longestText }: { longestText?: number } = {}) {
  const subscribers = new Subscribers();
  const changes = new Changes(subscribers);
  const texts = new LongTexts(db, longestText);
  const rows = new TaskRows(db);
  const totals = new Totals(db);
  const contexts = new Contexts(db);
  const deliveries = new Deliveries(db, changes);
  return {
    db,
    subscribers,
    changes,
    texts,
    rows,
    totals,
    deliveries,
    pushConfigs: new PushConfigs(db, deliveries),
    commits: new Commits({ db, rows, contexts, totals, deliveries, changes, texts }),
    leases: new Leases(db, rows, new Turns(db)),
    tasks: new TaskList(db, totals, contexts, texts),
    prune: new Prune(db, totals, contexts),
    buckets: new Buckets(db),
    nextWork: new NextWork(db),
    ping: db.prepare('SELECT 1'),
    probe: new ProbeRow(db),
  };
}
