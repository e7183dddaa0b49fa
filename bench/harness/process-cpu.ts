import { readdirSync, readFileSync } from 'node:fs';

/** What `/proc` counts CPU time in, in microseconds. */
const tick = 10_000;

/**
 * The CPU time of a process and of all that it started, in microseconds: those that run, and those that it has waited
 * for. Undefined where only Linux says it.
 */
export const cpuOfTree = (pid: number): number | undefined => sumOfTree(pid, ({ ticks }) => ticks * tick);

/** The bytes that the same processes have caused to be written to disks. Pages that are written twice count twice. */
export const writtenByTree = (pid: number): number | undefined => sumOfTree(pid, ({ pid }) => writtenBy(pid));

function sumOfTree(pid: number, amountOf: (stat: Stat) => number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(name) ?? []);
  const childrenOf = (parent: number) => stats.filter((stat) => stat.parent === parent);
  const total = (stat: Stat): number =>
    childrenOf(stat.pid).reduce((sum, child) => sum + total(child), amountOf(stat));
  const root = stats.find((stat) => stat.pid === pid);
  return root && total(root);
}

function writtenBy(pid: number): number {
  try {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
  } catch {
    // It has ended, or belongs to somebody else.
    return 0;
  }
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** Its own, and of the children that it has waited for. */
  readonly ticks: number;
}

function statOf(pid: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything. Then: state, parent; from the 12th on: utime stime cutime cstime.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return {
      pid: Number(pid),
      parent: fields[1]!,
      ticks: fields[11]! + fields[12]! + fields[13]! + fields[14]!,
    };
  } catch {
    // It has ended.
    return undefined;
  }
}
