import { uptime } from 'node:os';

/** Whether `process.hrtime` counts from the start of the host, as in Node.js, and not from that of the process. */
const countsFromBoot = !('bun' in process.versions || 'deno' in process.versions);

/**
 * Milliseconds since this host was started: the same for all of its processes, and never set. On Linux, the time
 * for which the host was suspended does not count. An integer; elsewhere than in Node.js, of whole seconds.
 */
export function hostMonotonic(): number {
  if (!countsFromBoot) return Math.floor(uptime()) * 1_000;
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + Math.floor(nanoseconds / 1e6);
}
