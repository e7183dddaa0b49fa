import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import type { Database } from '../layout/database.ts';
import type { Keys } from '../layout/keys.ts';
import type { KeyValue, Write } from '../wire/messages.ts';

/** Larger texts are kept in parts: what etcd answers to a read of many keys stays small. In bytes. */
export const largestText = 256 * 1024;

/** The size of a part, in bytes. */
const partBytes = 1024 * 1024;

/** The most parts of a text. Those of the facts and of the snapshot are named in one transaction of 128 operations. */
const mostParts = 48;

/** How long parts are kept without their commit, in seconds. */
const uploadSeconds = 120;

/** What stands for a text that is kept in parts. */
interface InParts {
  readonly parts: number;
  readonly id: string;
  /** The change that wrote it. */
  readonly by: string;
}

/** A text whose parts are written. */
export interface Upload {
  readonly id: string;
  readonly value: string;
  /** Takes the parts off their lease. Fails, and with it the transaction, if one has vanished. */
  readonly keep: readonly Write[];
  /** Called after the transaction, whatever came of it. */
  readonly done: () => void;
}

/**
 * Writes the parts of a text, which vanish after two minutes unless `keep` is part of a transaction. `value` stands
 * for the text. Rejects with code `INVALID_COMMIT` for more than 48 MiB.
 */
export async function uploadParts(
  { cluster, keys }: Database,
  task: string,
  text: string,
  by: string,
): Promise<Upload> {
  const bytes = Buffer.from(text);
  const parts = Math.ceil(bytes.length / partBytes);
  if (parts > mostParts) {
    const message = `A commit of ${parts} MiB is larger than the ${mostParts} MiB that a store in etcd takes`;
    throw new StoreError('INVALID_COMMIT', message);
  }
  const inParts: InParts = { parts, id: randomUUID(), by };
  const names = namesOf(keys, task, inParts);
  const lease = await cluster.grantLease(uploadSeconds);
  for (const [n, key] of names.entries()) {
    const value = bytes.subarray(n * partBytes, (n + 1) * partBytes);
    await cluster.transact({ success: [{ put: { key, value, lease } }] });
  }
  return {
    id: inParts.id,
    value: JSON.stringify(inParts),
    keep: names.map((key) => ({ put: { key, ignoreValue: true } })),
    // Parts without a commit vanish at once instead of in two minutes.
    done: () => void cluster.revokeLease(lease).catch(() => {}),
  };
}

/** The value of a key as JSON, put together if it is kept in parts. Throws `SyntaxError` if it is damaged. */
export async function readValue<T extends object>(
  { cluster, keys }: Database,
  task: string,
  { value, modRevision }: KeyValue,
): Promise<T> {
  const kept: T | InParts = JSON.parse(String(value));
  if (!('parts' in kept)) return kept;
  const names = namesOf(keys, task, kept);
  const read = async (revision?: number) =>
    (await cluster.getEach(names, (key) => ({ key, revision }))).flatMap(([, part]) => part?.value ?? []);
  let parts = await read();
  // Another value has replaced this one. Its parts are in the history, where they were written with it.
  if (parts.length < names.length) parts = await read(modRevision);
  const missing = names.length - parts.length;
  if (missing > 0) throw new SyntaxError(`${missing} of ${names.length} parts are missing`);
  return JSON.parse(String(Buffer.concat(parts)));
}

const namesOf = (keys: Keys, task: string, { parts, id }: InParts): string[] =>
  Array.from({ length: parts }, (_, n) => keys.part(task, id, n));
