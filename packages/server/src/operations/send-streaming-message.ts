import { evolve, type State } from '@batonjs/lifecycle';
import type { SendMessageRequest } from '@batonjs/protocol';
import { GENERATION } from '@batonjs/protocol/headers';
import type { StoredFact } from '@batonjs/store';
import { type EventBatch, EventStream, type StreamStart } from '../log/event-stream.ts';
import { GenerationCounter } from '../log/generation/generations.ts';
import type { LiveTask } from '../log/live-task.ts';
import type { StreamEvent } from '../log/stream-event.ts';
import { eventOf, taskEvent } from '../log/task-events.ts';
import { accept } from './accept/accept-message.ts';
import type { Accepted } from './accept/accepted.ts';
import { putInlineConfig } from './accept/inline-config.ts';
import { settling } from './accept/settle.ts';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { viewFor } from './call/view-for.ts';

/** SendStreamingMessage. Spec: §3.1.2. */
export const sendStreamingMessage = (
  request: SendMessageRequest,
  context: CallContext,
  dependencies: Dependencies,
): EventStream => new EventStream(() => open(request, context, dependencies));

async function open(
  request: SendMessageRequest,
  context: CallContext,
  dependencies: Dependencies,
): Promise<StreamStart> {
  const { tasks } = dependencies;
  const { limits } = dependencies.options;
  let entered: LiveTask | undefined;
  const accepting = accept(request, context, dependencies, (live) => {
    live.enter(limits.followersPerTask);
    entered = live;
  });
  const accepted = await accepting.catch((error: unknown) => {
    entered?.leave();
    throw error;
  });
  const { live } = accepted;
  let end: (() => unknown) | undefined;
  const leave = () => {
    end?.();
    live.leave();
    tasks.release(live);
  };
  try {
    if (request.configuration?.taskPushNotificationConfig)
      await putInlineConfig(accepted, request, context, dependencies);
    end = dependencies.work?.(live);
    const stream = startOf(accepted, await live.origin(), request, context, dependencies);
    return { live, signal: context.signal, isLast: false, leave, ...stream };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Where the stream starts, its first events, and how facts become the next ones until the message is settled. */
function startOf(
  { live, position, state: accepted }: Accepted,
  origin: string,
  { message, configuration }: SendMessageRequest,
  { extensions }: CallContext,
  { options }: Dependencies,
): Pick<StreamStart, 'position' | 'events' | 'toEvents'> {
  const { streams, messages, limits } = options;
  const settles = settling(message.messageId);
  const view = viewFor(extensions, messages, configuration?.historyLength);
  let state = accepted;
  let counter = extensions.includes(GENERATION) ? new GenerationCounter(state.generation) : undefined;
  const toEvents = (facts: readonly StoredFact[]): EventBatch => {
    const events: StreamEvent[] = [];
    for (const stored of facts) {
      const settlement = settles(stored.fact);
      const isLast =
        settlement === 'closed' || (settlement === 'input-required' && streams.closeOnInputRequired);
      if (stored.version > state.version) {
        const isTask = stored.fact.type === 'task-created';
        if (!state.task) state = after(state, stored, facts);
        if (isTask) counter &&= new GenerationCounter(state.generation);
        const plain = isTask
          ? taskEvent(live, state, origin, view, limits.replyBytes)
          : eventOf(live, origin, stored);
        const event = counter && !isTask ? counter.next(stored, plain) : plain;
        if (event) events.push(isLast ? { ...event, isLast } : event);
      }
      if (isLast) return { events, isLast };
    }
    return { events, isLast: false };
  };
  return {
    // The known state may be older than the message, if the store could not be read since.
    position: { version: Math.min(position, state.version) },
    events: state.task ? [taskEvent(live, state, origin, view, limits.replyBytes)] : [],
    toEvents,
  };
}

/**
 * The state after a fact. If it made the task, after all of its commit: the agent's first update is part of it. Not the
 * state by now, as an agent that waits for nothing has gone on.
 */
function after(state: State, { fact, commitId }: StoredFact, facts: readonly StoredFact[]): State {
  const next = evolve(state, fact);
  if (!next.task) return next;
  return facts
    .filter((other) => other.version > next.version && other.commitId === commitId)
    .reduce((known, other) => evolve(known, other.fact), next);
}
