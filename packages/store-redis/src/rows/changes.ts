import { isPending, type TaskName } from '@batonjs/store';
import {
  type Change,
  ComparedChanges,
  changedRow,
  type DatabaseClock,
  type Found,
  type FoundTask,
  KnownTasks,
  type Replaced,
  type Step,
  type TaskRow,
  topicNumber,
  type Wanted,
  type WebhookRow,
} from '@batonjs/store/adapter';
import { guessed, noTask } from '@batonjs/store/rules';
import { listOf } from '../connection/driver.ts';
import { type Database, script, vital } from '../database/database.ts';
import { write as source } from '../lua/write.ts';
import { Group } from './group.ts';
import type { Reader } from './reader.ts';

const writeScript = script(source);
const vitalScript = vital(source);

/** A decision, and what it was decided on. */
interface Decided<T> {
  readonly change: Change<T>;
  readonly found: Found;
  readonly wanted: Wanted;
}

/** Decides changes, and writes each in one command. */
export function changesOf(
  database: Database,
  reader: Reader,
  clock: DatabaseClock,
): <T>(step: Step<T>) => Promise<T> {
  const known = new KnownTasks();
  const compared = new ComparedChanges();

  /** The change, on what this process knows; undefined if that is not enough. */
  function guess<T>(step: Step<T>): Decided<T> | undefined {
    const { wanted } = step;
    const tasks = wanted.tasks && !step.isMostlyIdle ? known.find(wanted.tasks) : undefined;
    const moment = tasks && clock.moment();
    if (!moment) return undefined;
    // A record that is wanted with a task mostly is not there.
    const records = wanted.records?.map(() => undefined);
    const found = { ...moment, tasks, records, waiting: wanted.waiting && 0 };
    const change = guessed(step, found);
    // What was left out of the change was decided on, too.
    return change && { change: { ...change, partly: undefined }, found, wanted };
  }

  /** Writes tasks that do not depend on each other. Resolves to those that were written. */
  async function writeEach<T>(decided: Decided<T>, tasks: readonly Replaced<TaskRow>[]) {
    const groups = tasks.map((task) => groupOf({ ...decided, change: { ...decided.change, tasks: [task] } }));
    const written = await write(decided, groups);
    const done = tasks.filter((_, n) => written[n]);
    for (const { after } of done) if (after) known.remember(after, { ...noTask, row: after });
    return done;
  }

  async function decide<T>(step: Step<T>): Promise<Decided<T>> {
    const found = await reader.find(step.wanted);
    let decision = step.decide(found);
    while ('decide' in decision) decision = decision.decide(await reader.find(decision.wanted));
    return { change: decision, found, wanted: step.wanted };
  }

  /** Resolves to whether each group was written. */
  async function write<T>(
    { change, wanted }: Decided<T>,
    groups: readonly Group[],
  ): Promise<readonly boolean[]> {
    const names = wanted.tasks ?? change.tasks?.map(changedRow) ?? [];
    const taskId = names[0]?.taskId ?? change.webhooks?.[0]?.after?.taskId;
    const placed = database.shards();
    const shards = isPending(placed) ? await placed : placed;
    const shard =
      wanted.part !== undefined || taskId === undefined ? shards.at(wanted.part ?? 0) : shards.of(taskId);
    const [first] = groups;
    const args = first && groups.length === 1 ? first.args : groups.flatMap((group) => group.args);
    const run = isVital(change) ? vitalScript : writeScript;
    const asked = clock.asked();
    const reply = await database.ofShard(run, shard, args);
    const [time, ...written] = listOf(reply);
    clock.answered(asked, Number(time));
    if (written.includes(0)) known.forget(names);
    return written.map((one) => one === 1);
  }

  /** The tasks as they are known from now on. */
  function note({ change, found, wanted }: Decided<unknown>): void {
    for (const task of change.tasks ?? []) {
      const { after } = task;
      const name = changedRow(task);
      // Mostly one task is wanted, and that is the one.
      const n = wanted.tasks?.length === 1 ? 0 : (wanted.tasks?.findIndex((one) => isSame(one, name)) ?? -1);
      if (after) known.remember(after, taskAfter(after, found.tasks?.[n], change));
      else known.forget([name]);
    }
    if (!change.tasks && wanted.tasks) known.forget(wanted.tasks);
  }

  return <T>(step: Step<T>): Promise<T> =>
    compared.run<T, Decided<T>>(step, {
      mostTogether: 0,
      guess: () => guess(step),
      decide: () => decide(step),
      write: async (decided) => {
        const [isWritten = false] = await write(decided, [groupOf(decided)]);
        if (isWritten) note(decided);
        return isWritten;
      },
      writeEach: (decided, tasks) => writeEach(decided, tasks),
    });
}

