import { tryJson } from '@batonjs/protocol/json';
import type { StoredFact, TaskStore } from '@batonjs/store';
import { checkLog, type StoredTask, type Transfer } from '@batonjs/store/rules';
import type { Counts } from './lines.ts';
import { factsOf, pagesOf, recordsOf, transferOf } from './read-store.ts';
import { damageOfFiles } from './store-files.ts';

/** A damaged task or record, and how it is. */
export interface Damage {
  readonly of: string;
  readonly scope?: string;
  readonly why: string;
}

export interface VerifyOptions {
  /** The folder of its files, which are read, too. */
  readonly files?: string | undefined;
  readonly onDamage?: (damage: Damage) => void;
  readonly onProgress?: (counts: Counts) => void;
}

/** Reads all of a store. Resolves to how much is there, and to how much of it is damaged. */
export async function verifyStore(
  store: TaskStore,
  { files, onDamage, onProgress }: VerifyOptions = {},
): Promise<Counts & { readonly damaged: number }> {
  const transfer = transferOf(store);
  const counts = { tasks: 0, facts: 0, records: 0, damaged: 0 };
  const found = (damage: Damage) => {
    counts.damaged++;
    onDamage?.(damage);
  };
  for await (const { rows } of pagesOf(transfer)) {
    for (const row of rows) {
      counts.tasks++;
      const why = await damageOf(transfer, row, counts, files).catch((error: Error) => error.message);
      if (why !== undefined) found({ of: row.taskId, scope: row.scope, why });
    }
    onProgress?.(counts);
  }
  for await (const { name, json } of recordsOf(transfer)) {
    counts.records++;
    if (tryJson(json) === undefined) found({ of: `record ${name}`, why: 'its value is no JSON' });
  }
  return counts;
}

/** The damage of a task; undefined: it has none, or is gone. */
async function damageOf(
  transfer: Transfer,
  name: StoredTask['row'],
  counts: { facts: number },
  files: string | undefined,
): Promise<string | undefined> {
  const task = await transfer.read(name);
  if (!task) return undefined;
  const { row, webhooks, snapshot } = task;
  const facts: StoredFact[] = [];
  for await (const some of factsOf(transfer, task)) facts.push(...some);
  counts.facts += facts.length;
  const { version, head } = row;
  if (facts.length < version)
    return (await transfer.read(name)) && `${version - facts.length} of its ${version} facts are missing`;
  if (row.webhooks !== webhooks.length)
    return `it has ${webhooks.length} webhooks, and counts ${row.webhooks}`;
  if (!head) return version === 0 ? undefined : 'its head is missing';
  const [found] = checkLog({ head, snapshot, facts });
  return found?.[1] ?? (files && damageOfFiles(files, row, facts));
}
