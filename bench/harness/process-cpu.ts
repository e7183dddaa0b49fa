import { readdirSync, readFileSync } from 'node:fs';

/** What `/proc` counts CPU time in, in microseconds. */
const tick = 10_000;

/**
 * The CPU time of a process and of all that it started, in microseconds: those that run, and those that it has waited
 * for. Undefined where only Linux says it.
 */
export function cpuOfTree(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(name) ?? []);
  const childrenOf = (parent: number) => stats.filter((stat) => stat.parent === parent);
  const total = (stat: Stat): number =>
    childrenOf(stat.pid).reduce((sum, child) => sum + total(child), stat.ticks);
  const root = stats.find((stat) => stat.pid === pid);
  return root && total(root) * tick;
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
