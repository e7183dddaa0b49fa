import {
  evolve,
  type Fact,
  generationOf,
  isInterrupted,
  isTerminal,
  type State,
  type TaskView,
} from '@batonjs/lifecycle';
import type { SendMessageRequest, SendMessageResponse } from '@batonjs/protocol';
import { GENERATION } from '@batonjs/protocol/headers';
import type { StoredFact } from '@batonjs/store';
import { waitForFact } from '../log/cursor.ts';
import { type EventBatch, EventStream, type StreamStart } from '../log/event-stream.ts';
import { eventOf, taskEvent, viewWithin } from '../log/fit-task.ts';
import { generationCounter } from '../log/generation/generations.ts';
import type { LiveTask } from '../log/live-task.ts';
import type { StreamEvent } from '../log/recent-facts.ts';
import { accept, putInlineConfig } from './accept/accept-message.ts';
import { type Accepted, ensureTask } from './accept/record-message.ts';
import type { CallContext, Dependencies } from './call/call-context.ts';
import { viewOf } from './call/view-for.ts';

/** SendMessage. Spec: §3.1.1, §3.2.2. */
export async function sendMessage(
  request: SendMessageRequest,
  context: CallContext,
  dependencies: Dependencies,
): Promise<SendMessageResponse> {
  const accepted = await accept(request, context, dependencies);
  const { live } = accepted;
  try {
    const { returnImmediately, taskPushNotificationConfig } = request.configuration ?? {};
    if (taskPushNotificationConfig) await putInlineConfig(accepted, request, context, dependencies);
    if (!returnImmediately) {
      const end = dependencies.work?.(live);
      await settled(accepted, request.message.messageId, context, dependencies);
      if (end) await end();
    }
    if (!live.state.task && !live.state.closed) await ensureTask(live, dependencies);
    const { state } = live;
    if (state.answer) return { message: state.answer };
    const read = { id: live.taskId, version: state.version };
    const view = await viewOf(read, context, dependencies, request.configuration);
    return { task: viewWithin(state, view, dependencies.options.limits.replyBytes) };
  } finally {
    dependencies.tasks.release(live);
  }
}

/**
 * Resolves when the message is settled, after `timeouts.blockingMs`, or when the caller no longer waits. The message itself is
 * not read again: the store would have to be asked for one that is too large to be kept.
 */
const settled = (
  { live, position }: Accepted,
  messageId: string,
  { signal }: CallContext,
  { options: { timeouts } }: Dependencies,
): Promise<void> =>
  waitForFact(live, settling(messageId), { after: position, ms: timeouts.blockingMs, signal });

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
  const { tasks } = dependencies;
  const { limits } = dependencies.options;
  let entered: LiveTask | undefined;
  const accepting = accept(request, context, dependencies, (live) => {
    live.enter(limits.followersPerTask);
    entered = live;
  });
  const accepted = await accepting.catch((error: unknown) => {
    entered?.leave();
    throw error;
  });
  const { live } = accepted;
  let end: (() => unknown) | undefined;
  const leave = () => {
    end?.();
    live.leave();
    tasks.release(live);
  };
  try {
    if (request.configuration?.taskPushNotificationConfig)
      await putInlineConfig(accepted, request, context, dependencies);
    end = dependencies.work?.(live);
    const read = { id: live.taskId, version: accepted.state.version };
    const view = await viewOf(read, context, dependencies, request.configuration);
    const stream = startOf(accepted, await live.origin(), view, request, context, dependencies);
    return { live, signal: context.signal, isLast: false, leave, ...stream };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Where the stream starts, its first events, and how facts become the next ones until the message is settled. */
function startOf(
  { live, position, state: accepted }: Accepted,
  origin: string,
  view: TaskView,
  { message }: SendMessageRequest,
  { extensions }: CallContext,
  { options }: Dependencies,
): Pick<StreamStart, 'position' | 'events' | 'toEvents'> {
  const { streams, limits } = options;
  const settles = settling(message.messageId);
  let state = accepted;
  let counter = extensions.includes(GENERATION) ? generationCounter(generationOf(state)) : undefined;
  const toEvents = (facts: readonly StoredFact[]): EventBatch => {
    const events: StreamEvent[] = [];
    for (const stored of facts) {
      const settlement = settles(stored.fact);
      const isLast =
        settlement === 'closed' || (settlement === 'input-required' && streams.closeOnInputRequired);
      if (stored.version > state.version) {
        const isTask = stored.fact.type === 'task-created';
        if (!state.task) state = after(state, stored, facts);
        if (isTask) {
          counter &&= generationCounter(generationOf(state));
          goOn(view, facts, state.version);
        }
        const plain = isTask
          ? taskEvent(live, state, origin, view, limits.replyBytes)
          : eventOf(live, origin, stored);
        const event = counter && !isTask ? counter(stored, plain) : plain;
        if (event) events.push(isLast ? { ...event, isLast } : event);
      }
      if (isLast) return { events, isLast };
    }
    return { events, isLast: false };
  };
  return {
    // The known state may be older than the message, if the store could not be read since.
    position: { version: Math.min(position, state.version) },
    events: state.task ? [taskEvent(live, state, origin, view, limits.replyBytes)] : [],
    toEvents,
  };
}

/** Adds the facts of a commit to the timeline, which takes a message once. */
function goOn({ timeline }: TaskView, facts: readonly StoredFact[], end: number): void {
  for (const { version, fact } of facts) if (version <= end) timeline?.add(fact);
}

/**
 * The state after a fact. If it made the task, after all of its commit: the agent's first update is part of it. Not the
 * state by now, as an agent that waits for nothing has gone on.
 */
function after(state: State, { fact, commitId }: StoredFact, facts: readonly StoredFact[]): State {
  const next = evolve(state, fact);
  if (!next.task) return next;
  return facts
    .filter((other) => other.version > next.version && other.commitId === commitId)
    .reduce((known, other) => evolve(known, other.fact), next);
}

/** How a log has settled a message: it closed, or it waits for an answer or authorization after a turn took the message. */
export type Settled = 'closed' | 'input-required' | 'auth-required';

/**
 * Watches facts for the one that settles a message. A message settles when its log closes, or when a turn that took it
 * asks for something: an earlier question was not asked about it.
 */
export function settling(messageId: string): (fact: Fact) => Settled | undefined {
  let taken = false;
  return (fact) => {
    if (fact.type === 'turn-started') taken ||= fact.messageIds.includes(messageId);
    if (fact.type === 'message-taken') taken ||= fact.messageId === messageId;
    if (fact.type === 'answered') return 'closed';
    if (fact.type !== 'status-changed') return undefined;
    const { state } = fact.status;
    if (isTerminal(state)) return 'closed';
    if (!taken || !isInterrupted(state)) return undefined;
    return state === 'TASK_STATE_INPUT_REQUIRED' ? 'input-required' : 'auth-required';
  };
}
