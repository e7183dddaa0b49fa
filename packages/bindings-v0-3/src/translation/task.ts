import type {
  Artifact,
  Message,
  Task,
  TaskArtifactUpdateEvent,
  TaskState,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { at, type Codec, type Loose, list, object, required, text, type Way } from '../wire/codec.ts';
import type {
  V03Artifact,
  V03ArtifactUpdate,
  V03Message,
  V03StatusUpdate,
  V03Task,
  V03TaskState,
  V03TaskStatus,
} from '../wire/objects.ts';
import { part } from './part.ts';

const parts = list(part);

const roles: ReadonlyMap<unknown, string> = new Map([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
]);

const role: Codec<unknown, unknown> = {
  decode(given, { isLenient }) {
    const plain = isLenient && typeof given === 'string' ? given.toLowerCase().replace(/^role_/, '') : given;
    // An unknown role is not passed on: a role of 1.0 is not valid in 0.3.
    return roles.get(plain) ?? 'ROLE_UNSPECIFIED';
  },
  encode: (given, { isProto }) =>
    isProto ? (given === 'ROLE_USER' ? given : 'ROLE_AGENT') : given === 'ROLE_USER' ? 'user' : 'agent',
};

/** A message. `referenceTaskIds` have no place in protocol buffers. */
export const message = object<V03Message, Message>({
  kind: 'message',
  members: { role, parts },
  spellings: { content: 'parts' },
  write(older, { referenceTaskIds }, { isProto, report }, path) {
    if (!isProto) return older;
    if (referenceTaskIds) report('references', at(path, 'referenceTaskIds'));
    const { parts: content, referenceTaskIds: _, ...rest } = older;
    return { ...rest, content };
  },
});

/** An artifact. */
export const artifact = object<V03Artifact, Artifact>({ members: { parts } });

/** The params of a send, if lenient with a `messageId` that the sender left out. */
export function identified(params: Record<string, unknown>, isLenient: boolean): Record<string, unknown> {
  const { message } = params;
  if (!isLenient || !isObject(message) || text(message.messageId) !== undefined) return params;
  return { ...params, message: { ...message, messageId: crypto.randomUUID() } };
}

const states: Readonly<Record<V03TaskState, TaskState>> = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  canceled: 'TASK_STATE_CANCELED',
  failed: 'TASK_STATE_FAILED',
  rejected: 'TASK_STATE_REJECTED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
  unknown: 'TASK_STATE_UNSPECIFIED',
};
const newerStates: ReadonlyMap<unknown, TaskState> = new Map(Object.entries(states));
const olderStates: ReadonlyMap<unknown, string> = new Map(
  Object.entries(states).map(([older, newer]) => [newer, older]),
);

const ended: ReadonlySet<unknown> = new Set(
  (['completed', 'canceled', 'failed', 'rejected'] as const).map((state) => states[state]),
);

const state: Codec<unknown, unknown> = {
  decode(given, { isLenient, report }, path) {
    const known = newerStates.get(given) ?? (isLenient ? newerStates.get(spelled(given)) : undefined);
    if (!known) report('state-unknown', path);
    return known ?? 'TASK_STATE_UNSPECIFIED';
  },
  encode(given, { isProto, report }, path) {
    const known = olderStates.get(given);
    if (!known) report('state-unknown', path);
    if (!isProto) return known ?? 'unknown';
    return given === 'TASK_STATE_CANCELED'
      ? 'TASK_STATE_CANCELLED'
      : known
        ? given
        : 'TASK_STATE_UNSPECIFIED';
  },
};

const spelled = (state: unknown): unknown =>
  String(state)
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replaceAll('_', '-')
    .replace(/^cancelled$/, 'canceled')
    .replace(/^unspecified$/, 'unknown');

const timestamp: Codec<unknown, unknown> = {
  /** If lenient, in UTC with milliseconds; without a zone, UTC is meant. */
  decode(given, { isLenient }) {
    if (!isLenient || typeof given !== 'string') return given;
    const time = new Date(/[zZ]$|[+-]\d\d:?\d\d$/.test(given) ? given : `${given}Z`);
    return Number.isNaN(time.getTime()) ? given : time.toISOString();
  },
  encode: (time) => time,
};

/** A status. Protocol buffers call its message `update`, which JSON has as `message`. */
export const status = object<V03TaskStatus, TaskStatus>({
  members: { state, message, timestamp },
  spellings: { update: 'message' },
});

/** A task. */
export const task = required(
  object<V03Task, Task>({
    kind: 'task',
    members: { status: required(status), artifacts: list(artifact), history: list(message) },
    write: (older, { id }, way, path) => withContext(older, id, way, path),
  }),
);

/** An event of a new status. 1.0 has no `final`: it ends the stream instead. */
export const statusUpdate = object<V03StatusUpdate, TaskStatusUpdateEvent>({
  kind: 'status-update',
  members: { status: required(status) },
  write: (older, { taskId, status }, way, path) => ({
    ...withContext(older, taskId, way, path),
    final: way.isLast ?? ended.has(status.state),
  }),
});

/** An event of an artifact, or of more parts of one. */
export const artifactUpdate = object<V03ArtifactUpdate, TaskArtifactUpdateEvent>({
  kind: 'artifact-update',
  members: { artifact },
  write: (older, { taskId }, way, path) => withContext(older, taskId, way, path),
});

/** With a `contextId`, which 0.3 requires. */
function withContext(older: Loose, taskId: string, { report }: Way, path: string): Loose {
  if (older.contextId) return older;
  report('context-id', at(path, 'contextId'));
  return { ...older, contextId: taskId };
}
