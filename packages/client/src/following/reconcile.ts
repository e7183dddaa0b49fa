import type { Artifact, StreamResponse, Task, TaskStatus } from '@batonjs/protocol';
import type { PositionedEvent } from '../connection/session.ts';
import type { Clock } from '../options/connect-options.ts';
import { type AgentEvent, isInterrupted, isTerminal } from '../replies/agent-reply.ts';
import { isSameLog } from './positions.ts';

/** How to read the events that a stream omits. */
interface ReconcileOptions {
  /** The position after which the stream was asked to continue. */
  readonly lastEventId: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Reads the task from the agent. */
  readTask(): Promise<Task>;
}

/**
 * The complete events of a stream of an existing task. A stream that starts neither with the task nor after the last position
 * omits earlier events. Then this function reads the task, yields it first and drops the events that it contains. When the task
 * ends or asks a question, it reads the task again. Spec: §3.1.6; streams of A2A 0.3 do not start with the task.
 */
export async function* reconcile(
  events: AsyncIterable<PositionedEvent>,
  { lastEventId, clock, signal, readTask }: ReconcileOptions,
): AsyncGenerator<PositionedEvent, void, void> {
  let isComplete: boolean | undefined;
  let overlap: Overlap | undefined;
  for await (const positioned of events) {
    const { event, id } = positioned;
    const { task, message, statusUpdate, artifactUpdate } = event as AgentEvent;
    if (task || message) isComplete = true;
    else if (statusUpdate || artifactUpdate) isComplete ??= isSameLog(id, lastEventId);
    if (isComplete !== false || !(statusUpdate || artifactUpdate)) {
      yield positioned;
      continue;
    }
    // Shows the follower that the agent has answered, even if reading the task fails.
    if (!overlap) yield { event: {} as StreamResponse };
    // Yields no positions from here on: the task may contain later events than the one at the position.
    if (statusUpdate && isAtRest({ id: statusUpdate.taskId, status: statusUpdate.status })) {
      const last = await readInState(statusUpdate.status.state, { readTask, clock, signal });
      yield { event: { task: last } };
      overlap = new Overlap(last);
      if (!isTerminal(last)) yield { event };
      continue;
    }
    let isContained = overlap?.contains(event) ?? 'unsure';
    if (isContained === 'unsure') {
      const current = await readTask();
      yield { event: { task: current } };
      if (isTerminal(current)) return;
      overlap = new Overlap(current);
      isContained = overlap.contains(event);
    }
    if (isContained !== true) yield { event };
  }
}

/** Whether the task has ended or waits. Streams end in these states. */
const isAtRest = (task: Task): boolean => isTerminal(task) || isInterrupted(task);

/** Reads the task until it shows a state that the stream reported. Some servers report a state before reads show it. */
async function readInState(
  state: string,
  { readTask, clock, signal }: Pick<ReconcileOptions, 'readTask' | 'clock' | 'signal'>,
): Promise<Task> {
  for (let pauseMs = 50; ; pauseMs *= 4) {
    const task = await readTask();
    if (task.status.state === state || isTerminal(task) || pauseMs > LONGEST_LAG_MS) return task;
    await clock.sleep(pauseMs, signal);
    signal?.throwIfAborted();
  }
}

const LONGEST_LAG_MS = 1_000;

/**
 * Finds out which events of a stream a task that was read meanwhile already contains. The stream was opened before the
 * task was read, so both may contain the same events. Chunks of artifacts have no number; they are recognised by their
 * content among the parts that the task has.
 */
class Overlap {
  readonly #task: Task;
  /** By artifact id: the indexes of its parts at which the next chunk may start. */
  readonly #starts = new Map<string, readonly number[]>();

  constructor(task: Task) {
    this.#task = task;
  }

  /** Whether the task contains the event; `unsure` if its content allows both, and the task must be read again. */
  contains(event: StreamResponse): boolean | 'unsure' {
    const { statusUpdate, artifactUpdate } = event as AgentEvent;
    if (statusUpdate) return isNotAfter(statusUpdate.status, this.#task.status);
    if (!artifactUpdate) return false;
    const { artifact, append } = artifactUpdate;
    const parts = this.#task.artifacts?.find(({ artifactId }) => artifactId === artifact.artifactId)?.parts;
    return parts ? this.#containsChunk(artifact, parts, Boolean(append)) : false;
  }

  #containsChunk({ artifactId, parts: chunk }: Artifact, parts: Artifact['parts'], append: boolean) {
    const known = this.#starts.get(artifactId);
    const starts = append ? (known ?? parts.keys()) : [0];
    const texts = chunk.map((part) => JSON.stringify(part));
    const found = Array.from(starts).filter((start) =>
      texts.every((text, index) => text === JSON.stringify(parts[start + index])),
    );
    if (found.length > 0 && append && known?.includes(parts.length)) return 'unsure';
    this.#starts.set(
      artifactId,
      found.map((start) => start + chunk.length),
    );
    return found.length > 0;
  }
}

/** By timestamp; without timestamps, only an equal status counts. */
const isNotAfter = (status: TaskStatus, seen: TaskStatus): boolean =>
  status.timestamp && seen.timestamp
    ? Date.parse(status.timestamp) <= Date.parse(seen.timestamp)
    : JSON.stringify(status) === JSON.stringify(seen);
