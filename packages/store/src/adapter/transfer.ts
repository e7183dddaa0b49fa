import type { Fact } from '@batonjs/lifecycle';
import { textOfFirst } from '@batonjs/lifecycle/internals';
import { StoreError } from '../port/commit.ts';
import type { TaskName } from '../port/lease.ts';
import type { Answer, RecordRow, StoredTask, TaskRow, Transfer, WebhookRow } from '../port/rows.ts';
import { type FoundTask, foundTask, type Step } from '../rules/change.ts';
import { eraseStep } from '../rules/prune.ts';
import { foundRecord, recordWanted } from '../rules/record.ts';
import { isBehind, placed, plannedWebhook } from '../rules/task-row.ts';
import { emptyRow, withWebhooks } from '../rules/webhook.ts';
import { changeRecord, readTasks, recordPage } from './in-parts.ts';
import type { Rows } from './rows.ts';

const taskColumns: readonly (keyof TaskRow)[] = [
  ...(['scope', 'taskId', 'revision', 'version', 'head', 'lastAt', 'webhooks', 'queue', 'wanted'] as const),
  ...(['fence', 'holder', 'aheadMs', 'waitingSince', 'dueAt', 'leaseUntil', 'leasedAt'] as const),
  ...(['turnAt', 'endedAt'] as const),
];
const webhookColumns: readonly (keyof WebhookRow)[] = [
  ...(['scope', 'taskId', 'id', 'config', 'protocolVersion', 'queue', 'cursor', 'attempts'] as const),
  ...(['retryAt', 'dead', 'revision', 'fence', 'holder', 'leaseUntil', 'readyAt'] as const),
];

/** The row without what an adapter has added to it. Not every database keeps parts of a millisecond. */
const plain = <Row>(row: Row, columns: readonly (keyof Row)[]): Row =>
  Object.fromEntries(columns.map((name) => [name, whole(row[name])])) as Row;

const whole = (value: unknown) => (typeof value === 'number' ? Math.floor(value) : value);

const plainTask = ({ row, webhooks }: FoundTask) => ({
  row: row && plain(row, taskColumns),
  webhooks: webhooks.map((webhook) => plain(webhook, webhookColumns)),
});

/** See `Transfer`, on the rows of a database. `call`: passes each call that is under way. */
export const transferOf = <Json>(
  rows: Rows<Json>,
  call: <T>(work: () => Answer<T>) => Promise<T>,
): Transfer => ({
  tasks: (from, limit) =>
    call(async () => {
      const page = await rows.every?.(from, limit);
      return { rows: page?.rows.map((row) => plain(row, taskColumns)) ?? [], next: page?.next };
    }),
  find: (names) => call(async () => (await readTasks(rows, names)).map(plainTask)),
  read: (name) => call(() => readTask(rows, name)),
  facts: (name, after, limit) => call(() => readFacts(rows, name, after, limit)),
  append: (name, facts) =>
    call(async () => {
      const commits = Map.groupBy(facts, ({ commitId }) => commitId);
      for (const commit of commits.values()) await rows.change(appendStep(rows, name, commit));
    }),
  put: (task) => call(() => rows.change(putStep(rows, task))),
  remove: (name) => call(async () => void (await rows.change(eraseStep(name, true)))),
  records: (after, limit) =>
    call(async () => (await recordPage(rows, { after, limit })).map(({ row }) => row)),
  putRecord: (record) => {
    const [name, after] = typeof record === 'string' ? [record] : [record.name, record];
    return call(() => changeRecord(rows, name, recordStep(name, after)));
  },
  ...(rows.freeze && { freeze: (ms: number) => call(async () => rows.freeze?.(ms)) }),
});

async function readTask<Json>(
  rows: Rows<Json>,
  { scope, taskId }: TaskName,
): Promise<StoredTask | undefined> {
  // First the snapshot: it may be older than the row, and never newer.
  const kept = await rows.log(scope, taskId);
  const found = await rows.read(withWebhooks({ scope, taskId }));
  const { row, webhooks } = plainTask(foundTask(found));
  if (!kept || !row) return undefined;
  const left = (at: number | undefined) => (at === undefined ? undefined : Math.floor(at - found.leaseNow));
  return {
    row: { ...row, leaseUntil: left(row.leaseUntil), leasedAt: left(row.leasedAt) },
    webhooks,
    snapshot: kept.snapshot,
  };
}

