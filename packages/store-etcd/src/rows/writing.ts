import { StoreError, type TaskName } from '@batonjs/store';
import {
  type Change,
  changedRow,
  type RecordRow,
  type Replaced,
  type TaskWrite,
  type WebhookRow,
} from '@batonjs/store/adapter';
import { forgottenTurns } from '@batonjs/store/rules';
import { movesOfRecord, movesOfTask, movesOfWebhooks } from '../layout/indexes.ts';
import { digestOf, inside, turnIn } from '../layout/keys.ts';
import {
  configApart,
  type Database,
  isApart,
  type KnownTask,
  type KnownWebhooks,
  noWebhooks,
  taskValue,
  webhooksValue,
} from '../layout/known-task.ts';
import { largestText, type Upload, uploadParts } from '../logs/logs.ts';
import type { Write } from '../wire/messages.ts';
import { type Look, taskIn } from './records.ts';

/** Larger configs, in bytes of JSON, have a key of their own: changes of a task's webhooks write all of them. */
const largestInRow = 1_024;

/** The most bytes of the webhooks of a task: beside them, a transaction has room for facts and a snapshot. */
const largestWebhooks = 768 * 1024;

/** What a change makes of one task. */
export interface TaskChange {
  readonly name: TaskName;
  readonly known: KnownTask;
  write?: TaskWrite;
  readonly webhooks: Replaced<WebhookRow>[];
}

/** The tasks that a change writes, by their digests. */
export function tasksOf({ tasks = [], webhooks = [] }: Change<unknown>, look: Look): Map<string, TaskChange> {
  const changes = new Map<string, TaskChange>();
  const of = (name: TaskName): TaskChange => {
    const task = taskIn(name);
    const change = changes.get(task) ?? { name, known: look.get(task), webhooks: [] };
    changes.set(task, change);
    return change;
  };
  for (const write of tasks) of(changedRow(write)).write = write;
  for (const webhook of webhooks) of(changedRow(webhook)).webhooks.push(webhook);
  return changes;
}

/** The operations that write a change. */
export class Writing {
  readonly #db: Database;
  /** The id of the change. */
  readonly #by: string;
  readonly writes: Write[] = [];
  /** Keys whose values will hold the id of the change. */
  readonly marked: string[] = [];
  /** Keys that it deletes. */
  readonly deleted: string[] = [];
  readonly #uploads: Upload[] = [];
  /** The tasks afterwards. The revision of a key that it writes is 0. */
  readonly tasks: { readonly name: TaskName; readonly known: KnownTask }[] = [];

  constructor(db: Database, by: string) {
    this.#db = db;
    this.#by = by;
  }

  /** Large values were uploaded: the transaction fails as a whole if a part has vanished. */
  get hasUploads(): boolean {
    return this.#uploads.length > 0;
  }

  /** Called after the transaction, whatever came of it. */
  done(): void {
    for (const { done } of this.#uploads) done();
  }

  /** Uploads large values. */
  async add(change: Change<unknown>, tasks: ReadonlyMap<string, TaskChange>, look: Look): Promise<void> {
    const notified = new Set((change.notify ?? []).flatMap((topic) => ('queue' in topic ? topic.queue : [])));
    for (const [task, one] of tasks) await this.#addTask(task, one, notified);
    for (const record of change.records ?? []) this.#addRecord(record);
    this.#addQueue(change, look);
  }

  #put(key: string, value: string): void {
    this.writes.push({ put: { key, value } });
  }

