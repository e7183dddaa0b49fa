import type {
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskState,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '@batonjs/protocol';
import type { ReportLoss } from '../wire/loss.ts';
import type {
  V03ArtifactUpdate,
  V03Event,
  V03StatusUpdate,
  V03Task,
  V03TaskStatus,
} from '../wire/objects.ts';
import { at, compact, mapped } from '../wire/shape.ts';
import { downArtifact, downMessage, upArtifact, upMessage } from './message.ts';

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
export function upStatus(
  { state, message, ...rest }: V03TaskStatus,
  report: ReportLoss,
  path: string,
): TaskStatus {
  const known: TaskState | undefined = Object.hasOwn(states, state) ? states[state] : undefined;
  if (!known) report('state-unknown', at(path, 'state'));
  return compact({
    ...rest,
    state: known ?? 'TASK_STATE_UNSPECIFIED',
    message: message && upMessage(message),
  });
}

/** To 0.3. */
export function downStatus(
  { state, message, ...rest }: TaskStatus,
  report: ReportLoss,
  path: string,
): V03TaskStatus {
  const known = Object.hasOwn(olderStates, state) ? olderStates[state] : undefined;
  if (!known) report('state-unknown', at(path, 'state'));
  return compact({
    ...rest,
    state: known ?? 'unknown',
    message: message && downMessage(message),
  });
}

/** From 0.3. */
export function upTask(
  { kind: _, status, artifacts, history, ...rest }: V03Task,
  report: ReportLoss,
  path: string,
): Task {
  return compact({
    ...rest,
    status: upStatus(status, report, at(path, 'status')),
    artifacts: mapped(artifacts, upArtifact),
    history: mapped(history, upMessage),
  });
}

/** To 0.3. */
export function downTask(task: Task, report: ReportLoss, path: string): V03Task {
  const { id, contextId, status, artifacts, history, ...rest } = task;
  return compact({
    kind: 'task',
    id,
    contextId: contextOf(contextId, id, report, path),
    ...rest,
    status: downStatus(status, report, at(path, 'status')),
    artifacts: mapped(artifacts, downArtifact),
    history: mapped(history, downMessage),
  });
}

function contextOf(contextId: string | undefined, taskId: string, report: ReportLoss, path: string): string {
  if (contextId) return contextId;
  report('context-id', at(path, 'contextId'));
  return taskId;
}

/** From 0.3, without `final`: 1.0 ends the stream instead. */
export function upStatusUpdate(
  { kind: _, final: __, status, ...rest }: V03StatusUpdate,
  report: ReportLoss,
  path: string,
): TaskStatusUpdateEvent {
  return { ...rest, status: upStatus(status, report, at(path, 'status')) };
}

/** To 0.3. Without `isLast`, it is the last event if the task ended. */
export function downStatusUpdate(
  { status, contextId, ...rest }: TaskStatusUpdateEvent,
  report: ReportLoss,
  path: string,
  isLast?: boolean,
): V03StatusUpdate {
  const older = downStatus(status, report, at(path, 'status'));
  return {
    kind: 'status-update',
    ...rest,
    contextId: contextOf(contextId, rest.taskId, report, path),
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
  report: ReportLoss,
  path: string,
): V03ArtifactUpdate => ({
  kind: 'artifact-update',
  ...rest,
  contextId: contextOf(contextId, rest.taskId, report, path),
  artifact: downArtifact(artifact),
});

/** From 0.3, by its `kind`. An event of an unknown kind becomes one without members. */
export function upEvent(event: V03Event, report: ReportLoss, path: string): StreamResponse {
  switch (event.kind) {
    case 'task':
      return { task: upTask(event, report, path) };
    case 'message':
      return { message: upMessage(event) };
    case 'status-update':
      return { statusUpdate: upStatusUpdate(event, report, path) };
    case 'artifact-update':
      return { artifactUpdate: upArtifactUpdate(event) };
    default:
      return {} as StreamResponse;
  }
}

/** To 0.3. `isLast`: nothing follows in this stream. */
export function downEvent(
  event: StreamResponse,
  report: ReportLoss,
  path: string,
  isLast?: boolean,
): V03Event {
  if ('task' in event) return downTask(event.task, report, path);
  if ('message' in event) return downMessage(event.message);
  if ('statusUpdate' in event) return downStatusUpdate(event.statusUpdate, report, path, isLast);
  return downArtifactUpdate(event.artifactUpdate, report, path);
}
