import type { SendMessageRequest, SendMessageResponse } from '@batonjs/protocol';
import { viewWithin } from '../log/fit-task.ts';
import { waitForFact } from '../log/wait-for-fact.ts';
import { accept } from './accept/accept-message.ts';
import type { Accepted } from './accept/accepted.ts';
import { ensureTask } from './accept/ensure-task.ts';
import { putInlineConfig } from './accept/inline-config.ts';
import { settling } from './accept/settle.ts';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { viewFor } from './call/view-for.ts';

/** SendMessage. Spec: §3.1.1, §3.2.2. */
export async function sendMessage(
  request: SendMessageRequest,
  context: CallContext,
  dependencies: Dependencies,
): Promise<SendMessageResponse> {
  const accepted = await accept(request, context, dependencies);
  const { live } = accepted;
  try {
    const { historyLength, returnImmediately, taskPushNotificationConfig } = request.configuration ?? {};
    if (taskPushNotificationConfig) await putInlineConfig(accepted, request, context, dependencies);
    if (!returnImmediately) {
      const end = dependencies.work?.(live);
      await settled(accepted, request.message.messageId, context, dependencies);
      if (end) await end();
    }
    if (!live.state.task && !live.state.closed) await ensureTask(live, dependencies);
    const { state } = live;
    if (state.answer) return { message: state.answer };
    const { messages, limits } = dependencies.options;
    const view = viewFor(context.extensions, messages, historyLength);
    return { task: viewWithin(state, view, limits.replyBytes) };
  } finally {
    dependencies.tasks.release(live);
  }
}

/**
 * Resolves when the message is settled, after `timeouts.blockingMs`, or when the caller no longer waits. The message itself is
 * not read again: the store would have to be asked for one that is too large to be kept.
 */
function settled(
  { live, position }: Accepted,
  messageId: string,
  { signal }: CallContext,
  { options: { timeouts } }: Dependencies,
): Promise<void> {
  return waitForFact(live, settling(messageId), { after: position, ms: timeouts.blockingMs, signal });
}
