import { type KeptFacts, type KeptLog, type Scope, type StoredFact, StoreError } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { digestOf } from '../layout/digest.ts';
import { inside, type Keys, lastPart } from '../layout/keys.ts';
import { taskOf } from '../layout/known-task.ts';
import type { KeyValue, RangeRequest, RangeResponse } from '../wire/messages.ts';
import type { Parts } from './parts.ts';

/** The most commits that are read at once. */
const atOnce = 200;

/** How many facts are read together with the row of their task: all of them, of most tasks. */
const withRow = 32;

/** The value of `fact/<task>/<position>`: the facts of one commit. */
interface Entry {
  readonly commitId: string;
  readonly first: number;
  readonly facts: readonly StoredFact['fact'][];
}

/** Reads logs. */
export class Logs {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #parts: Parts;

  constructor(cluster: Cluster, keys: Keys, parts: Parts) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#parts = parts;
  }

  async log(scope: Scope, taskId: string): Promise<KeptLog | undefined> {
    const task = digestOf(scope, taskId);
    const [{ kvs: kept }, { kvs: stored }, begun] = await this.#cluster.read([
      { key: this.#keys.task(task) },
      { key: this.#keys.snapshot(task) },
      // The end of a range instead of a limit: etcd visits all keys of a range, whatever its limit.
      { key: this.#keys.fact(task, 1), rangeEnd: this.#keys.fact(task, withRow + 1) },
    ]);
    const { row, revision } = taskOf(kept[0]);
    if (!row) return undefined;
    const snapshot = await this.#snapshot(task, taskId, stored[0]);
    const start = snapshot?.version ?? 0;
    // Facts never change: all up to this version existed when the row was read.
    const facts = await (!snapshot && row.version <= withRow
      ? this.#factsOf(task, begun.kvs)
      : this.#read(task, start, row.version));
    if (facts.length < row.version - start) {
      const now = await this.#cluster.get(this.#keys.task(task));
      // The log was deleted since.
      if (now?.modRevision !== revision) return undefined;
    }
    return { row, snapshot, facts };
  }

  async facts(scope: Scope, taskId: string, after: number, limit: number): Promise<KeptFacts> {
    const task = digestOf(scope, taskId);
    const from = Math.max(0, after);
    const [{ kvs }, first] = await this.#cluster.read([
      { key: this.#keys.task(task) },
      this.#rangeAfter(task, from, Math.min(atOnce, limit)),
    ]);
    const version = taskOf(kvs[0]).row?.version ?? 0;
    const last = Math.min(version, after + limit);
    return { version, facts: await this.#read(task, from, last, first) };
  }

  async #snapshot(task: string, taskId: string, kept: KeyValue | undefined): Promise<KeptLog['snapshot']> {
    if (!kept) return undefined;
    try {
      return (await this.#parts.read<Pick<KeptLog, 'snapshot'>>(task, kept)).snapshot;
    } catch (error) {
      throw unreadable(`The snapshot of task ${taskId}`, error);
    }
  }

  /** The commits whose last fact has a position after `after`. */
  #rangeAfter(task: string, after: number, limit: number): RangeRequest {
    return { ...inside(this.#keys.facts(task)), key: this.#keys.fact(task, after + 1), limit };
  }

  /** The facts after a position, up to `last`. `begun`: the first of their commits, if they were read. */
  async #read(task: string, after: number, last: number, begun?: RangeResponse): Promise<StoredFact[]> {
    const facts: StoredFact[] = [];
    let range = begun;
    for (let position = after; position < last; range = undefined) {
      const limit = Math.min(atOnce, last - position);
      range ??= (await this.#cluster.read([this.#rangeAfter(task, position, limit)]))[0];
      const end = range.kvs.at(-1);
      if (!end) break;
      facts.push(...(await this.#factsOf(task, range.kvs)));
      position = positionOf(end);
    }
    return facts.filter(({ version }) => version > after && version <= last);
  }

  async #factsOf(task: string, kvs: readonly KeyValue[]): Promise<StoredFact[]> {
    const facts: StoredFact[] = [];
    for (const kept of kvs) facts.push(...(await this.#entryOf(task, kept)));
    return facts;
  }

  /** The fact at a position. Undefined if it is damaged, or gone. */
  async factAt(task: string, position: number, kept: KeyValue | undefined): Promise<StoredFact | undefined> {
    const facts = kept ? await this.#entryOf(task, kept).catch(() => []) : [];
    return facts.find(({ version }) => version === position);
  }

  /** The facts of one commit. Rejects with code `UNREADABLE` if they are damaged. */
  async #entryOf(task: string, kept: KeyValue): Promise<StoredFact[]> {
    try {
      const { commitId, first, facts } = await this.#parts.read<Entry>(task, kept);
      return facts.map((fact, n) => ({ version: first + n, commitId, fact }));
    } catch (error) {
      throw unreadable(`The commit up to ${positionOf(kept)}`, error);
    }
  }
}

const positionOf = (kept: KeyValue): number => Number(lastPart(kept));

const unreadable = (what: string, cause: unknown): StoreError =>
  StoreError.is(cause) ? cause : new StoreError('UNREADABLE', `${what} is damaged`, { cause });
