import { isDeepStrictEqual } from 'node:util';
import { replay, toStreamResponse, viewTask } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import type { KeptLog } from './kept-log.ts';
import type { Observation, SeenEvent, Stream } from './observation.ts';
import type { Finding } from './violation.ts';

/** The answers to clients agree with the log. */
export function* checkObservation(log: KeptLog | undefined, seen: Observation): Generator<Finding> {
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
