import { StoreError } from '@batonjs/store';
import { lockHolder } from './lock-holder.ts';

// Primary result codes of SQLite, https://www.sqlite.org/rescode.html
const busy = 5;
const readonly = 8;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const protocol = 15;
const notADatabase = 26;
// With its second byte: no other constraint refuses.
const byTrigger = 1811;

const troubles: Readonly<Record<number, StoreError['trouble']>> = {
  [readonly]: 'read-only',
  [byTrigger]: 'read-only',
  [full]: 'disk-full',
};

const explanations: Readonly<Record<number, string>> = {
  [readonly]: 'cannot be written: the file, its folder or its disk is read-only',
  [corrupt]: 'is damaged',
  [full]: 'cannot grow: the disk is full',
  [cannotOpen]: 'cannot be opened: the folder is missing, not writable, or the path is a folder itself',
  [byTrigger]: 'takes no writes: it is being copied to another store, or was',
  [notADatabase]: 'is not a SQLite database',
};

/** Whether a statement did nothing because another process holds a lock. */
export const isBusy = (error: unknown): boolean => {
  const code = codeOf(error);
  return code === busy || code === protocol;
};

/** The error for a file that another process holds for too long. */
export const held = (name: string): StoreError =>
  new StoreError('UNAVAILABLE', `${name} is held by ${lockHolder(name)}`, { trouble: 'locked' });

/** The error for a failed call: `UNAVAILABLE`, because a later attempt may succeed. */
export function unavailable(name: string, error: unknown): unknown {
  return translated('UNAVAILABLE', name, error);
}

/** The error for a file that cannot be opened: `UNUSABLE`. */
export function unusable(name: string, error: unknown): unknown {
  return translated('UNUSABLE', name, error);
}

function translated(code: 'UNAVAILABLE' | 'UNUSABLE', name: string, error: unknown): unknown {
  const number = codeOf(error);
  if (number === undefined || StoreError.is(error, code)) return error;
  const why = explanations[number] ?? `failed: ${(error as Error).message}`;
  return new StoreError(code, `${name} ${why}`, { cause: error, trouble: troubles[number] });
}

function codeOf(error: unknown): number | undefined {
  const extended = (error as { errcode?: unknown } | undefined)?.errcode;
  if (typeof extended !== 'number') return undefined;
  return extended === byTrigger ? byTrigger : extended & 0xff;
}
