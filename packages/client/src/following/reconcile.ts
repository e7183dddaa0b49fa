import type { StreamResponse, Task } from '@batonjs/protocol';
import type { PlacedEvent } from '../connection/session.ts';
import type { Clock } from '../options/clock.ts';
import type { AgentEvent } from '../replies/agent-reply.ts';
import { isInterrupted, isTerminal } from '../replies/task-states.ts';
import { Overlap } from './overlap.ts';
import { isSameLog } from './task-source.ts';

/** What is needed to make up for events that a stream does not tell. */
interface Reconciling {
  /** The position that the stream was to continue from. */
  readonly lastEventId: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Reads the task. */
  look(): Promise<Task>;
}

/**
 * The events of a stream of a task that was there before. If the stream begins neither with the task nor after the last
 * position, what happened in between is not in it: the task is read and comes first, events that it contains are left out,
 * and where the task ends or asks it is read again. Spec: §3.1.6; A2A 0.3 has no such first event.
 */
export async function* reconcile(
  events: AsyncIterable<PlacedEvent>,
  { lastEventId, clock, signal, look }: Reconciling,
): AsyncGenerator<PlacedEvent, void, void> {
  let isWhole: boolean | undefined;
  let overlap: Overlap | undefined;
  for await (const placed of events) {
    const { event, id } = placed;
    const { task, message, statusUpdate, artifactUpdate } = event as AgentEvent;
    if (task || message) isWhole = true;
    else if (statusUpdate || artifactUpdate) isWhole ??= isSameLog(id, lastEventId);
    if (isWhole !== false || !(statusUpdate || artifactUpdate)) {
      yield placed;
      continue;
    }
    // Shows that the agent has answered, also if the task cannot be read now.
    if (!overlap) yield { event: {} as StreamResponse };
    // From here on without positions: of the events that the task may contain, none is one to continue after.
    if (statusUpdate && stops({ id: statusUpdate.taskId, status: statusUpdate.status })) {
      const last = await lookUntil(statusUpdate.status.state, { look, clock, signal });
      yield { event: { task: last } };
      if (isTerminal(last)) return;
      overlap = new Overlap(last);
      yield { event };
      continue;
    }
    let isPast = overlap?.has(event) ?? 'unsure';
    if (isPast === 'unsure') {
      const current = await look();
      yield { event: { task: current } };
      if (isTerminal(current)) return;
      overlap = new Overlap(current);
      isPast = overlap.has(event);
    }
    if (isPast !== true) yield { event };
  }
}

/** Whether the task has ended or waits, which is where streams end. */
const stops = (task: Task): boolean => isTerminal(task) || isInterrupted(task);

/** The task as soon as it is in a state that a stream told of. Some servers tell of it before they can be asked. */
async function lookUntil(
  state: string,
  { look, clock, signal }: Pick<Reconciling, 'look' | 'clock' | 'signal'>,
): Promise<Task> {
  for (let pauseMs = 50; ; pauseMs *= 4) {
    const task = await look();
    if (task.status.state === state || isTerminal(task) || pauseMs > LONGEST_LAG_MS) return task;
    await clock.sleep(pauseMs, signal);
    signal.throwIfAborted();
  }
}

const LONGEST_LAG_MS = 1_000;
