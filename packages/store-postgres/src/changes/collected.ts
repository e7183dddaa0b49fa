import {
  type Change,
  changedRow,
  type RecordRow,
  type Replaced,
  type TaskRow,
  type TaskWrite,
  type WebhookRow,
} from '@batonjs/store/adapter';
import { countedAs, stateOf } from '@batonjs/store/rules';
import type { Written, WrittenTask } from '../database/columns.ts';
import { keyOf } from '../database/keys.ts';
import { countsKey, waitingKey } from '../tables/searches.ts';

/** A row as the database has it, and as it is to be. */
interface Pending<Row> {
  readonly replaced: Row | undefined;
  after: Row | undefined;
}

/** How many more tasks are in a place, because of the task with the key `of`. */
interface Count {
  readonly of: string;
  readonly key: string;
  readonly name: string;
  readonly tasks: number;
}

type Place = readonly [key: string, name: string];

/** Where a row is counted. */
function placesOf(row: TaskRow | undefined): Place[] {
  if (!row) return [];
  const { head, scope, queue, waitingSince } = row;
  const name = countedAs(row);
  return [
    ...(head ? [[keyOf(scope), stateOf(row)] as const] : []),
    ...(waitingSince !== undefined && queue !== undefined ? [[waitingKey(queue), 'waiting'] as const] : []),
    ...(name !== undefined && queue !== undefined ? [[countsKey(queue), name] as const] : []),
  ];
}

/** The writes of all changes of one transaction. */
export class Collected {
  readonly facts: { key: string; version: number; commitId: string; fact: string }[] = [];
  readonly texts: { key: string; scope: string; text: string }[] = [];
  readonly once: { key: string; onceKey: string; version: number }[] = [];
  readonly snapshots = new Map<string, { readonly version: number; readonly json: string }>();
  readonly queues: NonNullable<Change<unknown>['queue']>[] = [];
  readonly callers: NonNullable<Change<unknown>['callers']>[number][] = [];
  /** Keys of tasks, and names of records. All is written only if none of them is there. */
  readonly newTasks: string[] = [];
  readonly newRecords: string[] = [];
  readonly #tasks = new Map<string, Pending<TaskRow>>();
  readonly #webhooks = new Map<string, Pending<WebhookRow>>();
  readonly #records = new Map<string, Pending<RecordRow>>();
  #characters = 0;

  /** How many characters the facts and snapshots have. */
  get characters(): number {
    return this.#characters;
  }

  add({ tasks = [], webhooks = [], records = [], queue, callers = [] }: Change<unknown>): void {
    for (const task of tasks) this.#addTask(task);
    for (const webhook of webhooks) {
      const { scope, taskId, id } = changedRow(webhook);
      pend(this.#webhooks, `${keyOf(scope, taskId)} ${keyOf(id)}`, webhook);
    }
    for (const record of records) pend(this.#records, changedRow(record).name, record);
    if (queue) this.queues.push(queue);
    this.callers.push(...callers);
  }

  /** Rows that are inserted or replaced, in the order of their keys, in which all transactions write. */
  get tasks(): WrittenTask[] {
    return sorted(this.#tasks).flatMap(([key, { replaced, after }]) =>
      after ? [{ key, row: after, replaced: replaced?.revision }] : [],
    );
  }

  get webhooks(): Written<WebhookRow>[] {
    return written(this.#webhooks);
  }

  get records(): Written<RecordRow>[] {
    return written(this.#records);
  }

  get deletedTasks(): string[] {
    return deleted(this.#tasks);
  }

  get deletedRecords(): string[] {
    return deleted(this.#records);
  }

  /** Pairs of keys. */
  get deletedWebhooks(): string[][] {
    return deleted(this.#webhooks).map((name) => name.split(' '));
  }

  /** How many more tasks have a state, by scope, and wait, by queue, because of each task that is deleted, or written. */
  counts(isDeleted: boolean): Count[] {
    const counts: Count[] = [];
    for (const [of, { replaced, after }] of this.#tasks) {
      if (isDeleted === (after !== undefined)) continue;
      const before = placesOf(replaced);
      const now = placesOf(after);
      const isIn = (places: readonly Place[], [key, name]: Place) =>
        places.some((one) => one[0] === key && one[1] === name);
      for (const place of before)
        if (!isIn(now, place)) counts.push({ of, key: place[0], name: place[1], tasks: -1 });
      for (const place of now)
        if (!isIn(before, place)) counts.push({ of, key: place[0], name: place[1], tasks: 1 });
    }
    return counts;
  }

  #addTask(write: TaskWrite): void {
    const { before, facts = [], commitId = '', snapshot, once, text } = write;
    const { scope, taskId } = changedRow(write);
    const key = keyOf(scope, taskId);
    pend(this.#tasks, key, write);
    if (text !== undefined) this.texts.push({ key, scope, text });
    let version = before?.version ?? 0;
    if (once !== undefined) this.once.push({ key, onceKey: keyOf(once), version: version + 1 });
    for (const fact of facts) {
      this.facts.push({ key, version: ++version, commitId, fact });
      this.#characters += fact.length;
    }
    if (!snapshot) return;
    this.snapshots.set(key, snapshot);
    this.#characters += snapshot.json.length;
  }
}

function pend<Row>(pending: Map<string, Pending<Row>>, key: string, { before, after }: Replaced<Row>): void {
  const known = pending.get(key);
  if (known) known.after = after;
  else pending.set(key, { replaced: before, after });
}

const sorted = <Value>(map: ReadonlyMap<string, Value>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const written = <Row extends { readonly revision: number }>(
  pending: ReadonlyMap<string, Pending<Row>>,
): Written<Row>[] =>
  sorted(pending).flatMap(([, { replaced, after }]) =>
    after ? [{ row: after, replaced: replaced?.revision }] : [],
  );

const deleted = <Row>(pending: ReadonlyMap<string, Pending<Row>>): string[] =>
  sorted(pending).flatMap(([key, { replaced, after }]) => (replaced && !after ? [key] : []));
