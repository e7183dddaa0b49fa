import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import { A2AError, type FieldViolation, invalidParams } from '@batonjs/protocol/errors';
import { GENERATION, PREVIEW_VERSION, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import type { Scope } from '@batonjs/store';
import { AddressRefused, notPublic } from '../address-policy/address-policy.ts';
import type { Webhooks } from '../webhooks.ts';

/** How long a host name may take to resolve when it is registered. One that cannot be resolved now may be later. */
const resolveMs = 1_000;
const maxLength = 8_192;
const maxIdLength = 1_024;

/**
 * Throws `INVALID_PARAMS`, naming the wrong fields below `path`, for a webhook that could never be delivered to: its
 * URL the address policy refuses, or whose secrets cannot be sent in a header. Spec: §3.1.7, §13.2.
 */
export async function checkPushConfig(
  config: TaskPushNotificationConfig,
  { policy, sign, peers }: Webhooks,
  path = '',
): Promise<void> {
  // Before it is registered: a process that cannot sign would deliver to it.
  if (sign) await peers?.heard;
  const { id = '', url, token, authentication } = config;
  const texts = {
    url: [url, urlProblem],
    token: [token, textProblem],
    'authentication.scheme': [authentication?.scheme, schemeProblem],
    'authentication.credentials': [authentication?.credentials, textProblem],
    id: [id, idProblem],
  } as const;
  const violations: FieldViolation[] = Object.entries(texts).flatMap(([field, [text, problemOf]]) => {
    const description = text === undefined ? undefined : problemOf(text);
    return description ? [{ field: path + field, description }] : [];
  });
  const refused = violations.some(({ field }) => field === `${path}url`) ? undefined : await refusal();
  if (refused) violations.push({ field: `${path}url`, description: refused });
  if (violations.length > 0) throw invalidParams(violations);

  async function refusal(): Promise<string | undefined> {
    try {
      await policy.destination(url, AbortSignal.timeout(resolveMs));
    } catch (error) {
      if (AddressRefused.is(error)) return error.message === notPublic ? withRemedy(url) : error.message;
    }
    return undefined;
  }
}

/** The developer of the agent reads it, too: a webhook of a first try is on the same machine. */
const withRemedy = (url: string): string =>
  `${notPublic}; the option \`push: { allow: ['${new URL(url).hostname}:*'] }\` of the server accepts this one`;

const tooLong = (text: string, limit = maxLength) =>
  text.length > limit ? `must have at most ${limit} characters` : undefined;

const urlProblem = (text: string) => tooLong(text);

const textProblem = (text: string) =>
  tooLong(text) ?? (/^[\t\x20-\x7e]*$/.test(text) ? undefined : 'must be printable ASCII');

const schemeProblem = (text: string) =>
  tooLong(text) ?? (/^[\w!#$%&'*+.^`|~-]+$/.test(text) ? undefined : 'must be an HTTP authentication scheme');

const idProblem = (text: string) =>
  tooLong(text, maxIdLength) ??
  (text.includes('\0') || !text.isWellFormed() ? 'must be well-formed text' : undefined);

/** Throws `RESOURCE_EXHAUSTED` if the task has its most webhooks already, and none has this id. */
export async function checkConfigLimit(
  scope: Scope,
  taskId: string,
  id: string | undefined,
  { store, options: { configsPerTask } }: Webhooks,
): Promise<void> {
  const known = await store.listPushConfigs(scope, taskId, { limit: configsPerTask });
  if (known.length < configsPerTask || known.some((push) => push.id === id)) return;
  throw tooMany(configsPerTask);
}

/** The error for one webhook too many; also if others were registered since the check. */
export const tooMany = (configsPerTask: number): A2AError =>
  new A2AError('RESOURCE_EXHAUSTED', `A task has at most ${configsPerTask} webhooks`);

/** The version in whose format a webhook gets its events: that of the request, with the extension that it activated. */
export const pushVersion = ({
  version,
  extensions,
}: {
  readonly version: string;
  readonly extensions: readonly string[];
}): string => (version === PROTOCOL_VERSION && extensions.includes(GENERATION) ? PREVIEW_VERSION : version);
