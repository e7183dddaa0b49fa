import { decide, labelProblem } from '@batonjs/lifecycle';
import type { Message, SendMessageConfiguration, SendMessageRequest } from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { isSameJson } from '@batonjs/protocol/json';
import { parseParams } from '@batonjs/protocol/parse-params';
import { sha256 } from '#bytes';
import type { Caller, LabelsOf } from '../../agent/caller.ts';
import { newId } from '../../base/system/new-id.ts';
import { isoTime } from '../../base/timing/clock.ts';
import type { LiveTask } from '../../log/live-task.ts';
import { TaskFiles } from '../../turns/files/task-files.ts';
import {
  checkConfigLimit,
  checkPushConfig,
  pushVersion,
  tooMany,
} from '../../webhooks/configs/check-push-config.ts';
import { type CallContext, type Dependencies, scopeOf, webhooksOf } from '../call/call-context.ts';
import { checkInputModes, checkOutputModes } from '../card/media-modes.ts';
import { mayWork } from './check-unfinished.ts';
import { checkSkill, schedulingOf, skillIn, toReceive } from './receive.ts';
import { type Accepted, beginLog, continueTask, ensureTask, newTaskId } from './record-message.ts';

/**
 * Records a message: in a new log, or in that of the task it names. The agent is called only after that. `enter` is
 * called with the task before anything is written, and may refuse.
 */
export async function accept(
  request: SendMessageRequest,
  context: CallContext,
  dependencies: Dependencies,
  enter: (live: LiveTask) => void = () => {},
): Promise<Accepted> {
  const { message, configuration } = request;
  if (message.role !== 'ROLE_USER')
    throw invalidParams([{ field: 'message.role', description: 'must be ROLE_USER' }]);
  const { card, options } = dependencies;
  const skillId = options.skillOf?.(request, context.extensions);
  checkSkill(skillId, context.caller, card);
  const webhook = configuration?.taskPushNotificationConfig;
  if (webhook) {
    if (!card.capabilities.pushNotifications) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    await checkInlineConfig(webhook, message, context, dependencies);
  }
  const existing = message.taskId ? await dependencies.tasks.open(context.scope, message.taskId) : undefined;
  try {
    if (message.taskId && !existing?.state.task)
      throw new A2AError('TASK_NOT_FOUND', undefined, taskOf(message));
    const { clock } = dependencies;
    const { notBeforeMs } = dependencies.options.limits;
    const scheduling = schedulingOf(message, context, clock.now(), notBeforeMs);
    const labels = existing ? undefined : labelsFor(message, context, options.messages.labelsOf);
    const taskId = existing?.taskId ?? newTaskId(message, context, dependencies);
    const files =
      options.files &&
      (await new TaskFiles(options.files, { scope: context.scope, taskId }).received(message));
    const kept = files ? { ...request, message: files.value } : request;
    const receive = toReceive(kept, context, card, scheduling, { skill: skillIn(card, skillId)?.id, labels });
    // A message that names no skill, or another one, may continue what an earlier message began.
    for (const begun of existing?.state.skills ?? []) checkSkill(begun, context.caller, card);
    // Every reason to refuse comes before the first write.
    if (existing) decide(existing.state, receive, isoTime(clock.now()));
    checkInputModes(dependencies.card, receive.message);
    checkOutputModes(dependencies.card, configuration?.acceptedOutputModes);
    if (existing) enter(existing);
    if (files) await files.save();
    return existing
      ? await continueTask(existing, receive, dependencies)
      : await beginLog(taskId, receive, context, dependencies, enter);
  } catch (error) {
    if (existing) dependencies.tasks.release(existing);
    throw error;
  }
}

/** Throws `TypeError` for labels that a task cannot have. */
function labelsFor(
  message: Message,
  { caller }: CallContext,
  labelsOf: LabelsOf | undefined,
): readonly string[] | undefined {
  const labels = labelsOf?.(message, caller);
  if (labels === undefined) return undefined;
  const problem = labelProblem(labels);
  if (problem) throw new TypeError(`\`labelsOf\` returned what a task cannot have: ${problem}`);
  return labels.length > 0 ? [...new Set(labels)] : undefined;
}

const taskOf = ({ taskId }: Message) => ({ metadata: { taskId: taskId ?? '' } });

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

type InlineConfig = NonNullable<SendMessageConfiguration['taskPushNotificationConfig']>;

const path = 'configuration.taskPushNotificationConfig.';

/** Refuses a send whose webhook could not be registered afterwards. To be called before anything is stored. */
async function checkInlineConfig(
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
