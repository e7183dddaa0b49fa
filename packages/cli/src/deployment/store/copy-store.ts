import { StoreError, type TaskStore } from '@batonjs/store';
import type { StoredTask, Transfer } from '@batonjs/store/rules';
import { usage } from '../../errors/cli-error.ts';
import { durationText } from '../../flags/duration.ts';
import { Concurrent } from './concurrent.ts';
import { mustBeEmpty } from './import-store.ts';
import type { RecordRow } from './lines.ts';
import { factsOf, pagesOf, recordsOf, transferOf } from './read-store.ts';

export interface CopyOptions {
  /** For how long the source may refuse writes before the copy is complete, in milliseconds. */
  readonly stopMs: number;
  readonly signal?: AbortSignal;
  readonly onPass?: (pass: Pass) => void;
}

/** What one pass over all tasks came to. */
export interface Pass {
  readonly tasks: number;
  /** How many tasks and records were not the same in the target. */
  readonly changed: number;
  readonly ms: number;
}

/** What a finished copy came to. */
export interface Copied extends Pick<Pass, 'tasks'> {
  readonly passes: number;
  /** For how long no process could write before the copy was complete. */
  readonly refusedMs: number;
}

/** The record of a target that is not complete: where it is copied from. */
const marker = 'copied-from';
/** After so many passes, a source that changes too fast or has too many tasks is given up. */
const mostPasses = 8;
/** The freeze of a copy that was killed is over so much later than its last pass may take. */
const graceMs = 5_000;

/**
 * Copies all of a store into another one while processes work on it, in passes: each writes what differs there. Then
 * no process can write to the source, a last pass is made, and another one that finds no difference. The source refuses writes
 * from then on. A copy that was interrupted is gone on with by the next one.
 */
export async function copyStore(from: TaskStore, to: TaskStore, options: CopyOptions): Promise<Copied> {
  const { stopMs, signal, onPass } = options;
  const [source, target] = [transferOf(from), transferOf(to)];
  await mark(from, to, target);
  let passes = 0;
  const pass = async (deadline?: number) => {
    const made = await copyOnce({ source, target, signal, deadline });
    passes++;
    onPass?.(made);
    return made;
  };
  let last = await pass();
  do {
    if (passes === mostPasses)
      throw usage(
        `Two passes take ${durationText(2 * last.ms)}, and writes may be refused for ${durationText(stopMs)}`,
        'Give a longer --stop-for, or delete tasks that are not needed before',
      );
    last = await pass();
  } while (2 * last.ms > 0.8 * stopMs);
  const began = performance.now();
  await source.freeze?.(stopMs + graceMs);
  try {
    await pass(began + stopMs);
    const { changed } = await pass(began + stopMs);
    if (changed > 0) throw new Error(`${changed} tasks and records are not the same after the last pass`);
    // In this order: killed between, the next one ends it.
    await source.freeze?.(Number.POSITIVE_INFINITY);
    await target.putRecord(marker);
  } catch (error) {
    await source.freeze?.(0);
    throw error;
  }
  return { tasks: last.tasks, passes, refusedMs: Math.ceil(performance.now() - began) };
}

/** Marks an empty target as one that is copied to. Throws for one with other data. */
async function mark(from: TaskStore, to: TaskStore, target: Transfer): Promise<void> {
  const kept = await to.getRecord(marker);
  const identity = await from.identity();
  if (kept?.value === identity) return;
  await mustBeEmpty(target);
  await to.putRecord(marker, 0, identity);
}

interface Copying {
  readonly source: Transfer;
  readonly target: Transfer;
  readonly signal: AbortSignal | undefined;
  readonly deadline: number | undefined;
}

async function copyOnce(copying: Copying): Promise<Pass> {
  const began = performance.now();
  const [{ tasks, changed }, gone, records] = await Promise.all([
    copyTasks(copying),
    removeGone(copying),
    copyRecords(copying),
  ]);
  return { tasks, changed: changed + gone + records, ms: Math.ceil(performance.now() - began) };
}

