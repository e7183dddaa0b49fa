import type { Message, SendMessageConfiguration, SendMessageRequest } from '@batonjs/protocol';
import { isSameJson } from '@batonjs/protocol/json';
import { sha256 } from '#bytes';
import {
  checkConfigLimit,
  checkPushConfig,
  pushVersion,
  tooMany,
} from '../../webhooks/configs/check-push-config.ts';
import { type CallContext, type Dependencies, webhooksOf } from '../call/call-context.ts';
import type { Accepted } from './record-message.ts';

type InlineConfig = NonNullable<SendMessageConfiguration['taskPushNotificationConfig']>;

const path = 'configuration.taskPushNotificationConfig.';

/** Refuses a send whose webhook could not be registered afterwards. To be called before anything is stored. */
export async function checkInlineConfig(
  config: InlineConfig,
  { taskId }: Message,
  { scope }: CallContext,
  dependencies: Dependencies,
): Promise<void> {
  const push = webhooksOf(dependencies);
  await checkPushConfig(config, push, path);
  if (taskId) await checkConfigLimit(scope, taskId, config.id, push);
}

/**
 * Registers the webhook that came with a message, from that message on. The log is the outbox: no update between the
 * message and this call is lost. A repeated send finds the same webhook. Spec: §3.2.2.
 */
export async function putInlineConfig(
  { live, position, repeated }: Accepted,
  { message, configuration }: SendMessageRequest,
  context: CallContext,
  { push, options: { queue } }: Dependencies,
): Promise<void> {
  const config = configuration?.taskPushNotificationConfig;
  const { scope } = context;
  if (!config || !push || live.state.answer) return;
  const { taskId } = live;
  const id = config.id ?? derivedId(message.messageId);
  const own = { ...config, id, taskId };
  // Putting it again would disturb a delivery that is under way.
  if (repeated && (await isThere())) return;
  const entry = {
    scope,
    taskId,
    id,
    config: own,
    protocolVersion: pushVersion(context),
    queue,
    cursor: position - 1,
  };
  const isPut = await push.store.putPushConfig(entry, push.options.configsPerTask);
  // Other webhooks were registered since the check. The message is in the log: a client that repeats it gets its task.
  if (!isPut) throw tooMany(push.options.configsPerTask);

  async function isThere(): Promise<boolean> {
    const known = await push?.store.getPushConfig(scope, taskId, id);
    return known?.dead === undefined && isSameJson(known?.config, own);
  }
}

const derivedId = (messageId: string): string => sha256(`push:${messageId}`, 'base64url').slice(0, 22);
