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
import type { WrittenAt } from '../database/columns.ts';
import { keyOf } from '../database/database.ts';
import { countsKey, waitingKey } from '../tables/searches.ts';

/** A row as the database has it, and as it is to be. */
type Keyed<Row> = Replaced<Row> & { readonly key: string };

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

// More would keep rows locked for too long. The facts of all are one string on the wire, and a string cannot have more than
// half a gigabyte.
const mostCharacters = 4 * 1024 * 1024;

/** The writes of changes that are stored together. No two of them are of one row. */
export class Collected {
  readonly facts: { key: string; version: number; commitId: string; fact: string }[] = [];
  readonly texts: { key: string; scope: string; text: string }[] = [];
  readonly once: { key: string; onceKey: string; version: number }[] = [];
  readonly snapshots: { key: string; version: number; json: string }[] = [];
  queue: Change<unknown>['queue'];
  callers: Change<unknown>['callers'];
  /** Keys of tasks, and names of records. All is written only if none of them is there. */
  readonly newTasks: string[] = [];
  readonly newRecords: string[] = [];
  /** How many tasks want to wait in each queue, and where all is written only if fewer than `most` wait there before. */
  readonly rooms = new Map<string, { readonly wanted: number; readonly most: number }>();
  readonly #tasks: Keyed<TaskRow>[] = [];
  readonly #webhooks: Keyed<WebhookRow>[] = [];
  readonly #records: Keyed<RecordRow>[] = [];
  #characters = 0;

  /** Whether one statement has room for a change beside the others. */
  hasRoom({ tasks = [] }: Change<unknown>): boolean {
    if (this.#characters === 0) return true;
    return tasks.reduce((sum, task) => sum + charactersOf(task), this.#characters) <= mostCharacters;
  }

  add({ tasks = [], webhooks = [], records = [], queue, callers }: Change<unknown>): void {
    for (const task of tasks) this.#addTask(task);
    for (const webhook of webhooks) {
      const { scope, taskId, id } = changedRow(webhook);
      this.#webhooks.push({ ...webhook, key: `${keyOf(scope, taskId)} ${keyOf(id)}` });
    }
    for (const record of records) this.#records.push({ ...record, key: changedRow(record).name });
    this.queue = queue;
    this.callers = callers;
  }

  /** Rows that are inserted or replaced, in the order of their keys, in which all transactions write. */
  get tasks(): WrittenAt<TaskRow>[] {
    return written(this.#tasks);
  }

  get webhooks(): WrittenAt<WebhookRow>[] {
    return written(this.#webhooks);
  }

  get records(): WrittenAt<RecordRow>[] {
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
    return deleted(this.#webhooks).map((key) => key.split(' '));
  }

  /** How many more tasks have a state, by scope, and wait, by queue, because of each task that is deleted, or written. */
  counts(isDeleted: boolean): Count[] {
    const counts: Count[] = [];
    const isIn = (places: readonly Place[], [key, name]: Place) =>
      places.some((one) => one[0] === key && one[1] === name);
    for (const { key: of, before, after } of this.#tasks) {
      if (isDeleted === (after !== undefined)) continue;
      const [old, now] = [placesOf(before), placesOf(after)];
      for (const place of old)
        if (!isIn(now, place)) counts.push({ of, key: place[0], name: place[1], tasks: -1 });
      for (const place of now)
        if (!isIn(old, place)) counts.push({ of, key: place[0], name: place[1], tasks: 1 });
    }
    return counts;
  }

  #addTask(write: TaskWrite): void {
    const { before, after, facts = [], commitId = '', snapshot, once, text } = write;
    const { scope, taskId } = changedRow(write);
    const key = keyOf(scope, taskId);
    this.#tasks.push({ key, before, after });
    this.#characters += charactersOf(write);
    if (text !== undefined) this.texts.push({ key, scope, text });
    let version = before?.version ?? 0;
    if (once !== undefined) this.once.push({ key, onceKey: keyOf(once), version: version + 1 });
    for (const fact of facts) this.facts.push({ key, version: ++version, commitId, fact });
    if (snapshot) this.snapshots.push({ key, ...snapshot });
  }
}

const charactersOf = ({ facts = [], snapshot }: TaskWrite): number =>
  facts.reduce((sum, fact) => sum + fact.length, snapshot?.json.length ?? 0);

const sorted = <Row>(rows: readonly Keyed<Row>[]) => rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));

const written = <Row extends { readonly revision: number }>(rows: readonly Keyed<Row>[]): WrittenAt<Row>[] =>
  sorted(rows).flatMap(({ key, before, after }) =>
    after ? [{ key, row: after, replaced: before?.revision }] : [],
  );

const deleted = <Row>(rows: readonly Keyed<Row>[]): string[] =>
  sorted(rows).flatMap(({ key, after }) => (after ? [] : [key]));
