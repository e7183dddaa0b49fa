import { type Committed, StoreError } from '../port/commit.ts';
import type { ClaimRequest, Lease, TaskName } from '../port/lease.ts';
import type { Delivery, DeliveryRequest } from '../port/push-config-store.ts';
import type { RecordQuery, StoredRecord } from '../port/record-store.ts';
import { type Answer, whenAnswered } from '../port/rows.ts';
import { type Found, type FoundTask, foundOf, foundTask, type Step, type Wanted } from '../rules/change.ts';
import { claimStep } from '../rules/claim.ts';
import { claimTurnsStep } from '../rules/claim-turns.ts';
import { commitStep, gone, mustMakeSense, type PreparedCommit } from '../rules/commit.ts';
import { deletionOf, deletionsStep, eraseStep, pruneStep, rememberStep } from '../rules/prune.ts';
import { recordsWanted, recordWanted, storedRecord } from '../rules/record.ts';
import { pinnedQueue } from '../rules/task-row.ts';
import { claimDeliveriesStep, withWebhooks } from '../rules/webhook.ts';
import type { Parts, Rows } from './rows.ts';

/** How many rows one change deletes: others are written in between. */
const mostAtOnce = 50;

/** The parts of a store that has several. */
function partsOf<Json>(rows: Rows<Json>): Answer<Parts | undefined> {
  if (!rows.parts) return undefined;
  return whenAnswered(rows.parts(), (parts) => (parts.count > 1 ? parts : undefined));
}

/** One look at a store, or one at each of its parts. */
export const readParts = <Json>(rows: Rows<Json>, wanted: Wanted): Answer<readonly Found[]> =>
  whenAnswered(partsOf(rows), (parts): Answer<readonly Found[]> => {
    if (!parts) return whenAnswered(rows.read(wanted), (found) => [found]);
    return Promise.all(Array.from({ length: parts.count }, (_, part) => rows.read({ ...wanted, part })));
  });

/** Tasks by name with their webhooks, in one look, or in one at each of their parts. */
export function readTasks<Json>(rows: Rows<Json>, names: readonly TaskName[]): Promise<readonly FoundTask[]> {
  const found = new Map<TaskName, FoundTask>();
  const read = async (some: readonly TaskName[]) => {
    if (some.length === 0) return;
    const tasks = foundOf(await rows.read(withWebhooks(...some)), 'tasks');
    for (const [n, name] of some.entries()) found.set(name, tasks[n]!);
  };
  return Promise.resolve(
    whenAnswered(partsOf(rows), async (parts) => {
      if (!parts) await read(names);
      else await Promise.all([...Map.groupBy(names, ({ taskId }) => parts.of(taskId)).values()].map(read));
      return names.map((name) => found.get(name)!);
    }),
  );
}

/** A change of tasks by name, or one for those of each part. */
export const changeParts = <Json, Item extends { readonly taskId: string }, T>(
  rows: Rows<Json>,
  items: readonly Item[],
  step: (items: readonly Item[]) => Step<T, Json>,
): Answer<readonly T[]> =>
  whenAnswered(partsOf(rows), (parts): Answer<readonly T[]> => {
    if (!parts) return whenAnswered(rows.change(step(items)), (result) => [result]);
    const groups = Map.groupBy(items, ({ taskId }) => parts.of(taskId));
    return Promise.all(Array.from(groups.values(), (group) => rows.change(step(group))));
  });

/** Grants leases; see `TaskStore.claim`. */
export function claim<Json>(rows: Rows<Json>, request: ClaimRequest): Answer<readonly Lease[]> {
  const { versions = [], task } = request;
  return task || versions.length === 0 ? claimPlain(rows, request) : claimVersions(rows, request, versions);
}

/** The tasks of the versions first: they have begun. */
async function claimVersions<Json>(
  rows: Rows<Json>,
  { schedule, ...request }: ClaimRequest,
  versions: readonly string[],
): Promise<readonly Lease[]> {
  const { queue, limit } = request;
  const granted: Lease[] = [];
  for (const version of versions) {
    if (granted.length >= limit) return granted;
    const pinned = { ...request, queue: pinnedQueue(queue, version), limit: limit - granted.length };
    for (const lease of await claimPlain(rows, pinned)) granted.push({ ...lease, queue });
  }
  if (granted.length >= limit) return granted;
  const rest = { ...request, ...(schedule && { schedule }), limit: limit - granted.length };
  return [...granted, ...(await claimPlain(rows, rest))];
}

