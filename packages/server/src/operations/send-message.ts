import type { SendMessageRequest, SendMessageResponse } from '@batonjs/protocol';
import type { StoredFact } from '@batonjs/store';
import { type EventBatch, EventStream, type StreamStart } from '../log/event-stream.ts';
import { viewWithin } from '../log/fit-task.ts';
import type { LiveTask } from '../log/live-task.ts';
import { eventOf, type StreamEvent, taskEvent } from '../log/stream-event.ts';
import { waitForFact } from '../log/wait-for-fact.ts';
import { type Accepted, accept, ensureTask } from './accept/accept-message.ts';
import { putInlineConfig } from './accept/inline-config.ts';
import { settling } from './accept/settle.ts';
import type { CallContext } from './call/call-context.ts';
import type { ServiceSettings } from './call/dependencies.ts';

/** SendMessage. Spec: §3.1.1, §3.2.2. */
export async function sendMessage(
  request: SendMessageRequest,
  context: CallContext,
  settings: ServiceSettings,
): Promise<SendMessageResponse> {
  const accepted = await accept(request, context, settings);
  const { live } = accepted;
  try {
    const { historyLength, returnImmediately, taskPushNotificationConfig } = request.configuration ?? {};
    if (taskPushNotificationConfig) await putInlineConfig(accepted, request, context, settings);
    if (!returnImmediately) await settled(accepted, request.message.messageId, context, settings);
    if (!live.state.task && !live.state.closed) await ensureTask(live, settings);
    const { state } = live;
    if (state.answer) return { message: state.answer };
    const { currentStatusInHistory, limits } = settings;
    return { task: viewWithin(state, { historyLength, currentStatusInHistory }, limits.replyBytes) };
  } finally {
    settings.tasks.release(live);
  }
}

/** Resolves when the message is settled, after `blockingMs`, or when the caller no longer waits. */
function settled(
  { live, position }: Accepted,
  messageId: string,
  { signal }: CallContext,
  { blockingMs }: ServiceSettings,
): Promise<void> {
  return waitForFact(live, settling(messageId), { after: position - 1, ms: blockingMs, signal });
}

/** SendStreamingMessage. Spec: §3.1.2. */
export const sendStreamingMessage = (
  request: SendMessageRequest,
  context: CallContext,
  settings: ServiceSettings,
): EventStream => new EventStream(() => open(request, context, settings));

async function open(
  request: SendMessageRequest,
  context: CallContext,
  settings: ServiceSettings,
): Promise<StreamStart> {
  const { historyLength, taskPushNotificationConfig } = request.configuration ?? {};
  const { closeStreamsOnInputRequired, currentStatusInHistory, tasks, limits } = settings;
  let entered: LiveTask | undefined;
  const accepting = accept(request, context, settings, (live) => {
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
    if (taskPushNotificationConfig) await putInlineConfig(accepted, request, context, settings);
    const settles = settling(request.message.messageId);
    const origin = await live.origin();
    const view = { historyLength, currentStatusInHistory };
    let { state } = accepted;
    const events = state.task ? [taskEvent(live, state, origin, view, limits.replyBytes)] : [];
    // The known state may be older than the message, if the store could not be read since.
    const version = Math.min(position - 1, state.version);
    const toEvents = (facts: readonly StoredFact[]): EventBatch => {
      const events: StreamEvent[] = [];
      for (const stored of facts) {
        const settlement = settles(stored.fact);
        const isLast =
          settlement === 'closed' || (settlement === 'input-required' && closeStreamsOnInputRequired);
        if (stored.version > state.version) {
          if (stored.fact.type === 'task-created') state = live.state;
          const event =
            stored.fact.type === 'task-created'
              ? taskEvent(live, state, origin, view, limits.replyBytes)
              : eventOf(live, origin, stored);
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
