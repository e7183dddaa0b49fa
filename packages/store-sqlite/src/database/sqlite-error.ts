import { readFileSync, statSync } from 'node:fs';
import { StoreError } from '@batonjs/store';

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
export const unavailable = (name: string, error: unknown): unknown => translated('UNAVAILABLE', name, error);

/** The error for a file that cannot be opened: `UNUSABLE`. */
export const unusable = (name: string, error: unknown): unknown => translated('UNUSABLE', name, error);

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

/** The byte of the `-shm` file that SQLite locks while a process writes, https://www.sqlite.org/walformat.html */
const writeLock = 120;

/**
 * The holder of a database's write lock, in words: `process 4242, which is stopped`, if Linux shows it to this
 * process; otherwise `another process`.
 */
export function lockHolder(path: string, readLocks = () => readFileSync('/proc/locks', 'utf8')): string {
  try {
    const { ino } = statSync(`${path}-shm`);
    // A lock may be missing in one reading: Linux hands the list out in parts, and others take and leave locks meanwhile.
    const pid = holderIn(readLocks(), ino) ?? holderIn(readLocks(), ino) ?? holderIn(readLocks(), ino);
    if (pid !== undefined) return `process ${pid}${isStopped(pid) ? ', which is stopped' : ''}`;
  } catch {
    // This is not Linux, or the process may not read these files.
  }
  return 'another process';
}

function holderIn(locks: string, ino: number): string | undefined {
  for (const line of locks.split('\n')) {
    const fields = line.split(' ').filter((field) => field !== '');
    const [pid, file, first, last] = fields.slice(fields.indexOf('WRITE') + 1);
    const holds = Number(first) <= writeLock && (last === 'EOF' || Number(last) >= writeLock);
    if (Number(file?.split(':')[2]) === ino && holds) return pid;
  }
  return undefined;
}

/** The state follows the name, which is in parentheses. */
const isStopped = (pid: string): boolean => /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
