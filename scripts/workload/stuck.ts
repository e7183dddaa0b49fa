import type { KeptLog } from '../../test/histories/history.ts';
import { unsettled } from './verdict.ts';

/** A task is stuck when nothing happened to it for so many leases. A lost process takes one or two to be noticed. */
export const stuckAfterLeases = 20;
const readsPerLease = 4;

export interface Waiting {
  readonly leaseMs: number;
  sleep(ms: number): Promise<unknown>;
}

/**
 * Resolves once every log has settled or is stuck, to those that are stuck. It counts reads and not time: where the machine is so
 * busy that reads are late, tasks get the longer to move.
 */
export async function stuckLogs(read: () => Promise<KeptLog[]>, waiting: Waiting): Promise<KeptLog[]> {
  const quiet = new Map<string, { version: number; reads: number }>();
  for (;;) {
    const logs = unsettled(await read());
    for (const { taskId, facts } of logs) {
      const before = quiet.get(taskId);
      const isQuiet = before?.version === facts.length;
      quiet.set(taskId, { version: facts.length, reads: isQuiet ? before.reads + 1 : 0 });
    }
    if (logs.every(({ taskId }) => quiet.get(taskId)!.reads >= stuckAfterLeases * readsPerLease)) return logs;
    await waiting.sleep(waiting.leaseMs / readsPerLease);
  }
}

/** Resolves to whether `ended` came before `progress` gave the same value for as long as makes a task stuck. */
export async function endsInTime(
  ended: Promise<unknown>,
  progress: () => Promise<string>,
  { leaseMs, sleep }: Waiting,
): Promise<boolean> {
  let last: string | undefined;
  const over = ended.then(() => true);
  for (let reads = 0; reads < stuckAfterLeases * readsPerLease; ) {
    if (await Promise.race([over, sleep(leaseMs / readsPerLease).then(() => false)])) return true;
    const now = await progress();
    reads = now === last ? reads + 1 : 0;
    last = now;
  }
  return false;
}
