import {
  type Change,
  type Replaced,
  rememberedTurns,
  StoreError,
  type TaskWrite,
  type WebhookRow,
} from '@batonjs/store';
import { digestOf } from '../layout/digest.ts';
import { inside, type Keys } from '../layout/keys.ts';
import {
  absent,
  type KnownTask,
  type KnownWebhooks,
  noWebhooks,
  taskValue,
  webhooksValue,
} from '../layout/known-task.ts';
import { turnIn } from '../layout/order.ts';
import { isPlacedAlike, moves, placesOf, placesOfWebhooks } from '../layout/places.ts';
import { largestText, type Parts, type Upload } from '../logs/parts.ts';
import type { RequestOp } from '../wire/messages.ts';
import type { Look } from './reader.ts';

/** Larger configs, in bytes of JSON, have a key of their own: changes of a task's webhooks write all of them. */
const largestInRow = 1_024;

/** The most bytes of the webhooks of a task: beside them, a transaction has room for facts and a snapshot. */
const largestWebhooks = 768 * 1024;

/** What a change makes of one task. */
interface TaskChange {
  readonly known: KnownTask;
  write?: TaskWrite;
  readonly webhooks: Replaced<WebhookRow>[];
}

/** All that a change writes. */
export interface Written {
  readonly writes: RequestOp[];
  /** Keys whose values will hold the id of the change. */
  readonly marked: string[];
  /** Keys that it deletes. */
  readonly deleted: string[];
  readonly uploads: Upload[];
  /** The tasks afterwards. The revision of a key that it writes is 0. */
  readonly tasks: Map<string, KnownTask>;
}

/** Makes the operations that write a change. */
export class Writer {
  readonly #keys: Keys;
  readonly #parts: Parts;

  constructor(keys: Keys, parts: Parts) {
    this.#keys = keys;
    this.#parts = parts;
  }

  /** The tasks that a change writes, by their digests. */
  tasksOf({ tasks = [], webhooks = [] }: Change<unknown>, look: Look): Map<string, TaskChange> {
    const changes = new Map<string, TaskChange>();
    const of = ({ scope, taskId }: { scope: string; taskId: string }): TaskChange => {
      const task = digestOf(scope, taskId);
      const change = changes.get(task) ?? { known: look.tasks.get(task) ?? absent, webhooks: [] };
      changes.set(task, change);
      return change;
    };
    for (const write of tasks) of((write.after ?? write.before)!).write = write;
    for (const webhook of webhooks) of((webhook.after ?? webhook.before)!).webhooks.push(webhook);
    return changes;
  }

  /** Uploads large values. `by`: the id of the change. */
  async write(change: Change<unknown>, look: Look, by: string): Promise<Written> {
    const written: Written = { writes: [], marked: [], deleted: [], uploads: [], tasks: new Map() };
    const notified = new Set((change.notify ?? []).flatMap((topic) => ('queue' in topic ? topic.queue : [])));
    try {
      for (const [task, one] of this.tasksOf(change, look))
        await this.#task(task, one, notified, by, written);
    } catch (error) {
      for (const { done } of written.uploads) done();
      throw error;
    }
    this.#queue(change, look, by, written);
    return written;
  }

