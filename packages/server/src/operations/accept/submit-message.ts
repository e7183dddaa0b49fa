import type { SendMessageRequest } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { parseParams } from '@batonjs/protocol/parse-params';
import type { Caller } from '../../agent/caller.ts';
import type { LabelsOf } from '../../agent/message-options.ts';
import { newId } from '../../base/system/new-id.ts';
import { scopeOf } from '../call/call-context.ts';
import type { Dependencies } from '../call/dependencies.ts';
import { accept } from './accept-message.ts';
import { mayWork } from './check-unfinished.ts';
import { ensureTask } from './ensure-task.ts';

/**
 * Accepts a message of the program of the server in the name of a caller. Not an operation of the protocol. A message
 * that was accepted before is recognised by its id, whatever `idempotency` says of those of clients, and for 24 hours after
 * its task was deleted. Else the message has a task when it resolves, which begins with `labels` besides those of
 * `labelsOf`. Rejects with an `A2AError`.
 */
export async function submitMessage(
  request: SendMessageRequest,
  caller: Caller | undefined,
  dependencies: Dependencies,
  labels: readonly string[] = [],
): Promise<void> {
  const { clock, options, tasks } = dependencies;
  const params = parseParams('SendMessage', request);
  await mayWork(dependencies);
  const context = {
    scope: scopeOf(options.queue, params.tenant, caller),
    caller,
    extensions: [],
    version: PROTOCOL_VERSION,
    signal: new AbortController().signal,
    requestId: newId(clock),
  };
  const { labelsOf } = options.messages;
  const labelled: LabelsOf = (message, caller) => [...(labelsOf?.(message, caller) ?? []), ...labels];
  const messages = {
    ...options.messages,
    idempotency: true,
    ...(labels.length > 0 && { labelsOf: labelled }),
  };
  const once = { ...dependencies, options: { ...options, messages } };
  const accepted = await accept(params, context, once).catch((error) => {
    if (A2AError.is(error, 'TASK_NOT_FOUND') && !params.message.taskId) return undefined;
    throw error;
  });
  if (!accepted) return;
  const { live } = accepted;
  try {
    if (!live.state.task && !live.state.closed) await ensureTask(live, dependencies);
  } finally {
    tasks.release(live);
  }
}
