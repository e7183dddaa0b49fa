import { A2AError, type AgentClient, type AgentEvent, ClientError, type TaskStream } from '@batonjs/client';
import type { Message } from '@batonjs/protocol';
import { isIdempotent, type Target } from '../agents/agents.ts';
import { reach, Unreachable, wasNotSent } from '../agents/reach.ts';
import { CallError } from '../call-error.ts';
import type { ChildRecord } from './child-record.ts';

/** A stream of a child, and its first event, which was taken from it. */
export interface StartedStream {
  readonly stream: TaskStream;
  readonly first: AgentEvent;
  /** Whether it is the stream of a message: it ends when the child has dealt with the message. */
  readonly isReply: boolean;
}

/** The options of streams and of the time during which an unreachable agent is tried again. */
export interface SendSettings {
  readonly signal: AbortSignal;
  readonly extensions: readonly string[];
  readonly unreachableMs: number;
  /** As in `CallOptions`. */
  readonly resend: boolean;
}

/** Sends a message and waits for the first event. Tries again while the agent surely did not get the message. */
export async function send(
  { client }: Target,
  message: Message,
  { metadata }: Pick<ChildRecord, 'metadata'>,
  { signal, extensions, unreachableMs }: SendSettings,
): Promise<StartedStream> {
  const options = { signal, extensions, followForMs: unreachableMs, ...(metadata && { metadata }) };
  return reach(
    async () => {
      const stream = client.stream(message, options);
      return { stream, first: await firstEvent(stream), isReply: true };
    },
    { forMs: unreachableMs, signal, repeatable: false },
  );
}

/**
 * Sends the message that starts a child. `isAgain`: an attempt that died may have sent it. Then an agent without
 * idempotency is asked for the task, and is sent nothing unless it surely has none or `resend` allows it.
 */
export async function startChild(
  name: string,
  target: Target,
  record: ChildRecord & { readonly message: Message },
  settings: SendSettings,
  isAgain: boolean,
): Promise<StartedStream> {
  const { client } = target;
  if (isAgain && !isIdempotent(client)) {
    const started = await attachToLost(target, record.message, settings);
    if (started) return started;
    if (!target.isLocal && !settings.resend) throw unknownOutcome(name);
  }
  try {
    return await send(target, record.message, record, settings);
  } catch (error) {
    settings.signal.throwIfAborted();
    if (isIdempotent(client) || !isBroken(error)) throw error;
    const started = await attachToLost(target, record.message, settings);
    if (started) return started;
    throw unknownOutcome(name, error);
  }
}

const unknownOutcome = (name: string, cause?: unknown) =>
  new CallError(
    'OUTCOME_UNKNOWN',
    name,
    'whether the agent received the message is not known, and it is not sent twice',
    cause,
  );

/** Whether the agent may have received the message although no answer came. */
function isBroken(error: unknown): boolean {
  const cause = error instanceof Unreachable ? error.cause : error;
  return (ClientError.is(cause, 'NETWORK') || ClientError.is(cause, 'TIMEOUT')) && !wasNotSent(cause);
}

async function attachToLost(
  target: Target,
  message: Message,
  settings: SendSettings,
): Promise<StartedStream | undefined> {
  // An agent that is out of reach for a moment may have the task: it is asked for as long as it would be sent a message.
  const { signal, unreachableMs: forMs } = settings;
  const find = () => findTask(target.client, message, signal);
  const id = await reach(find, { forMs, signal, repeatable: true });
  return id === undefined ? undefined : follow(target, id, settings);
}

/** Follows a child from a position, or as it is, and waits for the first event. */
export async function follow(
  { client }: Target,
  taskId: string,
  { signal, extensions, unreachableMs: followForMs }: SendSettings,
  lastEventId?: string,
): Promise<StartedStream> {
  const from = lastEventId ? { lastEventId } : {};
  const stream = client.follow(taskId, { signal, extensions, followForMs, ...from });
  return { stream, first: await firstEvent(stream), isReply: false };
}

/**
 * The task that a message started, by its context and the message in its history. Undefined if the agent has none or
 * cannot list tasks. Rejects if it cannot be reached.
 */
export async function findTask(
  client: AgentClient,
  { contextId, messageId }: Message,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    const request = { contextId: contextId!, pageSize: 100, historyLength: 1_000 };
    const { tasks } = await client.listTasks(request, { ...(signal && { signal }) });
    const has = (history: readonly Message[] = []) => history.some((each) => each.messageId === messageId);
    return tasks.find((task) => task.contextId === contextId && has(task.history))?.id;
  } catch (error) {
    if (A2AError.is(error) && !A2AError.is(error, 'UNAVAILABLE') && !A2AError.is(error, 'RESOURCE_EXHAUSTED'))
      return undefined;
    throw error;
  }
}

/** The first event of a stream. The stream goes on after it. */
async function firstEvent(stream: TaskStream): Promise<AgentEvent> {
  const { value, done } = await stream[Symbol.asyncIterator]().next();
  if (done) throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent ended its stream without an event');
  return value;
}
