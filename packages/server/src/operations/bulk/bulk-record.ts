import { FACT_FORMAT, type Fact, type Head, headOf } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { Scope, TaskStore } from '@batonjs/store';
import { sha256 } from '#bytes';
import { newId } from '../../base/system/new-id.ts';
import { isoTime } from '../../base/timing/clock.ts';
import { type CommitSource, commitOnce } from '../fork/commit-once.ts';
import type { BulkRequest } from './bulk.ts';
import { type BulkPlace, firstPlace } from './bulk-place.ts';

/** A run as its record says it. */
export interface BulkRun {
  readonly id: string;
  /** The scope of its tasks. */
  readonly scope: Scope;
  /** Those whose tasks come after it. */
  readonly others?: readonly Scope[];
  readonly request: BulkRequest;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly place: BulkPlace;
  readonly isOver: boolean;
}

/** The scope of the records of a queue. No caller has it. */
export function bulkScope(queue: string): Scope {
  const scope = JSON.stringify(['baton:bulk', queue]);
  return scope.length <= 512 ? scope : sha256(scope, 'base64url');
}

type Began = Pick<BulkRun, 'scope' | 'others' | 'request' | 'startedAt'>;

/**
 * The record of a run: a log in the store. Its first fact names the action and the tasks, each further one says how far it
 * is, and an answer ends it. One process at a time writes it: each commit expects the length that it knows.
 */
export class BulkRecord {
  readonly run: BulkRun;
  readonly #queue: string;
  readonly #source: CommitSource;
  #version: number;
  #head: Head | undefined;

  private constructor(run: BulkRun, queue: string, source: CommitSource, version: number, head?: Head) {
    this.run = run;
    this.#queue = queue;
    this.#source = source;
    this.#version = version;
    this.#head = head;
  }

  /** Begins a record. */
  static async begin(began: Began, queue: string, source: CommitSource): Promise<BulkRecord> {
    const run = { ...began, id: newId(source.clock), place: firstPlace, isOver: false };
    const record = new BulkRecord(run, queue, source, 0);
    await record.#write({ ...began });
    return record;
  }

  /** Reads a record. Rejects with `TASK_NOT_FOUND`. */
  static async open(id: string, queue: string, source: CommitSource): Promise<BulkRecord> {
    const log = await source.store.load(bulkScope(queue), id);
    const run =
      log &&
      toRun(
        id,
        log.facts.map(({ fact }) => fact),
      );
    if (!log || !run) throw new A2AError('TASK_NOT_FOUND', `There is no run ${id}`);
    return new BulkRecord(run, queue, source, log.version, log.head);
  }

  /** Writes how far the run is. Rejects with `UNSUPPORTED_OPERATION` if another process goes on with it. */
  async note(place: BulkPlace): Promise<void> {
    await this.#write({ place });
  }

  /** Ends the record. */
  async end(place: BulkPlace): Promise<void> {
    await this.#write({ place }, 'answered');
  }

  async #write(data: object, type: 'message-received' | 'answered' = 'message-received'): Promise<void> {
    const { clock } = this.#source;
    const message: Message = {
      messageId: newId(clock),
      contextId: 'bulk',
      role: 'ROLE_AGENT',
      parts: [{ data: JSON.parse(JSON.stringify(data)) }],
    };
    const fact: Fact = { format: FACT_FORMAT, at: isoTime(clock.now()), type, message };
    const head = headOf(this.#head, fact);
    const isOurs = await commitOnce(
      {
        scope: bulkScope(this.#queue),
        taskId: this.run.id,
        commitId: newId(clock),
        expectedVersion: this.#version,
        facts: [fact],
        head,
      },
      this.#source,
    );
    if (!isOurs)
      throw new A2AError('UNSUPPORTED_OPERATION', 'Another process goes on with this run, or ended it');
    this.#version += 1;
    this.#head = head;
  }
}

/** The runs of a queue that the store remembers, those that were written last first. */
export async function bulkRuns(store: TaskStore, queue: string, limit = 50): Promise<BulkRun[]> {
  const { tasks } = await store.list(bulkScope(queue), { limit, answered: true });
  const runs = await Promise.all(
    tasks.map(async ({ taskId }) => {
      const log = await store.load(bulkScope(queue), taskId);
      return (
        log &&
        toRun(
          taskId,
          log.facts.map(({ fact }) => fact),
        )
      );
    }),
  );
  return runs.filter((run) => run !== undefined);
}

function toRun(id: string, facts: readonly Fact[]): BulkRun | undefined {
  const began = dataIn<Began>(facts[0]);
  if (!began) return undefined;
  const last = facts.at(-1);
  const place = dataIn<{ place?: BulkPlace }>(last)?.place ?? firstPlace;
  return { id, ...began, place, isOver: last?.type === 'answered' };
}

function dataIn<T>(fact: Fact | undefined): T | undefined {
  if (fact?.type !== 'message-received' && fact?.type !== 'answered') return undefined;
  const [part] = fact.message.parts;
  return part && 'data' in part ? (part.data as T) : undefined;
}
