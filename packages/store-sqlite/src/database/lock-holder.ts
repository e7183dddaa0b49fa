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
      const [, pid, inode, first, last] = / WRITE (\d+) \w+:\w+:(\d+) (\d+) (\d+)$/.exec(line) ?? [];
      if (Number(inode) !== ino || Number(first) > writeLock || Number(last) < writeLock) continue;
      return `process ${pid}${isStopped(pid!) ? ', which is stopped' : ''}`;
    }
  } catch {
    // This is not Linux, or the process may not read these files.
  }
  return 'another process';
}

/** The state follows the name, which is in parentheses. */
const isStopped = (pid: string): boolean => /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
