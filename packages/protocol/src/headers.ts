/** The version of the protocol that this package describes. */
export const PROTOCOL_VERSION = '1.0';

/** The version of a request that has no {@link A2A_VERSION}. Spec: §3.6.2. */
export const IMPLIED_VERSION = '0.3';

/** The version of the protocol that is spoken where it is asked for, before it is released. */
export const PREVIEW_VERSION = '1.1';

/** Header that names the protocol version of a request. Spec: §3.6.1. */
export const A2A_VERSION = 'A2A-Version';

/** Header that lists URIs of extensions: requested ones in a request, active ones in a response. Spec: §3.2.6. */
export const A2A_EXTENSIONS = 'A2A-Extensions';

/** Name of {@link A2A_EXTENSIONS} in version 0.3. */
export const LEGACY_EXTENSIONS = 'X-A2A-Extensions';

/** URI of the extension of an agent that receives a message once, however often a client sends it. */
export const IDEMPOTENCY = 'https://batonjs.dev/extensions/idempotency/v1';

/** URI of the extension of an agent that lets clients say when a message is to be worked on. */
export const SCHEDULING = 'https://batonjs.dev/extensions/scheduling/v1';

/** URI of the extension of an agent whose tasks show the changes of their state. */
export const STATE_HISTORY = 'https://batonjs.dev/extensions/state-history/v1';

/**
 * URI of the extension of an agent whose tasks and events carry a `generation`, and whose tasks show a `timeline`, as A2A 1.1
 * plans them. Requests may then name `currentGeneration`, `ifGenerationMatch` and `timelineLength`.
 */
export const GENERATION = 'https://batonjs.dev/extensions/generation/v2';

/** URI of the extension that shows which task started a task, and which tasks it started. */
export const TASK_TREE = 'https://batonjs.dev/extensions/task-tree/v1';

/** URI of the extension of an agent whose tasks show what they, and the tasks that they started, used. */
export const USAGE = 'https://batonjs.dev/extensions/usage/v1';

/**
 * URI of the extension of an agent whose tasks show their labels. ListTasks may then name `labels`, a `skill` and the
 * `code` of a failure.
 */
export const LABELS = 'https://batonjs.dev/extensions/labels/v1';

/**
 * URI of the extension of an agent that keeps files apart from tasks. Its `params` say where files are uploaded (`url`) and
 * how large one may be (`maxBytes`). A part whose file it keeps has `{ size, sha256 }` under this name in its `metadata`.
 */
export const FILES = 'https://batonjs.dev/extensions/files/v1';

/** Header that carries `TaskPushNotificationConfig.token` to a webhook. */
export const NOTIFICATION_TOKEN = 'X-A2A-Notification-Token';

/** {@link NOTIFICATION_TOKEN} as agents on the official Go SDK name it. The specification names none. */
export const BARE_NOTIFICATION_TOKEN = 'A2A-Notification-Token';

/** Header that identifies one delivery to a webhook. It is the same in every attempt, so that receivers can skip a repeated one. */
export const DELIVERY_ID = 'Webhook-Id';

/** Media type of HTTP+JSON bodies and of webhooks. Spec: §11.1. */
export const A2A_JSON = 'application/a2a+json';

/** Media type of JSON-RPC bodies and of agent cards. */
export const JSON_TYPE = 'application/json';

/** The media type in a header `Content-Type`, in lower case and without parameters; empty if there is none. */
export const mediaTypeOf = (contentType: string | null | undefined): string =>
  (contentType ?? '').split(';', 1).join().trim().toLowerCase();

/** Whether a media type is JSON, such as `application/json` or `application/problem+json`. */
export const isJsonType = (type: string): boolean => /^application\/(.+\+)?json$/.test(type);

/** Media type of streams. */
export const EVENT_STREAM = 'text/event-stream';

/** Path of the public agent card below an origin or an agent's base path. Spec: §8.2. */
export const AGENT_CARD_PATH = '/.well-known/agent-card.json';

/**
 * `Major.Minor` of a version: `1.0.1` → `1.0`. Returns undefined for missing or empty text, which means
 * {@link IMPLIED_VERSION}. Returns text that is not a version unchanged, so that an error can quote it. Spec: §3.6.
 */
export function parseVersion(text: string | null | undefined): string | undefined {
  const version = text?.trim();
  if (!version) return undefined;
  return /^(\d+\.\d+)(?:\.\d+)?$/.exec(version)?.[1] ?? version;
}

/** The order of two versions: negative if the first is older. Text that is no version is older than all that are. */
export function compareVersions(one: string, other: string): number {
  const numbers = (version: string) => (/^\d+\.\d+/.test(version) ? version.split('.').map(Number) : [-1, 0]);
  const [major = 0, minor = 0] = numbers(one);
  const [otherMajor = 0, otherMinor = 0] = numbers(other);
  return major - otherMajor || minor - otherMinor;
}

/** The URIs in one or several comma-separated header values, in order, each once. Spec: §3.2.6. */
export function parseExtensions(...values: readonly (string | null | undefined)[]): string[] {
  const uris = values.flatMap((value) => value?.split(',') ?? []).map((uri) => uri.trim());
  return [...new Set(uris)].filter((uri) => uri !== '');
}

/**
 * Whether a host without its port is this machine: `localhost` or a name below it, an address of 127.0.0.0/8 or `::1`, in
 * brackets or not.
 */
export const isLoopback = (host: string): boolean =>
  /^((.+\.)?localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);

/** One challenge of a `WWW-Authenticate` header: a scheme with its parameters. */
export function challenge(scheme: string, parameters: Readonly<Record<string, string>>): string {
  const list = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`);
  return `${scheme} ${list.join(', ')}`;
}

/** Other characters than printable ASCII would break the header, or let a client inject another one. */
const quotable = (value: string): string =>
  value.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, (character) => `\\${character}`);
