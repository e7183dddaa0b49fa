import { isDeepStrictEqual } from 'node:util';
import { type FactOf, isInterrupted, replay, toStreamResponse, viewTask } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import { checkLog } from '@batonjs/store/rules';
import type { Finding, KeptLog, Observation, SeenEvent, Stream, Violation } from './observation.ts';

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

/** The answers to clients agree with the log. */
function* checkObservation(log: KeptLog | undefined, seen: Observation): Generator<Finding> {
  if (!log) yield ['lost', `there is no log, but a client saw "${seen.type}"`];
  else if (seen.type === 'stream') yield* checkStream(log, seen);
  else if (seen.type === 'accepted') {
    const { messageId } = seen;
    const isThere = log.facts.some(
      ({ fact }) => fact.type === 'message-received' && fact.message.messageId === messageId,
    );
    if (!isThere) yield ['lost', `message ${messageId} was accepted and is not in the log`];
  } else if (seen.type === 'committed') {
    if (log.facts[seen.version - 1]?.commitId !== seen.commitId) {
      yield ['lost', `commit ${seen.commitId} was acknowledged and is not at ${seen.version}`];
    }
  } else if (log.head.state !== seen.state) {
    yield ['doubleTerminal', `a client saw ${seen.state}, but the log says ${log.head.state}`];
  }
}

/** A follower sees every visible fact once and in order, from wherever it starts. */
function* checkStream(log: KeptLog, { after, events, complete }: Stream): Generator<Finding> {
  const visible = visibleIn(log);
  const positions = [...visible.keys()];
  const seen = new Set<number>();
  let cursor = after;
  for (const event of events) {
    const { position, snapshot } = event;
    const here = `the event at ${position}`;
    if (cursor !== undefined && position < cursor)
      yield ['reordered', `${here} came after the one at ${cursor}`];
    if (snapshot) yield* checkSnapshot(log, event);
    else if (!visible.has(position)) yield ['lost', `${here} was shown but is not in the log`];
    else {
      if (seen.has(position)) yield ['duplicated', `${here} was shown again`];
      if (cursor === undefined) yield ['lost', `${here} came first, without a snapshot`];
      const from = cursor ?? position;
      for (const missed of positions.filter((one) => one > from && one < position)) {
        yield ['lost', `${missed} was not shown before ${here}`];
      }
      if (event.response && !same(event.response, visible.get(position))) {
        yield ['corrupt', `${here} was shown as ${JSON.stringify(event.response)}`];
      }
      seen.add(position);
    }
    cursor = Math.max(cursor ?? 0, position);
  }
  if (!complete) return;
  for (const missed of positions.filter((one) => one > (cursor ?? 0))) {
    yield ['lost', `${missed} was not shown before the stream ended`];
  }
}

function* checkSnapshot({ facts }: KeptLog, { position, snapshot }: SeenEvent): Generator<Finding> {
  if (position > facts.length)
    yield ['lost', `a task was shown as of ${position}, but the log ends at ${facts.length}`];
  if (position > facts.length || typeof snapshot !== 'object') return;
  const state = replay(facts.slice(0, position).map(({ fact }) => fact));
  const view = state?.task && viewTask(state);
  if (!same([snapshot.status, snapshot.artifacts ?? []], [view?.status, view?.artifacts ?? []])) {
    yield ['corrupt', `the task was not as it was shown as of ${position}`];
  }
}

/** What followers are shown, by position. */
function visibleIn({ facts }: KeptLog): Map<number, StreamResponse> {
  const visible = new Map<number, StreamResponse>();
  let task = { id: '', contextId: '' };
  for (const { fact, version } of facts) {
    if (fact.type === 'task-created') task = { id: fact.taskId, contextId: fact.contextId };
    const response = toStreamResponse(task, fact);
    if (response) visible.set(version, response);
  }
  return visible;
}

const same = (a: unknown, b: unknown) => isDeepStrictEqual(plain(a), plain(b));

const plain = (value: unknown): unknown => (value === undefined ? value : JSON.parse(JSON.stringify(value)));

/** The number an agent gave a chunk, and the attempt that made it if it says so. */
interface Chunk {
  readonly chunk: number;
  readonly attempt?: number;
}

/** Reads `{ chunk, attempt? }` from the first data part that has it. */
function chunkOf({ artifact }: FactOf<'artifact-updated'>): Chunk | undefined {
  for (const part of artifact.parts) {
    const data = 'data' in part ? part.data : undefined;
    if (typeof data !== 'object' || data === null || !('chunk' in data)) continue;
    const { chunk, attempt } = data as { chunk: unknown; attempt?: unknown };
    if (typeof chunk === 'number')
      return { chunk, attempt: typeof attempt === 'number' ? attempt : undefined };
  }
  return undefined;
}

/** Within one attempt of a turn, an artifact's numbers go up by one; and they come from the attempt that is open. */
function* checkChunks({ facts }: KeptLog, read: typeof chunkOf = chunkOf): Generator<Finding> {
  let attempt = 0;
  let last = new Map<string, number>();
  for (const { fact, version } of facts) {
    if (fact.type === 'turn-started') {
      attempt = fact.attempt;
      last = new Map();
    }
    const found = fact.type === 'artifact-updated' ? read(fact) : undefined;
    if (fact.type !== 'artifact-updated' || !found) continue;
    const { artifactId } = fact.artifact;
    const before = last.get(artifactId);
    const here = `chunk ${found.chunk} of ${artifactId} at ${version}`;
    if (found.attempt !== undefined && found.attempt !== attempt) {
      yield ['doubleTurns', `${here} is from attempt ${found.attempt}, during attempt ${attempt}`];
    } else if (before !== undefined && found.chunk === before) yield ['duplicated', `${here} is there again`];
    else if (before !== undefined && found.chunk < before)
      yield ['reordered', `${here} follows chunk ${before}`];
    else if (before !== undefined && found.chunk > before + 1)
      yield ['lost', `${here} follows chunk ${before}`];
    last.set(artifactId, Math.max(before ?? found.chunk, found.chunk));
  }
}