  /** The value holds the id of the change. */
  #putMarked(key: string, value: string): void {
    this.#put(key, value);
    this.marked.push(key);
  }

  /** Deletes keys by their names, and all keys of folders. */
  #delete(...keys: readonly string[]): void {
    for (const key of keys) this.writes.push({ delete: key.endsWith('/') ? inside(key) : { key } });
  }

  async #addTask(
    task: string,
    { name, known, write, webhooks }: TaskChange,
    notified: ReadonlySet<string>,
  ): Promise<void> {
    const { keys } = this.#db;
    const row = write ? write.after : known.row;
    if (write) this.writes.push(...movesOfTask(keys, task, known.row, row, notified));
    const before = known.webhooks ?? noWebhooks;
    let after = before;
    if (write && !row) after = noWebhooks;
    else if (webhooks.length > 0) after = this.#addWebhooks(task, before, webhooks);
    this.writes.push(...movesOfWebhooks(keys, task, before.rows, after.rows, notified));
    let { snapshotParts } = known;
    if (write && !row) {
      this.#delete(keys.task(task), keys.snapshot(task), keys.webhooks(task));
      this.#delete(keys.facts(task), keys.parts(task), keys.allOnce(task), keys.configs(task));
      this.deleted.push(keys.task(task));
    } else if (write && row) {
      await this.#addFacts(task, write, (known.row?.version ?? 0) + 1);
      if (write.snapshot) {
        const value = `{"snapshot":${write.snapshot.json}}`;
        if (snapshotParts !== undefined) this.#delete(keys.partsOf(task, snapshotParts));
        snapshotParts = await this.#putText(task, keys.snapshot(task), value);
      }
      this.#putMarked(keys.task(task), taskValue(row, snapshotParts, this.#by));
    }
    const kept = after === before ? known.webhooks : after;
    const revision = write ? 0 : known.revision;
    this.tasks.push({ name, known: { row, revision, snapshotParts, webhooks: kept } });
  }

  /** The webhooks of a task afterwards. */
  #addWebhooks(task: string, before: KnownWebhooks, changes: readonly Replaced<WebhookRow>[]): KnownWebhooks {
    const { keys } = this.#db;
    const rows = new Map(before.rows.map((webhook) => [webhook.id, webhook]));
    let isLarger = false;
    for (const { before: was, after } of changes) {
      const { id } = changedRow({ before: was, after });
      const known = rows.get(id);
      let isLarge = known !== undefined && isApart(known);
      if (after?.config !== was?.config) {
        const value = JSON.stringify(after?.config) ?? '';
        const wasLarge = isLarge;
        isLarge = Buffer.byteLength(value) > largestInRow;
        if (isLarge) this.#put(keys.config(task, id), value);
        else if (wasLarge) this.#delete(keys.config(task, id));
        isLarger ||= after !== undefined;
      }
      if (after) rows.set(id, isLarge ? { ...after, config: configApart } : after);
      else rows.delete(id);
    }
    const [first] = rows.values();
    if (!first) {
      this.#delete(keys.webhooks(task));
      this.deleted.push(keys.webhooks(task));
      return noWebhooks;
    }
    const value = webhooksValue(first, [...rows.values()], this.#by);
    const bytes = Buffer.byteLength(value);
    if (isLarger && bytes > largestWebhooks) {
      const message = `The webhooks of a task take ${bytes} bytes, and a store in etcd has room for ${largestWebhooks}`;
      throw new StoreError('INVALID_COMMIT', `${message}: let a task have fewer`);
    }
    this.#putMarked(keys.webhooks(task), value);
    return { rows: [...rows.values()], revision: 0 };
  }

  /** The facts and the `once` key of a task. `first`: the position of the first fact. */
  async #addFacts(task: string, { facts = [], commitId, once }: TaskWrite, first: number): Promise<void> {
    const { keys } = this.#db;
    if (facts.length > 0) {
      const head = JSON.stringify({ by: this.#by, commitId, first }).slice(0, -1);
      const key = keys.fact(task, first + facts.length - 1);
      await this.#putText(task, key, `${head},"facts":[${facts.join(',')}]}`);
      this.marked.push(key);
    }
    if (once !== undefined) this.#put(keys.once(task, once), JSON.stringify({ first, by: this.#by }));
  }

  /** Resolves to the id of its parts, if it is kept in parts. */
  async #putText(task: string, key: string, text: string): Promise<string | undefined> {
    if (Buffer.byteLength(text) <= largestText) {
      this.#put(key, text);
      return undefined;
    }
    const upload = await uploadParts(this.#db, task, text, this.#by);
    this.#uploads.push(upload);
    this.#put(key, upload.value);
    this.writes.push(...upload.keep);
    return upload.id;
  }

  #addRecord(record: Replaced<RecordRow>): void {
    const { keys } = this.#db;
    const { before, after } = record;
    const key = keys.record(changedRow(record).name);
    this.writes.push(...movesOfRecord(keys, before, after));
    if (after) this.#putMarked(key, JSON.stringify({ row: after, by: this.#by }));
    else {
      this.#delete(key);
      this.deleted.push(key);
    }
  }

  #addQueue({ queue, callers = [] }: Change<unknown>, look: Look): void {
    if (!queue?.after) return;
    const { after } = queue;
    const { keys } = this.#db;
    this.#putMarked(keys.queue(after.queue), JSON.stringify({ row: after, by: this.#by }));
    const folder = keys.served(after.queue);
    for (const { scope, turn } of callers) {
      const caller = digestOf(scope);
      const last = look.served.get(caller);
      if (last !== undefined) this.#delete(`${folder}${turnIn(last)}/${caller}`);
      if (turn > 0) this.#put(`${folder}${turnIn(turn)}/${caller}`, '');
    }
    const forgotten = forgottenTurns(after.turns);
    if (forgotten > 0)
      this.writes.push({ delete: { key: folder, rangeEnd: `${folder}${turnIn(forgotten)}` } });
  }
}
