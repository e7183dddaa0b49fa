import { type FactOf, isInterrupted } from '@batonjs/lifecycle';
import { checkLog } from '@batonjs/store/rules';
import { type Chunk, checkChunks, chunkOf } from './check-chunks.ts';
import { checkObservation } from './check-observations.ts';
import type { KeptLog } from './kept-log.ts';
import type { Observation } from './observation.ts';
import type { Finding, Violation } from './violation.ts';

export interface History {
  /** The stored log of every task. Task ids are unique among them. */
  readonly logs: readonly KeptLog[];
  /** The observations of all clients. */
  readonly observations?: readonly Observation[];
  /** Whether all tasks had time to come to rest: a log that is neither closed nor interrupted is then stuck. */
  readonly settled?: boolean;
  /** Reads the number of a chunk. Default: the `chunk` (and `attempt`) of a data part. */
  readonly chunkOf?: (fact: FactOf<'artifact-updated'>) => Chunk | undefined;
}

/** The violations of the invariants that hold for every task. Empty if there are none. */
export function checkHistory({
  logs,
  observations = [],
  settled = false,
  chunkOf: read = chunkOf,
}: History): Violation[] {
  const byId = new Map(logs.map((log) => [log.taskId, log]));
  const ofLogs = logs.flatMap((log) =>
    [...checkLog(log), ...checkChunks(log, read), ...(settled ? checkSettled(log) : [])].map(
      ([kind, message]): Violation => ({ kind, taskId: log.taskId, message }),
    ),
  );
  const ofClients = observations.flatMap((seen) =>
    [...checkObservation(byId.get(seen.taskId), seen)].map(
      ([kind, message]): Violation => ({ kind, taskId: seen.taskId, client: seen.client, message }),
    ),
  );
  return [...ofLogs, ...ofClients];
}

function* checkSettled({ head, facts }: KeptLog): Generator<Finding> {
  if (head.closed || (head.state && isInterrupted(head.state))) return;
  yield ['stuck', `it is ${head.state ?? 'no task yet'} after ${facts.length} facts`];
}
