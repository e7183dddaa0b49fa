/** The version of the protocol whose wire JSON this package describes. */
export const PROTOCOL_VERSION = '1.0';

/** The version that a request without {@link A2A_VERSION} asks for. Spec: §3.6.2. */
export const IMPLIED_VERSION = '0.3';

/** Header that names the protocol version of a request. Spec: §3.6.1. */
export const A2A_VERSION = 'A2A-Version';

/** Header that lists extension URIs: asked for in a request, activated in a response. Spec: §3.2.6. */
export const A2A_EXTENSIONS = 'A2A-Extensions';

/** Name of {@link A2A_EXTENSIONS} in version 0.3. */
export const LEGACY_EXTENSIONS = 'X-A2A-Extensions';

/** URI of the extension by which an agent says that a message sent twice is received once. */
export const IDEMPOTENCY = 'https://batonjs.dev/extensions/idempotency/v1';

/** Header that carries `TaskPushNotificationConfig.token` to a webhook. */
export const NOTIFICATION_TOKEN = 'X-A2A-Notification-Token';

/** {@link NOTIFICATION_TOKEN} as agents on the official Go SDK name it. The specification names none. */
export const BARE_NOTIFICATION_TOKEN = 'A2A-Notification-Token';

/** Header that names one delivery to a webhook, the same in every attempt, so that receivers notice a repeated one. */
export const DELIVERY_ID = 'Webhook-Id';

/** Media type of HTTP+JSON bodies and of webhooks. Spec: §11.1. */
export const A2A_JSON = 'application/a2a+json';

/** Media type of JSON-RPC bodies and of agent cards. */
export const JSON_TYPE = 'application/json';

/** Media type of streams. */
export const EVENT_STREAM = 'text/event-stream';

/** Path of the public agent card below an origin or an agent's base path. Spec: §8.2. */
export const AGENT_CARD_PATH = '/.well-known/agent-card.json';

/**
 * `Major.Minor` of a version: `1.0.1` → `1.0`. `undefined` when the text is missing or empty, which means
 * {@link IMPLIED_VERSION}; text that is no version is returned as it is, so that it can be refused by name. Spec: §3.6.
 */
export function parseVersion(text: string | null | undefined): string | undefined {
  const version = text?.trim();
  if (!version) return undefined;
  return /^(\d+\.\d+)(?:\.\d+)?$/.exec(version)?.[1] ?? version;
}

/** The distinct members of one or several comma-separated header values, trimmed, in order. Spec: §3.2.6. */
export function parseExtensions(...values: readonly (string | null | undefined)[]): string[] {
  const uris = values.flatMap((value) => value?.split(',') ?? []).map((uri) => uri.trim());
  return [...new Set(uris)].filter((uri) => uri !== '');
}

/** One challenge of a `WWW-Authenticate` header: a scheme with its parameters. */
export function challenge(scheme: string, parameters: Readonly<Record<string, string>>): string {
  const list = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`);
  return `${scheme} ${list.join(', ')}`;
}

/** Anything but printable ASCII would break the header, or let a name write headers of its own. */
const quotable = (value: string): string =>
  value.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, (character) => `\\${character}`);
