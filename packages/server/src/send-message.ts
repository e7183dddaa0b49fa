import { toStreamResponse, viewTask } from '@batonjs/lifecycle';
import type { SendMessageRequest, SendMessageResponse } from '@batonjs/protocol';
import { type Accepted, accept, ensureTask } from './accept.ts';
import type { CallContext } from './call-context.ts';
import { followTask } from './follow-task.ts';
import { putInlineConfig } from './push/put-inline-config.ts';
import type { ServiceSettings } from './service-settings.ts';
import { settling } from './settle.ts';
import { idOf, type StreamEvent } from './stream-event.ts';
import { until } from './until.ts';

/** SendMessage. Spec: §3.1.1, §3.2.2. */
export async function sendMessage(
  request: SendMessageRequest,
  context: CallContext,
  settings: ServiceSettings,
): Promise<SendMessageResponse> {
  const accepted = await accept(request, context, settings);
  const { live } = accepted;
  try {
    await putInlineConfig(accepted, request, context, settings);
    const { historyLength, returnImmediately } = request.configuration ?? {};
    if (!returnImmediately) await settled(accepted, request.message.messageId, context, settings);
    if (!live.state.task && !live.state.closed) await ensureTask(live, settings);
    const { state } = live;
    if (state.answer) return { message: state.answer };
    return {
      task: viewTask(state, { historyLength, currentStatusInHistory: settings.currentStatusInHistory }),
    };
  } finally {
    settings.tasks.release(live);
  }
}

/** Resolves when the message is settled, the wait has lasted long enough, or nobody waits any more. */
function settled(
  { live, position }: Accepted,
  messageId: string,
  { signal }: CallContext,
  { blockingMs }: ServiceSettings,
): Promise<void> {
  return until(live, position - 1, settling(messageId), blockingMs, signal);
}

/** SendStreamingMessage. Spec: §3.1.2. */
export async function* sendStreamingMessage(
  request: SendMessageRequest,
  context: CallContext,
  settings: ServiceSettings,
): AsyncGenerator<StreamEvent> {
  const { closeStreamsOnInputRequired, currentStatusInHistory } = settings;
  const accepted = await accept(request, context, settings);
  const { live, position } = accepted;
  try {
    await putInlineConfig(accepted, request, context, settings);
    const settles = settling(request.message.messageId);
    const { historyLength } = request.configuration ?? {};
    let { state } = accepted;
    let settled = false;
    const origin = await live.origin();
    const snapshot = (): StreamEvent => ({
      id: idOf(origin, state.version),
      event: { task: viewTask(state, { historyLength, currentStatusInHistory }) },
    });
    if (state.task) yield snapshot();
    // What is known may be older than the message, if the log could not be read since.
    const after = Math.min(position - 1, state.version);
    for await (const { version, fact } of followTask(live, after, context.signal)) {
      const settlement = settles(fact);
      if (settlement === 'closed' || (settlement === 'input-required' && closeStreamsOnInputRequired))
        settled = true;
      if (version > state.version) {
        const task = live.state.task;
        if (fact.type === 'task-created') {
          state = live.state;
          yield snapshot();
        } else {
          const event = toStreamResponse({ id: task?.id ?? live.taskId, contextId: state.contextId }, fact);
          if (event) yield { id: idOf(origin, version), event, isLast: settled };
        }
      }
      if (settled) return;
    }
  } finally {
    settings.tasks.release(live);
  }
}
