import { type PushConfig, type Scope, StoreError } from '@batonjs/store';
import type { Keys } from '../layout/keys.ts';
import { timeIn } from '../layout/order.ts';
import type { KeyValue, RequestOp } from '../wire/messages.ts';

/** A webhook with what its deliveries are decided on. */
export interface Webhook extends Omit<PushConfig, 'scope' | 'taskId' | 'config'> {
  /** Absent if it has a key of its own. */
  readonly config?: PushConfig['config'];
  readonly fence: number;
  readonly holder?: string;
  /** By the clock for leases. */
  readonly leaseUntil?: number;
  /** Since when it is behind its log, in milliseconds of the wall clock. */
  readonly behindSince?: number;
}

/** The webhooks of a task, as they are read from and written to one key. */
export interface PushRow {
  readonly scope: Scope;
  readonly taskId: string;
  readonly webhooks: readonly Webhook[];
  /** The revision that a write compares; 0 where there is no such key. */
  readonly revision: number;
  /** How large it was when it was read. */
  readonly bytes: number;
}

/** What a row holds. */
export type PushValue = Pick<PushRow, 'scope' | 'taskId' | 'webhooks'>;

/** The most bytes of a row: beside it, a transaction has room for facts and a snapshot that are not kept in parts. */
const largestRow = 768 * 1024;

export function pushRowOf(kept: KeyValue | undefined): PushRow | undefined {
  if (!kept) return undefined;
  const { scope, taskId, webhooks } = JSON.parse(String(kept.value)) as PushValue;
  return { scope, taskId, webhooks, revision: kept.modRevision, bytes: kept.value!.length };
}

/** The write of a row that has webhooks. */
export const pushPut = (keys: Keys, task: string, { scope, taskId, webhooks }: PushValue) =>
  ({ put: { key: keys.pushes(task), value: JSON.stringify({ scope, taskId, webhooks }) } }) as const;

/** Throws a `StoreError` of code `INVALID_COMMIT` for more webhooks than fit into one row. */
export function mustFit(keys: Keys, task: string, row: PushValue): void {
  const bytes = Buffer.byteLength(pushPut(keys, task, row).put.value);
  if (bytes <= largestRow) return;
  const message = `The webhooks of a task take ${bytes} bytes, and a store in etcd has room for ${largestRow}`;
  throw new StoreError('INVALID_COMMIT', `${message}: let a task have fewer`);
}

/** Whether there is something to deliver. */
export const isBehind = ({ dead, cursor }: Webhook, version: number): boolean =>
  dead === undefined && cursor < version;

/**
 * The webhooks with the time since when they are behind a log of this length. The same array if none of them begins or
 * ends to be behind.
 */
export function planned(webhooks: readonly Webhook[], version: number, now: number): readonly Webhook[] {
  const after = webhooks.map((webhook) => {
    if (isBehind(webhook, version) === (webhook.behindSince !== undefined)) return webhook;
    return { ...webhook, behindSince: isBehind(webhook, version) ? now : undefined };
  });
  return after.every((webhook, n) => webhook === webhooks[n]) ? webhooks : after;
}

/** From when a delivery can be claimed, in milliseconds of the wall clock. */
const readyAt = ({ retryAt, behindSince = 0 }: Webhook): number =>
  retryAt === undefined ? behindSince : Date.parse(retryAt);

/** The keys by which the task is found in queues: the earliest time of each kind. */
function indexKeys(keys: Keys, task: string, webhooks: readonly Webhook[]): string[] {
  const earliest = new Map<string, number>();
  const note = (folder: string, time: number) =>
    earliest.set(folder, Math.min(time, earliest.get(folder) ?? Number.POSITIVE_INFINITY));
  for (const webhook of webhooks) {
    const { queue, dead, holder, leaseUntil = 0, behindSince } = webhook;
    if (dead !== undefined) note(keys.dead(queue), 0);
    else if (behindSince === undefined) continue;
    else if (holder !== undefined) note(keys.laterDeliveries(queue), leaseUntil);
    else note(keys.deliveries(queue), readyAt(webhook));
  }
  return [...earliest].map(([folder, time]) => `${folder}${timeIn(time)}/${task}`);
}

/** The writes that replace the webhooks of a task. Those that can be claimed are put into their queues again. */
export function pushWrites(
  keys: Keys,
  task: string,
  before: readonly Webhook[],
  row: PushValue,
): RequestOp[] {
  const { webhooks } = row;
  const [was, is] = [indexKeys(keys, task, before), indexKeys(keys, task, webhooks)];
  const writes: RequestOp[] = [
    ...was.filter((one) => !is.includes(one)).map((one) => ({ delete: { key: one } })),
    // A key that is there already is put again, because processes watch for it.
    ...is.map((one) => ({ put: { key: one, value: task } })),
  ];
  if (webhooks === before) return writes;
  const write = webhooks.length > 0 ? pushPut(keys, task, row) : { delete: { key: keys.pushes(task) } };
  return [write, ...writes];
}

/** The queues in which webhooks can be claimed now. */
export function queuesToNotify(webhooks: readonly Webhook[], now: number): string[] {
  const free = webhooks.filter((webhook) => {
    const { dead, holder, behindSince } = webhook;
    return dead === undefined && holder === undefined && behindSince !== undefined && readyAt(webhook) <= now;
  });
  return [...new Set(free.map(({ queue }) => queue))];
}

/** The webhook without what only its deliveries need. */
export function pushConfigOf(
  { scope, taskId }: PushRow,
  webhook: Webhook,
  config: PushConfig['config'],
): PushConfig {
  const { fence: _fence, holder: _holder, leaseUntil: _until, behindSince: _since, ...push } = webhook;
  return { scope, taskId, ...push, config };
}
