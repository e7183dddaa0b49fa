import { readFileSync, statSync } from 'node:fs';

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