const isSame = (one: TaskName, other: TaskName): boolean =>
  one.taskId === other.taskId && one.scope === other.scope;

/** A task as a change leaves it. */
function taskAfter(
  row: TaskRow,
  found: FoundTask | undefined,
  { webhooks = [] }: Change<unknown>,
): FoundTask {
  if (webhooks.length === 0 && (found?.webhooks.length ?? 0) === 0)
    return { row, webhooks: [], once: undefined };
  const changed = new Map<WebhookRow | undefined, WebhookRow | undefined>();
  for (const { before, after } of webhooks) changed.set(before, after);
  const kept = (found?.webhooks ?? []).flatMap((webhook) =>
    changed.has(webhook) ? (changed.get(webhook) ?? []) : webhook,
  );
  const added = webhooks.flatMap(({ before, after }) => (before || !after ? [] : after));
  return { row, webhooks: [...kept, ...added], once: undefined };
}

/** All that a change writes, if what it was decided on is still so. */
function groupOf({ change, found, wanted }: Decided<unknown>): Group {
  const group = new Group();
  const { tasks = [], webhooks = [], records = [] } = change;
  const named = change.partly ? [] : (wanted.tasks ?? []);
  for (const [n, task] of named.entries()) group.checkTask(task, found.tasks?.[n] ?? noTask);
  const isChecked = (row: TaskName) => named.some((one) => isSame(one, row));
  for (const { before } of tasks)
    if (before && !isChecked(before)) group.checkTask(before, { row: before, webhooks: [], once: undefined });
  for (const { before } of webhooks) if (before && !isChecked(before)) group.checkWebhook(before);
  for (const [n, name] of (wanted.records ?? []).entries()) group.checkRecord(name, found.records?.[n]);
  for (const row of found.expired ?? []) group.checkRecord(row.name, row);
  mustHaveRoom(group, wanted, change);
  if (wanted.bucket !== undefined && change.fullAt !== undefined)
    writeBucket(group, wanted.bucket, change.fullAt, found);
  // First: a script that fails does not undo what it did, and a task that is deleted must be remembered.
  for (const record of records) group.writeRecord(record);
  for (const task of tasks) group.writeTask(task);
  for (const webhook of webhooks) group.writeWebhook(webhook);
  group.writeQueue(change);
  for (const topic of change.notify ?? [])
    group.run('PUBLISH', 'changes', `${topicNumber(topic)} ${topic.version ?? ''}`);
  return group;
}

/** A task that begins to wait does so beside fewer than the bound. */
function mustHaveRoom(group: Group, { waiting }: Wanted, { tasks = [] }: Change<unknown>): void {
  if (waiting?.atMost === undefined) return;
  if (tasks.some(({ after }) => after?.waitingSince !== undefined))
    group.check('ZCARD', `waiting:${waiting.queue}`, '', String(waiting.atMost));
}

/** The key expires when the bucket is full. */
function writeBucket(group: Group, bucket: string, fullAt: number, found: Found): void {
  const key = `bucket:${bucket}`;
  group.check('GET', key, '', found.fullAt === undefined ? '' : String(found.fullAt));
  const ms = Math.max(1, Math.ceil(fullAt - found.leaseNow));
  group.run('SET', key, String(fullAt), 'PX', String(ms));
}

/** Changes that end work, or keep it going, are written even while the memory is full: they add little, or free it later. */
const isVital = ({ tasks = [], webhooks = [] }: Change<unknown>): boolean =>
  webhooks.every(({ before }) => before) &&
  tasks.every(
    ({ before, after, facts = [], once }) =>
      facts.length === 0 ||
      once === 'cancel' ||
      after?.head?.closed === true ||
      (before?.holder !== undefined && after?.holder === undefined),
  );
