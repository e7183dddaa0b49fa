import { generationOf, isTerminal } from '@batonjs/lifecycle';
import type { SubscribeToTaskRequest } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { GENERATION } from '@batonjs/protocol/headers';
import type { StoredFact } from '@batonjs/store';
import { type EventBatch, EventStream, type StreamStart } from '../log/event-stream.ts';
import { eventOf, positionIn, taskEvent } from '../log/fit-task.ts';
import { generationAt } from '../log/generation/generation-at.ts';
import { type GenerationCounter, generationCounter } from '../log/generation/generations.ts';
import type { LiveTask } from '../log/live-task.ts';
import type { StreamEvent } from '../log/recent-facts.ts';
import { commitIdAt } from '../log/report-lost-facts.ts';
import { type CallContext, type Dependencies, openTask } from './call/call-context.ts';
import { viewOf } from './call/view-for.ts';

/**
 * SubscribeToTask: streams the task as it is, then its updates until it ends. With `Last-Event-ID`, streams only the
 * updates after that event, also for a task that has ended. If the log no longer holds that event, begins with a `task`
 * event, whose id does not follow the one in the request. Spec: §3.1.6.
 */
export const subscribeToTask = (
  request: SubscribeToTaskRequest,
  context: CallContext,
  dependencies: Dependencies,
): EventStream => new EventStream(() => open(request, context, dependencies));

async function open(
  { id }: SubscribeToTaskRequest,
  context: CallContext,
  dependencies: Dependencies,
): Promise<StreamStart> {
  const { tasks } = dependencies;
  const { limits } = dependencies.options;
  const live = await openTask(id, context.scope, dependencies);
  try {
    live.enter(limits.followersPerTask);
  } catch (error) {
    tasks.release(live);
    throw error;
  }
  const leave = () => {
    live.leave();
    tasks.release(live);
  };
  try {
    return await start(live, leave, context, dependencies);
  } catch (error) {
    leave();
    throw error;
  }
}

async function start(
  live: LiveTask,
  leave: () => void,
  context: CallContext,
  dependencies: Dependencies,
): Promise<StreamStart> {
  const { lastEventId, signal, extensions } = context;
  const resuming = lastEventId !== undefined;
  if (!resuming && live.state.closed) {
    throw new A2AError('UNSUPPORTED_OPERATION', `Task ${live.taskId} is finished`, {
      metadata: { taskId: live.taskId },
    });
  }
  await live.subscribe();
  const origin = await live.origin();
  const { version, closed } = live.state;
  const isCounted = extensions.includes(GENERATION);
  const reading = (counter?: GenerationCounter) => ({
    live,
    signal,
    toEvents: (facts: readonly StoredFact[]) => eventsOf(facts, live, origin, counter),
    leave,
  });
  const known = resuming ? positionIn(origin, lastEventId) : undefined;
  if (known && known.version >= 1 && known.version <= version) {
    const { version: after, isOf } = known;
    const commitId =
      live.commitIdAt(after) ?? (await commitIdAt(live.dependencies.store, live.scope, live.taskId, after));
    // No fact follows the one that closed the log.
    if (commitId !== undefined && isOf(commitId)) {
      const { store } = live.dependencies;
      const counter = isCounted ? generationCounter(await generationAt(store, live, after)) : undefined;
      return {
        ...reading(counter),
        events: [],
        isLast: closed && after >= version,
        position: { version: after, commitId },
      };
    }
  }
  const { state } = live;
  const view = await viewOf({ id: live.taskId, version: state.version }, context, dependencies);
  const event = taskEvent(live, state, origin, view, dependencies.options.limits.replyBytes);
  const commitId = live.commitIdAt(state.version);
  const counter = isCounted ? generationCounter(generationOf(state)) : undefined;
  const position = { version: state.version, commitId };
  return { ...reading(counter), events: [event], isLast: state.closed, position };
}

function eventsOf(
  facts: readonly StoredFact[],
  live: LiveTask,
  origin: string,
  counter: GenerationCounter | undefined,
): EventBatch {
  const events: StreamEvent[] = [];
  for (const stored of facts) {
    const plain = eventOf(live, origin, stored);
    const event = counter ? counter(stored, plain) : plain;
    if (event) events.push(event);
    const { fact } = stored;
    if (fact.type === 'status-changed' && isTerminal(fact.status.state)) return { events, isLast: true };
  }
  return { events, isLast: false };
}
