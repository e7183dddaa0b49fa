import { fromWire, parseAnswer, type SharedJson, toDetails, toHeaders } from '@batonjs/bindings';
import { A2AError, errorTable } from '@batonjs/protocol/errors';
import { A2A_EXTENSIONS } from '@batonjs/protocol/headers';
import { isObject } from '@batonjs/protocol/json';
import { type Id, idIn, type ServiceParams } from './request-frame.ts';

/** The code of errors that the connection has, and not the operation: limits, and credentials that expired. */
export const CONNECTION_ERROR = -32_000;

/** The result of a call, with the URIs of the extensions that are active. */
export const encodeResult = (id: Id, result: unknown, extensions: readonly string[] = []): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    result,
    ...(extensions.length > 0 && { serviceParams: activeExtensions(extensions) }),
  });

/**
 * One event of a stream. `idText` is the id as JSON. `version` is its position, after which SubscribeToTask resumes.
 * Only the first event of a stream has the extensions.
 */
export function encodeEvent(
  idText: string,
  { text }: SharedJson,
  position: string,
  extensions: readonly string[] = [],
): string {
  const active =
    extensions.length > 0 ? `,"serviceParams":${JSON.stringify(activeExtensions(extensions))}` : '';
  return `{"jsonrpc":"2.0","id":${idText},"result":${text},"version":${JSON.stringify(position)}${active}}`;
}

const activeExtensions = (extensions: readonly string[]) => ({
  [A2A_EXTENSIONS.toLowerCase()]: extensions.join(', '),
});

export const encodeEnd = (idText: string): string => `{"jsonrpc":"2.0","id":${idText},"streamEnd":true}`;

/** An error. `id` is null if that of the request could not be read, or belongs to another call. */
export function encodeError(id: Id | null, error: A2AError, code?: number): string {
  const serviceParams = toHeaders(error);
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    error: { code: code ?? errorTable[error.reason].jsonRpc, message: error.message, data: toDetails(error) },
    ...(Object.keys(serviceParams).length > 0 && { serviceParams }),
  });
}

/** Tells a client that its credentials are refused, and that the connection is closed in `retryAfterMs` milliseconds. */
export const encodeReauthentication = (reason: string, retryAfterMs: number): string =>
  JSON.stringify({ jsonrpc: '2.0', control: 'ReauthenticationRequired', reason, retryAfterMs });

/** A frame that a server sent. */
export type AnswerFrame =
  | {
      readonly kind: 'result';
      readonly id: Id;
      readonly result: unknown;
      readonly position?: string | undefined;
    }
  | { readonly kind: 'end'; readonly id: Id }
  | { readonly kind: 'error'; readonly id: Id | undefined; readonly error: A2AError }
  | { readonly kind: 'reauthentication' };

/** Reads a frame of a server. Undefined for one that means nothing here; throws `INVALID_AGENT_RESPONSE`. */
export function readAnswer(text: string): AnswerFrame | undefined {
  const value = parseAnswer(text);
  if (!isObject(value)) throw new A2AError('INVALID_AGENT_RESPONSE');
  const id = idIn(value);
  const { error, result, streamEnd, control, version } = value;
  if (control === 'ReauthenticationRequired') return { kind: 'reauthentication' };
  if (isObject(error)) return { kind: 'error', id, error: readError(error, value.serviceParams) };
  if (id === undefined) return undefined;
  if (streamEnd === true) return { kind: 'end', id };
  if (!('result' in value)) return undefined;
  // Some servers send null for an empty result.
  return {
    kind: 'result',
    id,
    result: result ?? {},
    position: typeof version === 'string' ? version : undefined,
  };
}

function readError(error: Readonly<Record<string, unknown>>, serviceParams: unknown): A2AError {
  const { message, data: details, code } = error;
  const { 'retry-after': retryAfter, 'www-authenticate': challenge } = Object(serviceParams) as ServiceParams;
  const wire = fromWire({
    message,
    details,
    code,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
    // Peers that send no reasons of ours tell the errors of a connection apart by their messages.
    ...(code === CONNECTION_ERROR && { status: statusOf(String(message)) }),
  });
  return typeof challenge === 'string' ? withChallenge(wire, challenge) : wire;
}

function statusOf(message: string): number {
  if (/rate limit|too many/i.test(message)) return 429;
  return /credential|token|expired|authenti/i.test(message) ? 401 : 500;
}

/** The error with the challenge of a refusal. */
export const withChallenge = (
  { reason, message, details, metadata, retryAfter }: A2AError,
  challenge: string,
): A2AError => new A2AError(reason, message, { details, metadata, retryAfter, challenge });
