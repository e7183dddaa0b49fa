import type { SendMessageRequest } from '@batonjs/protocol';
import { GENERATION } from '@batonjs/protocol/headers';
import type { StoredFact } from '@batonjs/store';
import { type EventBatch, EventStream, type StreamStart } from '../log/event-stream.ts';
import { GenerationCounter } from '../log/generation/generations.ts';
import type { LiveTask } from '../log/live-task.ts';
import type { StreamEvent } from '../log/stream-event.ts';
import { eventOf, taskEvent } from '../log/task-events.ts';
import { accept } from './accept/accept-message.ts';
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
  const { historyLength, taskPushNotificationConfig } = request.configuration ?? {};
  const { tasks } = dependencies;
  const { closeStreamsOnInputRequired, currentStatusInHistory, limits } = dependencies.options;
  let entered: LiveTask | undefined;
  const accepting = accept(request, context, dependencies, (live) => {
    live.enter(limits.followersPerTask);
    entered = live;
  });
  const accepted = await accepting.catch((error: unknown) => {
    entered?.leave();
    throw error;
  });
  const { live, position } = accepted;
  const leave = () => {
    live.leave();
    tasks.release(live);
  };
  try {
    if (taskPushNotificationConfig) await putInlineConfig(accepted, request, context, dependencies);
    const settles = settling(request.message.messageId);
    const origin = await live.origin();
    const view = { historyLength, currentStatusInHistory, ...viewFor(context.extensions) };
    let { state } = accepted;
    const isCounted = context.extensions.includes(GENERATION);
    let counter = isCounted ? new GenerationCounter(state.generation) : undefined;
    const events = state.task ? [taskEvent(live, state, origin, view, limits.replyBytes)] : [];
    // The known state may be older than the message, if the store could not be read since.
    const version = Math.min(position, state.version);
    const toEvents = (facts: readonly StoredFact[]): EventBatch => {
      const events: StreamEvent[] = [];
      for (const stored of facts) {
        const settlement = settles(stored.fact);
        const isLast =
          settlement === 'closed' || (settlement === 'input-required' && closeStreamsOnInputRequired);
        if (stored.version > state.version) {
          const isTask = stored.fact.type === 'task-created';
          if (isTask) {
            state = live.state;
            counter &&= new GenerationCounter(state.generation);
          }
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
    return { live, signal: context.signal, position: { version }, events, isLast: false, toEvents, leave };
  } catch (error) {
    leave();
    throw error;
  }
}
