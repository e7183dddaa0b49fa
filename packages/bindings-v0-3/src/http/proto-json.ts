import type { ReportLoss } from '../wire/loss.ts';
import type {
  V03Artifact,
  V03Event,
  V03Message,
  V03Part,
  V03SendParams,
  V03Task,
  V03TaskPushConfig,
  V03TaskState,
  V03TaskStatus,
} from '../wire/objects.ts';
import { at, compact, mapped } from '../wire/shape.ts';

// Writes the JSON of the protocol buffers of 0.3, which HTTP+JSON carries in practice. `spelling.ts` reads it.

function protoPart(part: V03Part): object {
  const { metadata } = part;
  if (part.kind === 'text') return compact({ text: part.text, metadata });
  if (part.kind === 'data') return compact({ data: { data: part.data }, metadata });
  const { name, mimeType, ...file } = part.file;
  const content = 'bytes' in file ? { fileWithBytes: file.bytes } : { fileWithUri: file.uri };
  return compact({ file: compact({ ...content, mimeType, name }), metadata });
}

/** A message. `referenceTaskIds` have no place in it. */
export function protoMessage(message: V03Message, report: ReportLoss, path: string): object {
  const { kind: _, role, parts, referenceTaskIds, ...rest } = message;
  if (referenceTaskIds) report('references', at(path, 'referenceTaskIds'));
  return { ...rest, role: role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT', content: mapped(parts, protoPart) };
}

const protoState = (state: V03TaskState): string =>
  state === 'canceled'
    ? 'TASK_STATE_CANCELLED'
    : state === 'unknown'
      ? 'TASK_STATE_UNSPECIFIED'
      : `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`;

const protoStatus = ({ state, message, ...rest }: V03TaskStatus, report: ReportLoss, path: string): object =>
  compact({
    ...rest,
    state: protoState(state),
    message: message && protoMessage(message, report, at(path, 'message')),
  });

const protoArtifact = (artifact: V03Artifact): object => ({
  ...artifact,
  parts: mapped(artifact.parts, protoPart),
});

/** A task. */
export function protoTask(
  { kind: _, status, artifacts, history, ...rest }: V03Task,
  report: ReportLoss,
  path: string,
) {
  return compact({
    ...rest,
    status: protoStatus(status, report, at(path, 'status')),
    artifacts: mapped(artifacts, protoArtifact),
    history: mapped(history, (message, n) => protoMessage(message, report, at(at(path, 'history'), n))),
  });
}

/** An event, or the answer to a message, in the member that names its kind. */
export function protoEvent(event: V03Event, report: ReportLoss): object {
  switch (event.kind) {
    case 'task':
      return { task: protoTask(event, report, 'task') };
    case 'message':
      return { message: protoMessage(event, report, 'message') };
    case 'status-update': {
      const { kind: _, status, ...rest } = event;
      return { statusUpdate: { ...rest, status: protoStatus(status, report, 'statusUpdate.status') } };
    }
    default: {
      const { kind: _, artifact, ...rest } = event;
      return { artifactUpdate: { ...rest, artifact: protoArtifact(artifact) } };
    }
  }
}

/** The params of a send. `blocking` is always there: without it, it would be false. */
export function protoSendParams(
  { message, configuration, ...rest }: V03SendParams,
  report: ReportLoss,
): object {
  const { pushNotificationConfig: pushNotification, blocking = true, ...others } = configuration ?? {};
  return compact({
    ...rest,
    message: protoMessage(message, report, 'message'),
    configuration: compact({ ...others, blocking, pushNotification }),
  });
}

/** A webhook, with its task in a resource name. */
export const protoTaskPushConfig = ({ taskId, pushNotificationConfig }: V03TaskPushConfig): object => ({
  name: `tasks/${taskId}/pushNotificationConfigs/${pushNotificationConfig.id ?? ''}`,
  pushNotificationConfig,
});
