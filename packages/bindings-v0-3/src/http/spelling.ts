import type { Part } from '@batonjs/protocol';
import { downPart } from '../translation/part.ts';
import { compact, isObject } from '../wire/shape.ts';

// Turns the spellings that peers of 0.3 use into that of the specification. `kind` may be `type` or be missing, files have
// had several member names, and HTTP+JSON carries the JSON of the protocol buffers (`content`, `ROLE_USER`,
// `TASK_STATE_CANCELLED`, wrapped events). Nothing here throws. Unreadable values stay as they are.

type Loose = Readonly<Record<string, unknown>>;

const each = (list: unknown, spell: (element: unknown) => unknown): unknown =>
  Array.isArray(list) ? list.map(spell) : (list ?? undefined);

/** Null stands for an empty list. */
const emptyIfNull = (list: unknown): unknown => (list === null ? [] : undefined);

const text = (...candidates: unknown[]): unknown =>
  candidates.find((candidate) => typeof candidate === 'string' && candidate !== '') ??
  candidates.find((candidate) => typeof candidate === 'string');

/** The object without members that are null or undefined, by their names in JSON: `task_id` is `taskId`. */
function present(value: Loose): Loose {
  const members: Record<string, unknown> = {};
  for (const [given, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue;
    const name = given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    // Of two spellings of a member, that of JSON counts.
    if (name === given || (value[name] ?? undefined) === undefined) members[name] = member;
  }
  return members;
}

/** A part. */
function spellPart(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { kind, type, ...part } = present(given) as Record<string, unknown>;
  const named = text(kind, type);
  if (named === undefined) {
    const isNewer = ['raw', 'url', 'mediaType', 'filename'].some((name) => name in part);
    if (isNewer) return downPart(part as unknown as Part);
    const found = ['text', 'file', 'data'].find((name) => name in part);
    if (found === undefined) return part;
    if (found === 'data') return { kind: 'data', ...part, data: unnested(part.data) };
    return spellPart({ ...part, kind: found });
  }
  if (named !== 'file' || !isObject(part.file)) return { ...part, kind: named };
  const { name, filename, mimeType, mediaType, ...file } = present(part.file);
  const bytes = text(file.bytes, file.fileWithBytes, file.data);
  const uri = text(file.uri, file.fileWithUri, file.url);
  const about = { name: text(name, filename), mimeType: text(mimeType, mediaType) };
  return {
    ...part,
    kind: 'file',
    file: compact({ ...(bytes === undefined ? { uri } : { bytes }), ...about }),
  };
}

/** Protocol buffers wrap the object of a data part once more. */
const unnested = (data: unknown): unknown =>
  isObject(data) && Object.keys(data).length === 1 && isObject(data.data) ? data.data : data;

/** A message. */
function spellMessage(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { kind: _, parts, content, role, ...rest } = present(given);
  const isRole = typeof role === 'string';
  return compact({
    kind: 'message',
    ...rest,
    role: isRole ? role.toLowerCase().replace(/^role_/, '') : role,
    parts: each(parts ?? content, spellPart) ?? emptyIfNull(given.parts),
  });
}

/** A message to an agent. Without a `messageId` it gets one. */
function spellSent(given: unknown): unknown {
  const message = spellMessage(given);
  return isObject(message) && text(message.messageId) === undefined
    ? { ...message, messageId: crypto.randomUUID() }
    : message;
}

const spellState = (state: unknown): unknown =>
  typeof state === 'string'
    ? state
        .toLowerCase()
        .replace(/^task_state_/, '')
        .replaceAll('_', '-')
        .replace(/^cancelled$/, 'canceled')
        .replace(/^unspecified$/, 'unknown')
    : state;

/** In UTC with milliseconds; without a zone, UTC is meant. */
function spellTime(time: unknown): unknown {
  if (typeof time !== 'string') return time;
  const at = new Date(/[zZ]$|[+-]\d\d:?\d\d$/.test(time) ? time : `${time}Z`);
  return Number.isNaN(at.getTime()) ? time : at.toISOString();
}

function spellStatus(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { state, message, update, timestamp, ...rest } = present(given);
  return compact({
    ...rest,
    state: spellState(state),
    message: spellMessage(message ?? update) ?? undefined,
    timestamp: spellTime(timestamp),
  });
}

const spellArtifact = (given: unknown): unknown => {
  if (!isObject(given)) return given;
  const artifact = present(given);
  return { ...artifact, parts: each(artifact.parts, spellPart) ?? emptyIfNull(given.parts) };
};

/** A task. */
export function spellTask(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { kind: _, status, artifacts, history, ...rest } = present(given);
  return compact({
    kind: 'task',
    ...rest,
    status: spellStatus(status),
    artifacts: each(artifacts, spellArtifact),
    history: each(history, spellMessage),
  });
}

/** One event of a stream, the body of a webhook, or the answer to a message: an object with its `kind`. */
export function spellEvent(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { task, message, msg, statusUpdate, artifactUpdate, kind, type, ...bare } = present(given);
  const named = text(kind, type);
  if (named === undefined) {
    if (isObject(task)) return spellTask(task);
    if (isObject(message ?? msg)) return spellMessage(message ?? msg);
    if (isObject(statusUpdate)) return spellStatusUpdate(statusUpdate);
    if (isObject(artifactUpdate)) return spellArtifactUpdate(artifactUpdate);
  }
  if (named === 'status-update' || (named === undefined && bare.taskId && bare.status))
    return spellStatusUpdate(bare);
  if (named === 'artifact-update' || (named === undefined && bare.artifact)) return spellArtifactUpdate(bare);
  if (named === 'task' || (named === undefined && bare.status)) return spellTask(bare);
  if (named === 'message' || (named === undefined && (bare.parts ?? bare.content))) return spellMessage(bare);
  return given;
}

const spellStatusUpdate = (event: Loose): unknown => ({
  ...present(event),
  kind: 'status-update',
  status: spellStatus(event.status),
  final: event.final === true,
});

const spellArtifactUpdate = (event: Loose): unknown => ({
  ...present(event),
  kind: 'artifact-update',
  artifact: spellArtifact(event.artifact),
});

/** A webhook with its task: nested (JSON-RPC), by resource name (protocol buffers), or in a `config`. */
export function spellTaskPushConfig(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { name, parent = name, configId, taskId, pushNotificationConfig, config, ...flat } = present(given);
  if (isObject(config)) return spellTaskPushConfig({ name: parent, configId, taskId, ...config });
  const [, inName, id] = /^tasks\/([^/]+)(?:\/pushNotificationConfigs\/(.+))?$/.exec(String(name)) ?? [];
  const webhook = isObject(pushNotificationConfig) ? present(pushNotificationConfig) : flat;
  return compact({
    taskId: text(taskId, inName),
    pushNotificationConfig: compact({ ...webhook, id: text(webhook.id, id, configId) }),
  });
}

/** The params of a send. If lenient, a message without `messageId` gets one. */
export function spellSendParams(given: unknown, { isLenient }: { isLenient: boolean }): unknown {
  if (!isObject(given)) return given;
  const { message, request, configuration, ...rest } = present(given);
  return compact({
    ...rest,
    message: (isLenient ? spellSent : spellMessage)(message ?? request),
    configuration: isObject(configuration) ? spellConfiguration(configuration) : configuration,
  });
}

function spellConfiguration(given: Loose): unknown {
  const { pushNotification, pushNotificationConfig: webhook = pushNotification, ...rest } = present(given);
  return compact({ ...rest, pushNotificationConfig: isObject(webhook) ? present(webhook) : webhook });
}
