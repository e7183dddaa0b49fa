import type { StoredFact, TaskName } from '@batonjs/store';
import * as store from '@batonjs/store/adapter';

/** The log of a task. */
interface Log {
  readonly facts: { commitId: string; json: string }[];
  readonly once: Map<string, number>;
  snapshot?: string;
}

/** What a database keeps. A row is never changed, only replaced. */
export class Tables {
  readonly tasks = new Map<string, store.TaskRow>();
  readonly webhooks = new Map<string, store.WebhookRow>();
  readonly logs = new Map<string, Log>();
  readonly queues = new Map<string, store.QueueRow>();
  readonly callers = new Map<string, store.CallerRow>();
  readonly records = new Map<string, store.RecordRow>();
  readonly buckets = new Map<string, number>();
  readonly subscribers = new store.Subscribers();
  readonly identity = crypto.randomUUID();
}

const nameOf = ({ scope, taskId }: TaskName) => JSON.stringify([scope, taskId]);
const keyOf = (webhook: store.WebhookRow) => JSON.stringify([webhook.scope, webhook.taskId, webhook.id]);
const replace = <Row>(rows: Map<string, Row>, key: string, after?: Row) =>
  after ? rows.set(key, after) : rows.delete(key);

/** Tasks in maps: the smallest whole adapter. */
export function mapStore(tables: Tables, now: () => number = Date.now) {
  return store.createStore('maps', mapRows(tables, now));
}

export function mapRows(tables: Tables, now: () => number): store.Rows {
  const { tasks, webhooks, logs, queues, callers, records, buckets, subscribers } = tables;

  function find(wanted: store.Wanted): store.Found {
    // A database has an index for each search, instead of all rows.
    const all = {
      tasks: [...tasks.values()],
      webhooks: [...webhooks.values()],
      queues: [...queues.values()],
      callers: [...callers.values()],
      records: [...records.values()],
    };
    const found = store.search(all, wanted, { now: now(), orderNow: now(), leaseNow: now() });
    return {
      ...found,
      tasks: found.tasks?.map((task, n) => {
        const { once, ...name } = wanted.tasks![n]!;
        return { ...task, once: once === undefined ? undefined : logs.get(nameOf(name))?.once.get(once) };
      }),
      fullAt: wanted.bucket === undefined ? undefined : buckets.get(wanted.bucket),
    };
  }

  function writeTask({ before, after, facts = [], commitId, snapshot, once }: store.TaskWrite): void {
    const name = nameOf((after ?? before)!);
    if (!after) {
      for (const table of [tasks, logs]) table.delete(name);
      for (const [key, webhook] of webhooks) if (nameOf(webhook) === name) webhooks.delete(key);
      return;
    }
    const log: Log = logs.get(name) ?? { facts: [], once: new Map() };
    for (const json of facts) log.facts.push({ commitId: commitId!, json });
    if (once !== undefined) log.once.set(once, (before?.version ?? 0) + 1);
    if (snapshot) log.snapshot = snapshot.json;
    tasks.set(name, after);
    logs.set(name, log);
  }

  function write(change: store.Change<unknown>, { bucket }: store.Wanted): void {
    for (const task of change.tasks ?? []) writeTask(task);
    for (const one of change.webhooks ?? []) replace(webhooks, keyOf(store.changedRow(one)), one.after);
    for (const one of change.records ?? []) replace(records, store.changedRow(one).name, one.after);
    if (change.queue) queues.set(change.queue.after!.queue, change.queue.after!);
    for (const caller of change.callers ?? [])
      callers.set(JSON.stringify([caller.queue, caller.scope]), caller);
    if (change.fullAt !== undefined) buckets.set(bucket!, change.fullAt);
  }

  const factsOf = (name: string, after: number, limit = Number.MAX_SAFE_INTEGER): StoredFact[] =>
    (logs.get(name)?.facts ?? []).slice(after, after + limit).map(({ commitId, json }, n) => {
      const version = after + n + 1;
      return { version, commitId, fact: store.parseFact(json, version) };
    });

  return {
    encode: JSON.stringify,
    read: find,

    // Nothing happens in between. A database begins a transaction here, or compares revisions as it writes.
    change(step) {
      let decision = step.decide(find(step.wanted));
      while ('decide' in decision) decision = decision.decide(find(decision.wanted));
      write(decision, step.wanted);
      subscribers.notifyOf(decision.notify); // Outside of any lock.
      return decision.result;
    },

    log(scope, taskId) {
      const name = nameOf({ scope, taskId });
      const row = tasks.get(name);
      const json = logs.get(name)?.snapshot;
      const snapshot = json === undefined ? undefined : JSON.parse(json);
      return row && { row, snapshot, facts: factsOf(name, snapshot?.version ?? 0) };
    },

    facts: (scope, taskId, after, limit) => ({
      version: tasks.get(nameOf({ scope, taskId }))?.version ?? 0,
      facts: factsOf(nameOf({ scope, taskId }), after, limit),
    }),

    page(scope, search) {
      const rows = [...tasks.values()].filter((row) => row.scope === scope);
      const { all, rest } = store.listed(rows, search);
      const shown = rest.map((row) => {
        const [fact] = factsOf(nameOf(row), row.head!.statusVersion - 1, 1);
        return { taskId: row.taskId, head: row.head!, fact };
      });
      return store.cutPage(shown, search, all.length);
    },

    subscribe: (topic, notify) => subscribers.add(topic, notify),
    identity: () => tables.identity,
    ping() {},
    close() {},
  };
}
