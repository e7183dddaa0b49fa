import type {
  Artifact as TheirArtifact,
  Message as TheirMessage,
  Part as TheirPart,
  Task as TheirTask,
} from '@a2a-js/sdk';
import type { RequestContext, ServerCallContext } from '@a2a-js/sdk/server';
import type { Artifact, Json, Message, Part, Task, TaskState } from '@batonjs/protocol';
import { a2aEnums } from '@batonjs/protocol/proto-messages';
import type { Turn } from '@batonjs/server';

// The official SDK represents objects as protocol buffers: enums are numbers, a `oneof` has a `$case`, and missing
// text is empty. This file uses the SDK's types and none of its code.

const { TaskState: states } = a2aEnums;
const ROLE_USER = 1;
const ROLE_AGENT = 2;

/** The object without members that are undefined, empty text or empty lists: protocol buffers treat them as absent. */
const withoutEmpty = <T extends object>(value: T): T =>
  Object.fromEntries(
    Object.entries(value).filter(
      ([, member]) =>
        member !== undefined && member !== '' && !(Array.isArray(member) && member.length === 0),
    ),
  ) as T;

export const toState = (state: number): TaskState => states[state] ?? 'TASK_STATE_UNSPECIFIED';

/** Converts a part from the executor. Throws `TypeError` for a part without content. */
export function toPart({ content, ...about }: TheirPart): Part {
  const rest = withoutEmpty({
    filename: about.filename,
    mediaType: about.mediaType,
    metadata: about.metadata,
  });
  switch (content?.$case) {
    case 'text':
      return { text: content.value, ...rest };
    case 'url':
      return { url: content.value, ...rest };
    case 'raw':
      return { raw: Buffer.from(content.value).toString('base64'), ...rest };
    case 'data':
      return { data: content.value as Json, ...rest };
    default:
      throw new TypeError('A part has no content');
  }
}

/** Converts a message from the executor. Its role is always the agent's. */
export const toMessage = ({
  messageId,
  parts,
  metadata,
  extensions,
  referenceTaskIds,
}: TheirMessage): Message => ({
  messageId: messageId || crypto.randomUUID(),
  role: 'ROLE_AGENT',
  parts: parts.map(toPart),
  ...withoutEmpty({ metadata, extensions, referenceTaskIds }),
});

/** Converts an artifact from the executor. */
export const toArtifact = ({ artifactId, parts, ...rest }: TheirArtifact): Artifact => ({
  ...withoutEmpty(rest),
  artifactId,
  parts: parts.map(toPart),
});

/** Converts a part for the executor. */
export function theirPart(part: Part): TheirPart {
  const { metadata, filename = '', mediaType = '' } = part;
  const about = { metadata, filename, mediaType };
  if ('text' in part) return { content: { $case: 'text', value: part.text }, ...about };
  if ('url' in part) return { content: { $case: 'url', value: part.url }, ...about };
  if ('raw' in part) return { content: { $case: 'raw', value: Buffer.from(part.raw, 'base64') }, ...about };
  return { content: { $case: 'data', value: part.data }, ...about };
}

/** Converts a message for the executor. */
const theirMessage = ({ role, parts, ...message }: Message): TheirMessage => ({
  ...{ contextId: '', taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [] },
  ...message,
  role: role === 'ROLE_USER' ? ROLE_USER : ROLE_AGENT,
  parts: parts.map(theirPart),
});

const theirArtifact = ({ parts, ...artifact }: Artifact): TheirArtifact => ({
  ...{ name: '', description: '', metadata: undefined, extensions: [] },
  ...artifact,
  parts: parts.map(theirPart),
});

/** Converts a task for the executor. */
const theirTask = ({ status, artifacts = [], history = [], ...task }: Task): TheirTask => ({
  ...{ contextId: '', metadata: undefined },
  ...task,
  status: {
    state: states.indexOf(status.state),
    message: status.message && theirMessage(status.message),
    timestamp: status.timestamp,
  },
  artifacts: artifacts.map(theirArtifact),
  history: history.map(theirMessage),
});

/** The request context that the executor gets for a turn. */
export async function requestContextOf(turn: Turn): Promise<RequestContext> {
  const { taskId, contextId, task, message, metadata, acceptedOutputModes } = turn;
  const userMessage = theirMessage(message);
  const { tasks } = await turn.references();
  const referenceTasks = tasks.map(theirTask);
  return {
    request: {
      tenant: '',
      message: userMessage,
      configuration: {
        acceptedOutputModes: [...acceptedOutputModes],
        taskPushNotificationConfig: undefined,
        returnImmediately: false,
      },
      metadata: { ...metadata },
    },
    taskId,
    contextId,
    context: callContextOf(turn),
    userMessage,
    ...(task && { task: theirTask(task) }),
    ...(referenceTasks.length > 0 && { referenceTasks }),
  };
}

/** The caller in the SDK's shape: a user name, with the claims in `state` under `caller`. */
function callContextOf({ caller, extensions }: Turn): ServerCallContext {
  const activated = new Set<string>();
  const userName = String(caller.userName ?? caller.sub ?? '');
  const context = {
    tenant: undefined,
    user: { isAuthenticated: userName !== '', userName },
    requestedExtensions: [...extensions],
    get activatedExtensions() {
      return activated.size > 0 ? [...activated] : undefined;
    },
    requestedVersion: '1.0',
    state: new Map<string, unknown>([['caller', caller]]),
    addActivatedExtension: (uri: string) => void activated.add(uri),
    setTenant: () => {},
    setRequestedExtensions: () => {},
  };
  // The SDK's class has private members, so only its own code can create one. Executors use its public members only.
  return context as unknown as ServerCallContext;
}
