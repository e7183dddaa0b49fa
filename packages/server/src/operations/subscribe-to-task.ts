import { isTerminal } from '@batonjs/lifecycle';
import type { SubscribeToTaskRequest } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { StoredFact } from '@batonjs/store';
import { commitIdAt } from '../log/commit-id-at.ts';
import { type Beginning, EventStream, type Reader, type Told } from '../log/event-stream.ts';
import type { LiveTask } from '../log/live-task.ts';
import { eventOf, positionIn, type StreamEvent, taskEvent } from '../log/stream-event.ts';
import type { CallContext } from './call/call-context.ts';
import type { ServiceSettings } from './call/dependencies.ts';

/**
 * SubscribeToTask: the task as it is, then what happens to it until it ends. With `Last-Event-ID`, only what came after
 * that event, also of a task that has ended; if that cannot be told any more, one `task` event under an id that does not
 * follow the one that was asked for. Spec: §3.1.6.
 */
export const subscribeToTask = (
  request: SubscribeToTaskRequest,
  context: CallContext,
  settings: ServiceSettings,
): EventStream => new EventStream(() => open(request, context, settings));

async function open(
  { id }: SubscribeToTaskRequest,
  context: CallContext,
  settings: ServiceSettings,
): Promise<Beginning> {
  const { tasks, limits } = settings;
  const live = await tasks.open(context.scope, id);
  if (!live) throw new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: id } });
  try {
    if (!live.state.task) throw new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: id } });
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
    return await begin(live, leave, context, settings);
  } catch (error) {
    leave();
    throw error;
  }
}

async function begin(
  live: LiveTask,
  leave: () => void,
  { lastEventId, signal }: CallContext,
  { currentStatusInHistory, limits }: ServiceSettings,
): Promise<Beginning> {
  const resuming = lastEventId !== undefined;
  if (!resuming && live.state.closed) {
    throw new A2AError('UNSUPPORTED_OPERATION', `Task ${live.taskId} is finished`, {
      metadata: { taskId: live.taskId },
    });
  }
  await live.subscribe();
  const origin = await live.origin();
  const { version, closed } = live.state;
  const reader: Reader = { live, signal, tell: (facts) => tell(facts, live, origin), leave };
  const position = resuming ? positionIn(origin, lastEventId) : undefined;
  if (position && position.version >= 1 && position.version <= version) {
    const { version: after, isOf } = position;
    const lastCommitId =
      live.commitIdAt(after) ?? (await commitIdAt(live.settings.store, live.scope, live.taskId, after));
    // After the closing fact there is nothing to wait for.
    if (lastCommitId !== undefined && isOf(lastCommitId))
      return { reader, events: [], isOver: closed && after >= version, after, lastCommitId };
  }
  const { state } = live;
  const event = taskEvent(live, state, origin, { currentStatusInHistory }, limits.replyBytes);
  const lastCommitId = live.commitIdAt(state.version);
  return { reader, events: [event], isOver: state.closed, after: state.version, lastCommitId };
}

function tell(facts: readonly StoredFact[], live: LiveTask, origin: string): Told {
  const events: StreamEvent[] = [];
  for (const stored of facts) {
    const event = eventOf(live, origin, stored);
    if (event) events.push(event);
    const { fact } = stored;
    if (fact.type === 'status-changed' && isTerminal(fact.status.state)) return { events, isOver: true };
  }
  return { events, isOver: false };
}
