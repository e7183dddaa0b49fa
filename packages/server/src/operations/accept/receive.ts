import type { Command } from '@batonjs/lifecycle';
import type { AgentCard, SendMessageRequest } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { StoredFact } from '@batonjs/store';
import { generationParam } from '../../log/generation/generation-param.ts';
import type { CallContext } from '../call/call-context.ts';
import { claimsOf } from './check-skill.ts';
import { isSameMessage } from './same-message.ts';
import type { Scheduling } from './scheduling.ts';

type Metadata = NonNullable<SendMessageRequest['metadata']>;

/** The command by which a log gets a message. */
export type Receive = Command & { type: 'receive' };

/** The command for a request. */
export function toReceive(
  { message, configuration, metadata }: SendMessageRequest,
  context: CallContext,
  card: AgentCard,
  scheduling: Scheduling,
  { skill, labels }: { readonly skill?: string | undefined; readonly labels?: readonly string[] | undefined },
): Receive {
  const { taskPushNotificationConfig: _, ifGenerationMatch, ...kept } = configuration ?? {};
  const { extensions } = context;
  const condition = generationParam(ifGenerationMatch, 'configuration.ifGenerationMatch', extensions);
  const caller = claimsOf(context.caller, card);
  return {
    type: 'receive',
    message,
    ...(configuration && { configuration: kept }),
    ...(metadata && { metadata: ownMetadata(metadata, labels) }),
    ...(context.extensions.length > 0 && { extensions: context.extensions }),
    ...(caller && { caller: { ...caller } }),
    ...(context.traceparent && { traceparent: context.traceparent }),
    ...scheduling,
    ...(skill !== undefined && { skill }),
    ...(labels && { labels }),
    // A send that creates a task has no generation to compare.
    ...(condition !== undefined && message.taskId && { ifGeneration: condition }),
  };
}

/** The label of the tasks of a schedule. No client can set it. */
export const labelOfSchedule = (name: string): string => `schedule:${name}`;

/** An agent takes `metadata.schedule` for that of its server: a client's is left out. */
function ownMetadata(metadata: Metadata, labels: readonly string[] = []): Metadata {
  const { schedule, ...rest } = metadata;
  const isOurs = labels.includes(labelOfSchedule(Object(schedule).name));
  return schedule === undefined || isOurs ? metadata : rest;
}

/** Throws `MESSAGE_ID_CONFLICT` unless the stored fact is the same message. */
export function mustBeTheSame(stored: StoredFact | undefined, receive: Receive, taskId: string): void {
  const fact = stored?.fact;
  if (fact?.type === 'message-received' && isSameMessage(fact, receive)) return;
  throw new A2AError('MESSAGE_ID_CONFLICT', undefined, { metadata: { existingTaskId: taskId } });
}

/** The name of a message in its log, which has it once. */
export const onceOf = (messageId: string): string => `message:${messageId}`;
