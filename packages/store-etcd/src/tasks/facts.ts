import { diverged, type Scope, type StoredFact, type StoredLog, StoreError } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { digestOf } from '../layout/digest.ts';
import { inside, type Keys } from '../layout/keys.ts';
import type { Parts } from '../layout/parts.ts';
import type { KeyValue } from '../wire/messages.ts';
import { taskRowOf } from './task-row.ts';

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
export class Facts {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #parts: Parts;

  constructor(cluster: Cluster, keys: Keys, parts: Parts) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#parts = parts;
  }

  async load(scope: Scope, taskId: string): Promise<StoredLog | undefined> {
    const task = digestOf(scope, taskId);
    const keys = [this.#keys.log(task), this.#keys.turn(task), this.#keys.snapshot(task)];
    // The end of a range instead of a limit: etcd visits all keys of a range, whatever its limit.
    const begin = { key: this.#keys.fact(task, 1), rangeEnd: this.#keys.fact(task, withRow + 1) };
    const [log, turn, kept, begun] = await this.#cluster.read([...keys.map((key) => ({ key })), begin]);
    const found = taskRowOf(log!.kvs[0], turn!.kvs[0]);
    if (!found) return undefined;
    const { head, version } = found.row;
    const stored = kept!.kvs[0];
    const read = async () =>
      stored && ((await this.#parts.read(task, stored)) as Pick<StoredLog, 'snapshot'>).snapshot;
    const snapshot = await read().catch((error: unknown) => {
      throw unreadable(`The snapshot of task ${taskId}`, error);
    });
    const start = snapshot?.version ?? 0;
    const isWhole = !stored && version <= withRow;
    // Facts never change: all up to this version existed when the row was read.
    const facts = await (isWhole
      ? this.#factsOf(task, begun!.kvs)
      : this.#read(task, start, version, version));
    // The log was deleted meanwhile.
    if (facts.length < version - start) return undefined;
    return { head, version, facts, ...(snapshot && { snapshot }) };
  }

  async read(
    scope: Scope,
    taskId: string,
    after: number,
    limit: number,
    lastCommitId?: string,
  ): Promise<StoredFact[]> {
    const isKnown = lastCommitId !== undefined;
    const facts = await this.#read(digestOf(scope, taskId), isKnown ? after - 1 : after, after + limit);
    if (isKnown) {
      const last = facts[0]?.version === after ? facts.shift() : undefined;
      if (last?.commitId !== lastCommitId) throw diverged(taskId, after);
    }
    if (facts.some(({ version }, n) => version !== after + n + 1))
      throw new StoreError('LOG_GAP', `The facts of task ${taskId} after ${after} are not kept any more`);
    return facts;
  }

  /** The facts after a position, up to `last`. `end`: how long the log is, if the caller knows it. */
  async #read(task: string, after: number, last: number, end?: number): Promise<StoredFact[]> {
    const facts: StoredFact[] = [];
    for (let position = after; position < last; ) {
      const limit = Math.min(atOnce, last - position);
      const range = { ...inside(this.#keys.facts(task)), key: this.#keys.fact(task, position + 1), limit };
      const { kvs } = (await this.#cluster.read([range]))[0]!;
      const found = await this.#factsOf(task, kvs);
      facts.push(...found.filter(({ version }) => version > after && version <= last));
      position = kvs.length === 0 ? last : positionOf(kvs.at(-1)!);
      if (kvs.length < limit && end === undefined) break;
    }
    return facts;
  }

  async #factsOf(task: string, kvs: readonly KeyValue[]): Promise<StoredFact[]> {
    const facts: StoredFact[] = [];
    for (const kept of kvs) facts.push(...(await this.entryOf(task, kept)));
    return facts;
  }

  /** The fact at a position. Undefined if it is damaged, or gone. */
  async factAt(task: string, position: number, kept: KeyValue | undefined): Promise<StoredFact | undefined> {
    const facts = kept ? await this.entryOf(task, kept).catch(() => []) : [];
    return facts.find(({ version }) => version === position);
  }

  /** The facts of one commit. Rejects with code `UNREADABLE` if they are damaged. */
  async entryOf(task: string, kept: KeyValue): Promise<StoredFact[]> {
    try {
      const { commitId, first, facts } = (await this.#parts.read(task, kept)) as Entry;
      return facts.map((fact, n) => ({ version: first + n, commitId, fact }));
    } catch (error) {
      throw unreadable(`The commit up to ${positionOf(kept)}`, error);
    }
  }
}

const positionOf = ({ key }: KeyValue): number => Number(String(key).slice(-10));

const unreadable = (what: string, cause: unknown): StoreError =>
  StoreError.is(cause) ? cause : new StoreError('UNREADABLE', `${what} is damaged`, { cause });