  async #task(
    task: string,
    { known, write, webhooks }: TaskChange,
    notified: ReadonlySet<string>,
    by: string,
    written: Written,
  ): Promise<void> {
    const keys = this.#keys;
    const before = known.webhooks ?? noWebhooks;
    const isDeleted = write !== undefined && write.after === undefined;
    const after = isDeleted
      ? noWebhooks
      : webhooks.length === 0
        ? before
        : this.#webhooks(task, before, webhooks, by, written);
    const row = write ? write.after : known.row;
    const isMoved =
      write !== undefined && !(known.row && row && notified.size === 0 && isPlacedAlike(known.row, row));
    if (isMoved)
      written.writes.push(...moves(placesOf(keys, task, known.row), placesOf(keys, task, row), notified));
    const [was, is] = [before, after].map(({ rows }) => placesOfWebhooks(keys, task, rows));
    written.writes.push(...moves(was!, is!, notified));
    let snapshotParts = known.snapshotParts;
    if (isDeleted) {
      const all = [keys.task(task), keys.snapshot(task), keys.webhooks(task)];
      written.writes.push(...all.map((key) => ({ delete: { key } })));
      const folders = [keys.facts(task), keys.parts(task), keys.allOnce(task), keys.configs(task)];
      written.writes.push(...folders.map((folder) => ({ delete: inside(folder) })));
      written.deleted.push(keys.task(task));
    } else if (write) {
      const log = await this.#log(task, write, known, by, written);
      if (log.hasSnapshot) snapshotParts = log.snapshotParts;
      put(written, keys.task(task), taskValue(row!, snapshotParts, by));
    }
    const isSame = known.webhooks === undefined || after === before;
    written.tasks.set(task, {
      row,
      revision: write ? 0 : known.revision,
      snapshotParts,
      webhooks: isSame ? known.webhooks : after,
    });
  }

  /** The webhooks of a task afterwards. */
  #webhooks(
    task: string,
    before: KnownWebhooks,
    changes: readonly Replaced<WebhookRow>[],
    by: string,
    { writes, marked, deleted }: Written,
  ): KnownWebhooks {
    const keys = this.#keys;
    const apart = new Set(before.apart);
    const rows = new Map(before.rows.map((webhook) => [webhook.id, webhook]));
    let isLarger = false;
    for (const { before: was, after } of changes) {
      const id = (after ?? was)!.id;
      const key = keys.config(task, id);
      const isKept = after !== undefined && was !== undefined && after.config === was.config;
      if (!isKept) {
        const value = after && JSON.stringify(after.config);
        const isLarge = value !== undefined && Buffer.byteLength(value) > largestInRow;
        if (isLarge) writes.push({ put: { key, value } });
        else if (apart.has(id)) writes.push({ delete: { key } });
        if (isLarge) apart.add(id);
        else apart.delete(id);
        isLarger ||= after !== undefined;
      }
      if (after) rows.set(id, apart.has(id) ? { ...after, config: undefined as never } : after);
      else rows.delete(id);
    }
    const all = [...rows.values()];
    const key = keys.webhooks(task);
    if (all.length === 0) {
      writes.push({ delete: { key } });
      deleted.push(key);
      return noWebhooks;
    }
    const value = webhooksValue(all, apart, by);
    const bytes = Buffer.byteLength(value);
    if (isLarger && bytes > largestWebhooks) {
      const message = `The webhooks of a task take ${bytes} bytes, and a store in etcd has room for ${largestWebhooks}`;
      throw new StoreError('INVALID_COMMIT', `${message}: let a task have fewer`);
    }
    writes.push({ put: { key, value } });
    marked.push(key);
    return { rows: all, apart, revision: 0 };
  }

  /** The facts, the snapshot and the `once` key of a task. */
  async #log(
    task: string,
    { facts = [], commitId, snapshot, once }: TaskWrite,
    known: KnownTask,
    by: string,
    written: Written,
  ): Promise<{ readonly hasSnapshot: boolean; readonly snapshotParts: string | undefined }> {
    const keys = this.#keys;
    const first = (known.row?.version ?? 0) + 1;
    const mark = JSON.stringify(by);
    if (facts.length > 0) {
      const head = `"by":${mark},"commitId":${JSON.stringify(commitId)},"first":${first}`;
      const key = keys.fact(task, first + facts.length - 1);
      await this.#put(task, key, `{${head},"facts":[${facts.join(',')}]}`, by, written);
      written.marked.push(key);
    }
    if (once !== undefined)
      written.writes.push({ put: { key: keys.once(task, once), value: JSON.stringify({ first, by }) } });
    if (!snapshot) return { hasSnapshot: false, snapshotParts: undefined };
    const value = `{"snapshot":${snapshot.json}}`;
    const snapshotParts = await this.#put(task, keys.snapshot(task), value, by, written);
    const old = known.snapshotParts;
    if (old !== undefined) written.writes.push({ delete: inside(keys.partsOf(task, old)) });
    return { hasSnapshot: true, snapshotParts };
  }

  /** Resolves to the id of its parts, if it is kept in parts. */
  async #put(task: string, key: string, text: string, by: string, { writes, uploads }: Written) {
    if (Buffer.byteLength(text) <= largestText) {
      writes.push({ put: { key, value: text } });
      return undefined;
    }
    const upload = await this.#parts.upload(task, text, by);
    uploads.push(upload);
    writes.push({ put: { key, value: upload.value } }, ...upload.keep);
    return upload.id;
  }

  #queue({ queue, callers = [] }: Change<unknown>, look: Look, by: string, written: Written): void {
    if (!queue?.after) return;
    const { after } = queue;
    put(written, this.#keys.queue(after.queue), JSON.stringify({ row: after, by }));
    const folder = this.#keys.served(after.queue);
    for (const { scope, turn } of callers) {
      const caller = digestOf(scope);
      const last = look.served.get(caller);
      if (last !== undefined) written.writes.push({ delete: { key: `${folder}${turnIn(last)}/${caller}` } });
      written.writes.push({ put: { key: `${folder}${turnIn(turn)}/${caller}`, value: '' } });
    }
    const forgotten = after.turns - rememberedTurns;
    if (forgotten > 0)
      written.writes.push({ delete: { key: folder, rangeEnd: `${folder}${turnIn(forgotten)}` } });
  }
}

function put({ writes, marked }: Written, key: string, value: string): void {
  writes.push({ put: { key, value } });
  marked.push(key);
}
