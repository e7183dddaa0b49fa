import type {
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskState,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '@batonjs/protocol';
import type {
  V03ArtifactUpdate,
  V03Event,
  V03StatusUpdate,
  V03Task,
  V03TaskStatus,
} from '../wire/objects.ts';
import type { Say } from './loss.ts';
import { downArtifact, downMessage, upArtifact, upMessage } from './message.ts';
import { at, compact, mapped } from './shape.ts';

const states = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  canceled: 'TASK_STATE_CANCELED',
  failed: 'TASK_STATE_FAILED',
  rejected: 'TASK_STATE_REJECTED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
  unknown: 'TASK_STATE_UNSPECIFIED',
} as const satisfies Record<V03TaskStatus['state'], TaskState>;

const olderStates = Object.fromEntries(
  Object.entries(states).map(([older, state]) => [state, older]),
) as Record<TaskState, V03TaskStatus['state']>;

const ended: ReadonlySet<string> = new Set(['completed', 'canceled', 'failed', 'rejected']);

/** From 0.3. */
export function upStatus({ state, message, ...rest }: V03TaskStatus, say: Say, path: string): TaskStatus {
  const known: TaskState | undefined = Object.hasOwn(states, state) ? states[state] : undefined;
  if (!known) say('state-unknown', at(path, 'state'));
  return compact({
    ...rest,
    state: known ?? 'TASK_STATE_UNSPECIFIED',
    message: message && upMessage(message),
  });
}

/** To 0.3. */
export function downStatus({ state, message, ...rest }: TaskStatus, say: Say, path: string): V03TaskStatus {
  const known = Object.hasOwn(olderStates, state) ? olderStates[state] : undefined;
  if (!known) say('state-unknown', at(path, 'state'));
  return compact({
    ...rest,
    state: known ?? 'unknown',
    message: message && downMessage(message),
  });
}

/** From 0.3. */
export function upTask(
  { kind: _, status, artifacts, history, ...rest }: V03Task,
  say: Say,
  path: string,
): Task {
  return compact({
    ...rest,
    status: upStatus(status, say, at(path, 'status')),
    artifacts: mapped(artifacts, upArtifact),
    history: mapped(history, upMessage),
  });
}

/** To 0.3. */
export function downTask(task: Task, say: Say, path: string): V03Task {
  const { id, contextId, status, artifacts, history, ...rest } = task;
  return compact({
    kind: 'task',
    id,
    contextId: contextOf(contextId, id, say, path),
    ...rest,
    status: downStatus(status, say, at(path, 'status')),
    artifacts: mapped(artifacts, downArtifact),
    history: mapped(history, downMessage),
  });
}

function contextOf(contextId: string | undefined, taskId: string, say: Say, path: string): string {
  if (contextId) return contextId;
  say('context-id', at(path, 'contextId'));
  return taskId;
}

/** From 0.3. That it was the last event is not part of the value. */
export function upStatusUpdate(
  { kind: _, final: __, status, ...rest }: V03StatusUpdate,
  say: Say,
  path: string,
): TaskStatusUpdateEvent {
  return { ...rest, status: upStatus(status, say, at(path, 'status')) };
}

/** To 0.3. Without `isLast`, it is the last event if the task ended. */
export function downStatusUpdate(
  { status, contextId, ...rest }: TaskStatusUpdateEvent,
  say: Say,
  path: string,
  isLast?: boolean,
): V03StatusUpdate {
  const older = downStatus(status, say, at(path, 'status'));
  return {
    kind: 'status-update',
    ...rest,
    contextId: contextOf(contextId, rest.taskId, say, path),
    status: older,
    final: isLast ?? ended.has(older.state),
  };
}

/** From 0.3. */
export const upArtifactUpdate = ({
  kind: _,
  artifact,
  ...rest
}: V03ArtifactUpdate): TaskArtifactUpdateEvent => ({ ...rest, artifact: upArtifact(artifact) });

/** To 0.3. */
export const downArtifactUpdate = (
  { artifact, contextId, ...rest }: TaskArtifactUpdateEvent,
  say: Say,
  path: string,
): V03ArtifactUpdate => ({
  kind: 'artifact-update',
  ...rest,
  contextId: contextOf(contextId, rest.taskId, say, path),
  artifact: downArtifact(artifact),
});

/** From 0.3: the bare object by its `kind`. One that nobody knows becomes an event without members. */
export function upEvent(event: V03Event, say: Say, path: string): StreamResponse {
  switch (event.kind) {
    case 'task':
      return { task: upTask(event, say, path) };
    case 'message':
      return { message: upMessage(event) };
    case 'status-update':
      return { statusUpdate: upStatusUpdate(event, say, path) };
    case 'artifact-update':
      return { artifactUpdate: upArtifactUpdate(event) };
    default:
      return {} as StreamResponse;
  }
}

/** To 0.3. `isLast`: nothing follows in this stream. */
export function downEvent(event: StreamResponse, say: Say, path: string, isLast?: boolean): V03Event {
  if ('task' in event) return downTask(event.task, say, path);
  if ('message' in event) return downMessage(event.message);
  if ('statusUpdate' in event) return downStatusUpdate(event.statusUpdate, say, path, isLast);
  return downArtifactUpdate(event.artifactUpdate, say, path);
}