function claimPlain<Json>(rows: Rows<Json>, request: ClaimRequest): Answer<readonly Lease[]> {
  const { schedule, task } = request;
  if (task) return rows.change(claimStep(request));
  return whenAnswered(partsOf(rows), (parts) =>
    parts
      ? claimEachPart(rows, request)
      : rows.change(schedule ? claimTurnsStep(request, schedule) : claimStep(request)),
  );
}

function claimEachPart<Json>(rows: Rows<Json>, request: ClaimRequest): Promise<readonly Lease[]> {
  const { queue, holder, limit, schedule } = request;
  const counted: Wanted = schedule ? { schedule: { queue } } : {};
  return claimParts(rows, limit, {
    wanted: { held: { queue, holder, limit }, ready: { queue, limit: 1, left: 1 }, ...counted },
    counted,
    rank: (found) => {
      if (foundOf(found, 'held').length > 0) return 2;
      const { waiting, due, left } = foundOf(found, 'ready');
      const isReady = waiting.length + due.length + left.length > 0;
      return isReady || found.schedule?.callers.some(({ firstAt }) => firstAt <= found.orderNow) ? 1 : 0;
    },
    step: (left, others) => {
      const rest = { ...request, limit: left };
      if (!schedule) return claimStep(rest);
      const elsewhere = others.flatMap((found) => foundOf(found, 'schedule').running);
      return claimTurnsStep(rest, schedule, elsewhere);
    },
  });
}

/** Grants deliveries; see `PushConfigStore.claimDeliveries`. */
export function claimDeliveries<Json>(
  rows: Rows<Json>,
  request: DeliveryRequest,
): Answer<readonly Delivery[]> {
  const { queue, limit, beyondMs } = request;
  return whenAnswered(partsOf(rows), (parts) => {
    if (!parts) return rows.change(claimDeliveriesStep(request));
    return claimParts(rows, limit, {
      wanted: { deliveries: { queue, limit: 1, beyondMs } },
      counted: {},
      rank: (found) => foundOf(found, 'deliveries').length,
      step: (left) => claimDeliveriesStep({ ...request, limit: left }),
    });
  });
}

/** A claim that goes from part to part. */
interface PartClaim<Grant> {
  /** A look at every part comes first: for these. */
  readonly wanted: Wanted;
  /** Looked for again in a part that gave something. */
  readonly counted: Wanted;
  /** The parts with the highest rank come first, those of rank 0 not at all. */
  readonly rank: (found: Found) => number;
  /** The claim of up to so many in one part. */
  readonly step: (left: number, others: readonly Found[]) => Step<readonly Grant[], never>;
}

/** Begins with another part each time. */
async function claimParts<Json, Grant>(
  rows: Rows<Json>,
  limit: number,
  { wanted, counted, rank, step }: PartClaim<Grant>,
): Promise<readonly Grant[]> {
  const looks = [...(await readParts(rows, wanted))];
  const ranked = looks.map((found, part) => ({ part, rank: rank(found) }));
  const first = Math.floor(Math.random() * looks.length);
  const parts = [...ranked.slice(first), ...ranked.slice(0, first)]
    .filter((one) => one.rank > 0)
    .sort((a, b) => b.rank - a.rank);
  const granted: Grant[] = [];
  for (const { part } of parts) {
    if (granted.length >= limit) break;
    const others = looks.filter((_, n) => n !== part);
    const some = await rows.change(inPart(step(limit - granted.length, others), part));
    granted.push(...some);
    if (some.length > 0 && parts.length > 1) looks[part] = await rows.read({ ...counted, part });
  }
  return granted;
}

const inPart = <T>({ wanted, decide, isMostlyIdle }: Step<T, never>, part: number): Step<T, never> => ({
  wanted: { ...wanted, part },
  isMostlyIdle,
  decide: (found) => {
    const decision = decide(found);
    return 'decide' in decision ? inPart(decision, part) : decision;
  },
});

type ChangePart = <T>(step: Step<T, never>) => Answer<T>;

/** Changes up to `limit` rows, a few at a time and part by part, until no more are found. Resolves to how many. */
export async function inBatches<Json>(
  rows: Rows<Json>,
  limit: number,
  batch: (limit: number, change: ChangePart) => Answer<number>,
): Promise<number> {
  const parts = rows.parts && (await rows.parts());
  let changed = 0;
  for (let part = 0; part < (parts?.count ?? 1) && changed < limit; ) {
    const inThis = part;
    const change: ChangePart = (step) => rows.change(parts ? inPart(step, inThis) : step);
    const count = await batch(Math.min(mostAtOnce, limit - changed), change);
    changed += count;
    // A search may have left some out that are many, or that others are writing.
    if (count === 0) part++;
  }
  return changed;
}

