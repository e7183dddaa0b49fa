import type { PushConfig } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { digestOf } from '../layout/digest.ts';
import type { Keys } from '../layout/keys.ts';
import type { RequestOp } from '../wire/messages.ts';
import { type PushRow, pushConfigOf, type Webhook } from './push-row.ts';

/** Larger configs, in bytes of JSON, have a key of their own: commits and deliveries write the row of a task again. */
const largestInRow = 1_024;

/** Webhooks as their row keeps them, and the writes of the configs that are too large for it. */
export interface Separated {
  readonly webhooks: readonly Webhook[];
  readonly configs: readonly RequestOp[];
}

export function separated(keys: Keys, task: string, webhooks: readonly Webhook[]): Separated {
  const configs: RequestOp[] = [];
  const kept = webhooks.map((webhook) => {
    const { config, ...rest } = webhook;
    if (config === undefined) return webhook;
    const value = JSON.stringify(config);
    if (Buffer.byteLength(value) <= largestInRow) return webhook;
    configs.push({ put: { key: keys.config(task, webhook.id), value } });
    return rest;
  });
  return { webhooks: kept, configs };
}

/** The deletions of configs that no webhook has any more. */
export function configDeletions(
  keys: Keys,
  task: string,
  before: readonly Webhook[],
  after: readonly Webhook[],
): RequestOp[] {
  const kept = new Set(after.filter(({ config }) => config === undefined).map(({ id }) => id));
  const gone = before.filter(({ config, id }) => config === undefined && !kept.has(id));
  return gone.map(({ id }) => ({ delete: { key: keys.config(task, id) } }));
}

/** A webhook in its row. */
export interface InRow {
  readonly row: PushRow;
  readonly webhook: Webhook;
}

/** Reads webhooks as they were registered. Undefined: it was replaced or removed since its row was read. */
export async function pushConfigsOf(
  cluster: Cluster,
  keys: Keys,
  found: readonly InRow[],
): Promise<(PushConfig | undefined)[]> {
  const large = found.filter(({ webhook }) => webhook.config === undefined);
  const ranges = await cluster.read(
    large.map(({ row: { scope, taskId }, webhook: { id } }) => ({
      key: keys.config(digestOf(scope, taskId), id),
    })),
  );
  const read = new Map(large.map(({ webhook }, n) => [webhook, ranges[n]!.kvs[0]]));
  return found.map(({ row, webhook }) => {
    if (webhook.config !== undefined) return pushConfigOf(row, webhook, webhook.config);
    const kept = read.get(webhook);
    // Written with its row, or before it.
    if (!kept || kept.modRevision > row.revision) return undefined;
    return pushConfigOf(row, webhook, JSON.parse(String(kept.value)));
  });
}