function mustGoOn({ signal, deadline = Number.POSITIVE_INFINITY }: Copying): void {
  signal?.throwIfAborted();
  if (performance.now() > deadline)
    throw new StoreError('UNAVAILABLE', 'The last pass took too long: writes are taken again');
}

/** Writes the tasks that are not the same in the target. */
async function copyTasks(copying: Copying): Promise<{ tasks: number; changed: number }> {
  const { source, target } = copying;
  const writes = new Concurrent();
  const names = { tasks: 0, changed: 0 };
  for await (const { rows } of pagesOf(source)) {
    mustGoOn(copying);
    names.tasks += rows.length;
    const [known, webhooks] = await Promise.all([
      target.find(rows),
      source.find(rows.filter((row) => row.webhooks > 0)),
    ]);
    const hooked = webhooks.values();
    for (const [n, row] of rows.entries()) {
      const there = known[n];
      const hooks = row.webhooks > 0 ? hooked.next().value?.webhooks : [];
      if (there?.row && lasting(row, hooks) === lasting(there.row, there.webhooks)) continue;
      names.changed++;
      await writes.run(() => copyTask(copying, row));
    }
  }
  await writes.end();
  return names;
}

/** What has to be the same in both: revisions and leases are those of each store. */
const lasting = (row: StoredTask['row'], webhooks: StoredTask['webhooks'] = []): string =>
  JSON.stringify([
    { ...row, revision: 0, leaseUntil: 0, leasedAt: 0, turnAt: 0, endedAt: 0 },
    webhooks.map((webhook) => ({ ...webhook, revision: 0, readyAt: 0 })),
  ]);

async function copyTask(copying: Copying, name: StoredTask['row']): Promise<void> {
  const { source, target } = copying;
  const task = await source.read(name);
  if (!task) return;
  try {
    const after = await lengthOf(copying, task);
    for await (const facts of factsOf(source, task, after)) await target.append(task.row, facts);
    await target.put(task);
  } catch (error) {
    // Deleted meanwhile: the next pass sees it.
    if (!StoreError.is(error, 'VERSION_CONFLICT')) throw error;
  }
}

/** How many facts of a log the target has. Facts of another log are deleted there. */
async function lengthOf({ source, target }: Copying, { row }: StoredTask): Promise<number> {
  const [there] = await target.find([row]);
  const version = there?.row?.version ?? 0;
  if (version === 0) return 0;
  const read = async (transfer: Transfer) => (await transfer.facts(row, version - 1, 1))[0]?.commitId;
  if (version <= row.version && (await read(source)) === (await read(target))) return version;
  await target.remove(row);
  return 0;
}

/** Deletes the tasks that the source does not have any more. Resolves to how many. */
async function removeGone(copying: Copying): Promise<number> {
  const { source, target } = copying;
  let gone = 0;
  for await (const { rows } of pagesOf(target)) {
    mustGoOn(copying);
    const known = await source.find(rows);
    for (const [n, row] of rows.entries())
      if (!known[n]?.row) {
        gone++;
        await target.remove(row);
      }
  }
  return gone;
}

/** Makes the records of the target those of the source. Resolves to how many were not. */
async function copyRecords({ source, target }: Copying): Promise<number> {
  let changed = 0;
  const put = async (record: RecordRow | string) => {
    changed++;
    await target.putRecord(record);
  };
  const there = recordsOf(target);
  let other = (await there.next()).value;
  const next = async () => {
    other = (await there.next()).value;
  };
  for await (const record of recordsOf(source)) {
    for (; other && other.name < record.name; await next()) if (other.name !== marker) await put(other.name);
    const isSame = other?.name === record.name && sameRecord(other) === sameRecord(record);
    if (!isSame) await put(record);
    if (other?.name === record.name) await next();
  }
  for (; other; await next()) if (other.name !== marker) await put(other.name);
  return changed;
}

const sameRecord = ({ json, scope, ttlMs, expiresAt }: RecordRow): string =>
  JSON.stringify([json, scope, ttlMs, expiresAt]);
