import { isTerminal, toStreamResponse, viewTask } from '@batonjs/lifecycle';
import type { SubscribeToTaskRequest } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { isStoreError } from '@batonjs/store';
import type { CallContext } from './call-context.ts';
import { followTask } from './follow-task.ts';
import type { LiveTask } from './live-task.ts';
import type { ServiceSettings } from './service-settings.ts';
import { idOf, positionIn, type StreamEvent } from './stream-event.ts';

/**
 * SubscribeToTask: the task as it is, then what happens to it until it ends. With `Last-Event-ID`, only what came after
 * that event, also of a task that has ended; if that cannot be told any more, one `task` event under an id that does not
 * follow the one that was asked for. Spec: §3.1.6.
 */
export async function* subscribeToTask(
  { id }: SubscribeToTaskRequest,
  context: CallContext,
  settings: ServiceSettings,
): AsyncGenerator<StreamEvent> {
  const live = await settings.tasks.open(context.scope, id);
  if (!live) throw new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: id } });
  try {
    if (!live.state.task) throw new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: id } });
    live.enter(settings.limits.followersPerTask);
    try {
      yield* events(live, context, settings);
    } finally {
      live.leave();
    }
  } finally {
    settings.tasks.release(live);
  }
}

async function* events(
  live: LiveTask,
  { lastEventId, signal }: CallContext,
  { currentStatusInHistory }: ServiceSettings,
): AsyncGenerator<StreamEvent> {
  const resuming = lastEventId !== undefined;
  if (!resuming && live.state.closed) {
    throw new A2AError('UNSUPPORTED_OPERATION', `Task ${live.taskId} is finished`, {
      metadata: { taskId: live.taskId },
    });
  }
  await live.watch();
  const origin = await live.origin();
  const { state } = live;
  const task = { id: live.taskId, contextId: state.contextId };
  const snapshot = (): StreamEvent => ({
    id: idOf(origin, state.version),
    event: { task: viewTask(state, { currentStatusInHistory }) },
  });
  let after = resuming ? positionIn(origin, lastEventId) : undefined;
  if (after === undefined || after > state.version || !(await isKept(live, after))) {
    yield snapshot();
    after = state.version;
    if (state.closed) return;
  }
  // After the closing fact there is nothing to wait for.
  if (state.closed && after >= state.version) return;
  for await (const { version, fact } of followTask(live, after, signal)) {
    const event = toStreamResponse(task, fact);
    const isLast = fact.type === 'status-changed' && isTerminal(fact.status.state);
    if (event) yield { id: idOf(origin, version), event, isLast };
    if (isLast) return;
  }
}

/** Whether the log still has what came after a position. */
async function isKept(live: LiveTask, after: number): Promise<boolean> {
  try {
    await live.settings.store.readFacts(live.scope, live.taskId, after, 1);
    return true;
  } catch (error) {
    if (isStoreError(error, 'LOG_GAP')) return false;
    throw error;
  }
}