/** Makes a change in every part. */
export async function changeEachPart<Json>(rows: Rows<Json>, step: Step<unknown, never>): Promise<void> {
  const parts = rows.parts && (await rows.parts());
  for (let part = 0; part < (parts?.count ?? 1); part++) await rows.change(parts ? inPart(step, part) : step);
}

/** A commit with an `origin`. Where one step cannot look at both, it is taken back if the origin is gone after it. */
export function commitFrom<Json>(
  rows: Rows<Json>,
  { commit: { origin = '', ...commit }, ...prepared }: PreparedCommit<Json>,
): Answer<Committed> {
  mustMakeSense({ ...commit, origin });
  return whenAnswered(partsOf(rows), async (parts) => {
    if (!parts || parts.of(origin) === parts.of(commit.taskId))
      return rows.change(commitStep({ ...prepared, commit: { ...commit, origin } }));
    const committed = await rows.change(commitStep({ ...prepared, commit }));
    const found = await rows.read({ tasks: [{ scope: commit.scope, taskId: origin }] });
    if (foundTask(found).row?.head) return committed;
    await rows.change(rememberStep(deletionOf(commit)));
    await rows.change(eraseStep(commit, true));
    throw gone(origin);
  });
}

/** Deletes old logs; see `TaskStore.prune`. Resolves to how many. */
export const prune = <Json>(rows: Rows<Json>, before: number, limit: number): Promise<number> =>
  inBatches(rows, limit, async (some, change) => {
    try {
      return (await change(pruneStep(before, some))).length;
    } catch (error) {
      mustBeFull(error);
    }
    // Tasks that are deleted make room, which their records need.
    const deleted = await change(pruneStep(before, some, false));
    try {
      if (deleted.length > 0) await change(deletionsStep(deleted, { result: undefined }));
    } catch (error) {
      mustBeFull(error);
    }
    return deleted.length;
  });

/** Throws other errors than that of a full disk. */
function mustBeFull(error: unknown): void {
  if (!StoreError.is(error) || error.trouble !== 'disk-full') throw error;
}

/** The part of a record: that of the last word of its name, so that it may be named after a task and lie beside it. */
const recordPart = <Json>(
  rows: Rows<Json>,
  name: string,
  beside = lastWord(name),
): Answer<number | undefined> => whenAnswered(partsOf(rows), (parts) => parts?.of(beside));

const lastWord = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** A look at one record. `beside`: the id of the task that it lies beside, if its name does not end with it. */
export const readRecord = <Json>(rows: Rows<Json>, name: string, beside?: string): Answer<Found> => {
  const wanted = recordWanted(name);
  return whenAnswered(recordPart(rows, name, beside), (part) =>
    rows.read(part === undefined ? wanted : { ...wanted, part }),
  );
};

/** A change of one record. */
export const changeRecord = <Json, T>(rows: Rows<Json>, name: string, step: Step<T, never>): Answer<T> =>
  whenAnswered(recordPart(rows, name), (part) => rows.change(part === undefined ? step : inPart(step, part)));

/** Up to `limit` rows of records in the order of their names, also those whose time is over. */
export async function recordPage<Json>(rows: Rows<Json>, query: RecordQuery) {
  const parts = await readParts(rows, recordsWanted(query));
  return parts
    .flatMap((found) => foundOf(found, 'listed').map((row) => ({ row, found })))
    .sort((one, other) => (one.row.name < other.row.name ? -1 : 1))
    .slice(0, query.limit);
}

/** Lists records; see `RecordStore.listRecords`. */
export async function listRecords<Json>(rows: Rows<Json>, query: RecordQuery): Promise<StoredRecord[]> {
  const { limit } = query;
  const records: StoredRecord[] = [];
  for (let page = query; records.length < limit; ) {
    const some = await recordPage(rows, page);
    // Those whose time is over are not seen.
    records.push(...some.flatMap(({ row, found }) => storedRecord(row, found) ?? []));
    if (some.length < limit) break;
    page = { ...page, after: some.at(-1)!.row.name };
  }
  return records.slice(0, limit);
}
