import { type KeptFacts, type KeptLog, type Scope, type StoredFact, StoreError } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { digestOf } from '../layout/digest.ts';
import { inside, type Keys } from '../layout/keys.ts';
import { taskOf } from '../layout/known-task.ts';
import type { KeyValue } from '../wire/messages.ts';
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
    const keys = [this.#keys.task(task), this.#keys.snapshot(task)];
    // The end of a range instead of a limit: etcd visits all keys of a range, whatever its limit.
    const begin = { key: this.#keys.fact(task, 1), rangeEnd: this.#keys.fact(task, withRow + 1) };
    const [kept, stored, begun] = await this.#cluster.read([...keys.map((key) => ({ key })), begin]);
    const { row, revision } = taskOf(kept!.kvs[0]);
    if (!row) return undefined;
    const snapshot = await this.#snapshot(task, taskId, stored!.kvs[0]);
    const start = snapshot?.version ?? 0;
    // Facts never change: all up to this version existed when the row was read.
    const facts = await (!snapshot && row.version <= withRow
      ? this.#factsOf(task, begun!.kvs)
      : this.#read(task, start, row.version));
    if (facts.length < row.version - start && (await this.#isGone(task, revision))) return undefined;
    return { row, snapshot, facts };
  }

  async facts(scope: Scope, taskId: string, after: number, limit: number): Promise<KeptFacts> {
    const task = digestOf(scope, taskId);
    const from = Math.max(0, after);
    const range = { ...inside(this.#keys.facts(task)), key: this.#keys.fact(task, from + 1) };
    const first = { ...range, limit: Math.min(atOnce, limit) };
    const [kept, begun] = await this.#cluster.read([{ key: this.#keys.task(task) }, first]);
    const version = taskOf(kept!.kvs[0]).row?.version ?? 0;
    const last = Math.min(version, after + limit);
    const begin = (await this.#factsOf(task, begun!.kvs)).filter((fact) => isWithin(fact, after, last));
    const position = begun!.kvs.length === 0 ? last : positionOf(begun!.kvs.at(-1)!);
    const rest = position < last ? await this.#read(task, position, last) : [];
    return { version, facts: [...begin, ...rest] };
  }

  async #snapshot(task: string, taskId: string, kept: KeyValue | undefined): Promise<KeptLog['snapshot']> {
    if (!kept) return undefined;
    try {
      return ((await this.#parts.read(task, kept)) as Pick<KeptLog, 'snapshot'>).snapshot;
    } catch (error) {
      throw unreadable(`The snapshot of task ${taskId}`, error);
    }
  }

  /** Whether the log was deleted since the row was read at that revision. */
  async #isGone(task: string, revision: number): Promise<boolean> {
    const [range] = await this.#cluster.read([{ key: this.#keys.task(task) }]);
    const now = range!.kvs[0];
    return !now || now.modRevision !== revision;
  }

  /** The facts after a position, up to `last`. */
  async #read(task: string, after: number, last: number): Promise<StoredFact[]> {
    const facts: StoredFact[] = [];
    for (let position = after; position < last; ) {
      const limit = Math.min(atOnce, last - position);
      const range = { ...inside(this.#keys.facts(task)), key: this.#keys.fact(task, position + 1), limit };
      const { kvs } = (await this.#cluster.read([range]))[0]!;
      const found = await this.#factsOf(task, kvs);
      facts.push(...found.filter((fact) => isWithin(fact, after, last)));
      position = kvs.length === 0 ? last : positionOf(kvs.at(-1)!);
    }
    return facts;
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
      const { commitId, first, facts } = (await this.#parts.read(task, kept)) as Entry;
      return facts.map((fact, n) => ({ version: first + n, commitId, fact }));
    } catch (error) {
      throw unreadable(`The commit up to ${positionOf(kept)}`, error);
    }
  }
}

const positionOf = ({ key }: KeyValue): number => Number(String(key).slice(-10));

const isWithin = ({ version }: StoredFact, after: number, last: number): boolean =>
  version > after && version <= last;

const unreadable = (what: string, cause: unknown): StoreError =>
  StoreError.is(cause) ? cause : new StoreError('UNREADABLE', `${what} is damaged`, { cause });
