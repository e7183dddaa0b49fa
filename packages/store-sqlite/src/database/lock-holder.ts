import { readFileSync, statSync } from 'node:fs';

/** The byte of the `-shm` file that SQLite locks while a process writes, https://www.sqlite.org/walformat.html */
const writeLock = 120;

/**
 * The holder of a database's write lock, in words: `process 4242, which is stopped`, if Linux shows it to this
 * process; otherwise `another process`.
 */
export function lockHolder(path: string): string {
  try {
    const { ino } = statSync(`${path}-shm`);
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const fields = line.split(' ').filter((field) => field !== '');
      const [pid, file, first, last] = fields.slice(fields.indexOf('WRITE') + 1);
      const holds = Number(first) <= writeLock && (last === 'EOF' || Number(last) >= writeLock);
      if (Number(file?.split(':')[2]) !== ino || !holds) continue;
      return `process ${pid}${isStopped(pid) ? ', which is stopped' : ''}`;
    }
  } catch {
    // This is not Linux, or the process may not read these files.
  }
  return 'another process';
}

/** The state follows the name, which is in parentheses. */
const isStopped = (pid: string | undefined): boolean =>
  /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