async function readFacts<Json>(
  rows: Rows<Json>,
  { scope, taskId }: TaskName,
  after: number,
  limit: number,
): ReturnType<Transfer['facts']> {
  const { facts } = await rows.facts(scope, taskId, after, limit);
  const keyed = facts.map(async (stored) => {
    const once = onceOf(stored.fact);
    if (once === undefined) return stored;
    const found = await rows.read({ tasks: [{ scope, taskId, once }] });
    return foundTask(found).once === stored.version ? { ...stored, once } : stored;
  });
  return Promise.all(keyed);
}

/** The key under which a commit with this fact may count once. A database may keep a digest of it only. */
function onceOf(fact: Fact): string | undefined {
  switch (fact.type) {
    case 'message-received':
      return `message:${fact.message.messageId}`;
    case 'callback-received':
      return `callback:${fact.id}`;
    case 'cancel-requested':
      return 'cancel';
    default:
      return undefined;
  }
}

/** The decision to add the facts of one commit. */
function appendStep<Json>(
  rows: Rows<Json>,
  { scope, taskId }: TaskName,
  commit: Parameters<Transfer['append']>[1],
): Step<undefined, Json> {
  const first = commit[0]?.version ?? 0;
  const facts = commit.map(({ fact }) => fact);
  return {
    wanted: { tasks: [{ scope, taskId }] },
    decide: (found) => {
      const { row: before } = foundTask(found);
      const version = before?.version ?? 0;
      if (version !== first - 1)
        throw new StoreError('VERSION_CONFLICT', `Task ${taskId} has ${version} facts, and not ${first - 1}`);
      const added = { ...(before ?? emptyRow({ scope, taskId })), version: version + commit.length };
      return {
        result: undefined,
        tasks: [
          {
            before,
            after: placed(before, added, true, found),
            facts: facts.map((fact) => rows.encode(fact)),
            commitId: commit[0]?.commitId ?? '',
            once: commit[0]?.once,
            text: version === 0 ? textOfFirst(facts) : undefined,
          },
        ],
      };
    },
  };
}

/** The decision about a task whose facts are there. */
const putStep = <Json>(rows: Rows<Json>, { row, webhooks, snapshot }: StoredTask): Step<undefined, Json> => ({
  wanted: withWebhooks(row),
  decide: (found) => {
    const { row: before, webhooks: known } = foundTask(found);
    const { version, taskId } = row;
    if ((before?.version ?? 0) !== version)
      throw new StoreError('VERSION_CONFLICT', `Task ${taskId} has not the ${version} facts of its row`);
    const at = (left: number | undefined) => (left === undefined ? undefined : left + found.leaseNow);
    const kept = { ...row, webhooks: webhooks.length };
    const facts = { ...kept, leaseUntil: at(row.leaseUntil), leasedAt: at(row.leasedAt) };
    const isUndelivered = webhooks.some((webhook) => isBehind(webhook, version));
    // It has waited as long as it had.
    const waited = { ...kept, revision: before ? before.revision : Math.floor(found.now) - 1 };
    const gone = known.filter(({ id }) => webhooks.every((webhook) => webhook.id !== id));
    return {
      result: undefined,
      tasks: [
        {
          before,
          after: placed(waited, facts, isUndelivered, found),
          snapshot: snapshot && { version: snapshot.version, json: rows.encode(snapshot) },
        },
      ],
      webhooks: [
        ...gone.map((one) => ({ before: one, after: undefined })),
        ...webhooks.map((webhook) => {
          const was = known.find(({ id }) => id === webhook.id);
          return { before: was, after: plannedWebhook(was, webhook, version, found.now) };
        }),
      ],
    };
  },
});

/** The decision to put a record as it is. */
const recordStep = (name: string, record: RecordRow | undefined): Step<undefined, never> => ({
  wanted: recordWanted(name),
  decide: (found) => {
    const before = foundRecord(found);
    if (!before && !record) return { result: undefined };
    const revision = Math.max(record?.revision ?? 0, (before?.revision ?? 0) + 1);
    return { result: undefined, records: [{ before, after: record && { ...record, revision } }] };
  },
});
