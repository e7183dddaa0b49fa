import type { Command, MessageReceived } from '@batonjs/lifecycle';
import type { AgentCard, AgentSkill, Message, SendMessageRequest } from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { SCHEDULING } from '@batonjs/protocol/headers';
import { isObject, isSameJson } from '@batonjs/protocol/json';
import { unmetRequirement } from '@batonjs/protocol/security';
import type { Scope, StoredFact } from '@batonjs/store';
import { sha256 } from '#bytes';
import type { Caller } from '../../agent/caller.ts';
import { isoTime } from '../../base/timing/clock.ts';
import { generationParam, timelineLengthParam } from '../../log/generation/generation-param.ts';
import type { CallContext } from '../call/call-context.ts';
import { insufficient } from '../card/security.ts';

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
  const { taskPushNotificationConfig: _, ifGenerationMatch, timelineLength, ...kept } = configuration ?? {};
  const { extensions } = context;
  const condition = generationParam(ifGenerationMatch, 'configuration.ifGenerationMatch', extensions);
  timelineLengthParam(timelineLength, 'configuration.timelineLength', extensions);
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

/** The id of the task that a message starts, so that a repeated message meets the first one's task. A UUID in form. */
export function derivedTaskId(scope: Scope, messageId: string): string {
  const hex = sha256(JSON.stringify([scope, messageId]), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

type Sent = Pick<MessageReceived, 'message' | 'metadata'>;

/**
 * Whether two sends with one `messageId` are the same: message and metadata, whatever the order of members. How the
 * answer is to be given (`configuration`) does not count. Task and context may have been filled in by the server.
 */
export const isSameMessage = (stored: Sent, sent: Sent): boolean =>
  isSameJson(bare(stored, sent), bare(sent, sent));

function bare({ message, metadata }: Sent, asked: Sent) {
  const { taskId, contextId, ...content } = message;
  return {
    content: JSON.parse(JSON.stringify(content)),
    metadata: JSON.parse(JSON.stringify(metadata ?? null)),
    ...(asked.message.taskId && { taskId }),
    ...(asked.message.contextId && { contextId }),
  };
}

/** When and how urgently a message is to be worked on. */
type Scheduling = Pick<MessageReceived, 'notBefore' | 'priority'>;

const none: Scheduling = {};

/**
 * What a message asks for its turn: a time that is later than `now` (milliseconds since 1970), and a priority from 1 to
 * 9. Throws `INVALID_PARAMS` for a time that is none, or is more than `mostMs` in the future, and for another priority.
 */
export function schedulingOf(
  { metadata }: Message,
  { extensions }: CallContext,
  now: number,
  mostMs: number,
): Scheduling {
  const scheduling = metadata?.[SCHEDULING];
  if (scheduling === undefined || !extensions.includes(SCHEDULING)) return none;
  if (!isObject(scheduling)) throw invalid('', 'must be an object');
  const { notBefore, priority } = scheduling as Readonly<Record<string, unknown>>;
  const time = notBefore === undefined ? 0 : timeOf(notBefore, now + mostMs);
  const urgency = priority === undefined ? 0 : Number(priority);
  const isPriority =
    typeof priority === 'number' && Number.isInteger(urgency) && urgency >= 0 && urgency <= 9;
  if (priority !== undefined && !isPriority) throw invalid('.priority', 'must be a whole number from 0 to 9');
  return { ...(time > now && { notBefore: isoTime(time) }), ...(urgency > 0 && { priority: urgency }) };
}

/** `latest`: milliseconds since 1970, as the result. */
function timeOf(notBefore: unknown, latest: number): number {
  const time = typeof notBefore === 'string' && isTime.test(notBefore) ? Date.parse(notBefore) : Number.NaN;
  if (Number.isNaN(time))
    throw invalid('.notBefore', 'must be a time as in RFC 3339, in UTC or with its offset');
  if (time > latest) throw invalid('.notBefore', `must not be later than ${isoTime(latest)}`);
  return time;
}

/** `Date.parse` takes dates without a time, and times without an offset, which it reads in the server's time zone. */
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

const invalid = (member: string, description: string) =>
  invalidParams([{ field: `message.metadata["${SCHEDULING}"]${member}`, description }]);

/**
 * Refuses a message to a skill whose `securityRequirements` its caller does not meet: UNAUTHENTICATED without a caller,
 * else PERMISSION_DENIED with the missing scopes in `metadata.scope` and in the challenge. Spec: §4.4.5, §7.5.
 */
export function checkSkill(skillId: string | undefined, caller: Caller | undefined, card: AgentCard): void {
  const skill = skillIn(card, skillId);
  const unmet = unmetRequirement(skill?.securityRequirements, caller);
  if (!skill || !unmet) return;
  if (!caller) throw new A2AError('UNAUTHENTICATED', `The skill "${skill.id}" needs credentials`);
  throw insufficient(`The skill "${skill.id}"`, unmet, card, { skill: skill.id });
}

/** The skill of the card with this id. */
export const skillIn = ({ skills }: AgentCard, skillId: string | undefined): AgentSkill | undefined =>
  skillId === undefined ? undefined : skills.find(({ id }) => id === skillId);

/**
 * What the agent learns of its caller: its scope and its claims. Where skills have requirements, also its schemes and scopes, because
 * the agent may choose the skill itself.
 */
export function claimsOf(caller: Caller | undefined, card: AgentCard) {
  if (!caller) return undefined;
  const { scope, schemes, scopes } = caller;
  // Only an answer by a link has this one.
  const { answeredBy: _, ...claims } = caller.claims ?? {};
  if (!card.skills.some(({ securityRequirements }) => securityRequirements?.length))
    return { ...claims, scope };
  return { ...claims, scope, ...(schemes && { schemes: [...schemes] }), scopes: [...(scopes ?? [])] };
}
