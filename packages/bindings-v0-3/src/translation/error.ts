import { fromWire, parseAnswer, toDetails } from '@batonjs/bindings';
import { A2AError, type ErrorDetail, type ErrorReason, errorTable } from '@batonjs/protocol/errors';
import { isObject } from '@batonjs/protocol/json';
import type { V03Error } from '../wire/objects.ts';

/** Type of the detail that keeps the `code` and `data` of an error of 0.3 that 1.0 does not have. */
const FOREIGN = 'type.googleapis.com/batonjs.v0_3.Error';

/**
 * The form of `data`: an `object`, which clients of 0.3 alone read, or the `list` of details that 1.0 has, which SDKs of
 * 1.0 read in 0.3 too. Each refuses the other, and those of 1.0 say their version in a header.
 */
export type ErrorData = 'object' | 'list';

/** The form of `data` that a client reads, by its `A2A-Version`. */
export const errorDataFor = (version: string | undefined): ErrorData =>
  version === undefined ? 'object' : 'list';

/** The `data` that {@link downError} writes as an object. */
interface OwnData {
  readonly reason: ErrorReason;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly details?: readonly ErrorDetail[];
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isReason = (value: unknown): value is ErrorReason => isText(value) && Object.hasOwn(errorTable, value);

const reasons = Object.keys(errorTable).filter(isReason);

const reasonOf = (code: number): ErrorReason | undefined =>
  reasons.find((reason) => errorTable[reason].jsonRpc === code);

/** From 0.3. `known` has what the HTTP reply showed of the error: several reasons may share a code. */
export function upError(
  { code, message, data }: V03Error,
  known: Partial<Pick<A2AError, 'reason' | 'retryAfter'>> = {},
): A2AError {
  const { retryAfter } = known;
  // Of `google.rpc.Status`, the code is a status of HTTP.
  if (isStatus({ code, message, data }))
    return fromWire({ message, details: data, status: code, retryAfter: String(retryAfter ?? '') });
  if (hasInfo(data, code)) {
    const { reason, metadata, details } = fromWire({ message, details: data, code });
    return new A2AError(reason, message, { metadata, details, retryAfter });
  }
  if (isOwnData(data, code)) {
    const { reason, ...rest } = data;
    return new A2AError(reason, message, { ...rest, retryAfter });
  }
  const reason = known.reason ?? reasonOf(code) ?? 'INTERNAL_ERROR';
  if (data === undefined && errorTable[reason].jsonRpc === code)
    return new A2AError(reason, message, { retryAfter });
  const foreign: ErrorDetail = { '@type': FOREIGN, code, ...(data !== undefined && { data }) };
  return new A2AError(reason, message, { details: [foreign], metadata: flat(data), retryAfter });
}

/** To 0.3: the same code, and the rest in `data`. */
export function downError(error: A2AError, form: ErrorData = 'object'): V03Error {
  const { reason, message, metadata, details } = error;
  const foreign = details.find((detail) => detail['@type'] === FOREIGN);
  if (typeof foreign?.code === 'number')
    return { code: foreign.code, message, ...('data' in foreign && { data: foreign.data }) };
  const code = errorTable[reason].jsonRpc;
  if (!metadata && details.length === 0 && reasonOf(code) === reason) return { code, message };
  if (form === 'list') return { code, message, data: toDetails(error) };
  const data: OwnData = { reason, ...(metadata && { metadata }), ...(details.length > 0 && { details }) };
  return { code, message, data };
}

/** Whether an error has the form of `google.rpc.Status`, with a status of HTTP for its code. */
const isStatus = ({ code }: V03Error): boolean => code >= 400 && code <= 599;

const INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

/** Whether the `data` is a list of details that says which error of the code it is. */
const hasInfo = (data: unknown, code: number): data is readonly ErrorDetail[] =>
  Array.isArray(data) &&
  data.every((detail) => isObject(detail) && isText(detail['@type'])) &&
  data.some(
    ({ '@type': type, reason }) => type === INFO && isReason(reason) && errorTable[reason].jsonRpc === code,
  );

/** Whether {@link downError} may have written the `data` as an object. */
function isOwnData(data: unknown, code: number): data is OwnData {
  if (!isObject(data)) return false;
  const { reason, metadata, details, ...others } = data;
  return (
    Object.keys(others).length === 0 &&
    (metadata !== undefined || details !== undefined || reasonOf(code) !== reason) &&
    isReason(reason) &&
    errorTable[reason].jsonRpc === code &&
    (metadata === undefined || (isObject(metadata) && Object.values(metadata).every(isText))) &&
    (details === undefined || (Array.isArray(details) && details.length > 0 && details.every(isOwnDetail)))
  );
}

const isOwnDetail = (detail: unknown) =>
  isObject(detail) && isText(detail['@type']) && detail['@type'] !== FOREIGN;

/** The members of an object as text, for `ErrorInfo.metadata`. */
const flat = (data: unknown): Record<string, string> | undefined =>
  isObject(data)
    ? Object.fromEntries(
        Object.entries(data).map(([name, member]) => [
          name,
          typeof member === 'string' ? member : JSON.stringify(member),
        ]),
      )
    : undefined;

/** The error in a JSON text: the text itself, or its member `error`. Undefined without a code. */
export function errorIn(text: string): V03Error | undefined {
  try {
    const body = Object(parseAnswer(text));
    const {
      code,
      message,
      details,
      data = details,
    } = typeof body?.code === 'number' ? body : (body?.error ?? {});
    if (typeof code !== 'number') return undefined;
    return { code, message: String(message ?? ''), ...(data !== undefined && { data }) };
  } catch {
    return undefined;
  }
}

/** Errors by the names of the specification. SDKs in Python classify by them: `type` on HTTP+JSON, the text of gRPC. */
const named: readonly (readonly [ErrorReason, string])[] = [
  ['TASK_NOT_FOUND', 'TaskNotFoundError'],
  ['TASK_NOT_CANCELABLE', 'TaskNotCancelableError'],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', 'PushNotificationNotSupportedError'],
  ['UNSUPPORTED_OPERATION', 'UnsupportedOperationError'],
  ['CONTENT_TYPE_NOT_SUPPORTED', 'ContentTypeNotSupportedError'],
  ['INVALID_AGENT_RESPONSE', 'InvalidAgentResponseError'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'ExtendedAgentCardNotConfiguredError'],
  ['EXTENSION_SUPPORT_REQUIRED', 'ExtensionSupportRequiredError'],
  ['VERSION_NOT_SUPPORTED', 'VersionNotSupportedError'],
  ['PARSE_ERROR', 'JSONParseError'],
  ['INVALID_REQUEST', 'InvalidRequestError'],
  ['METHOD_NOT_FOUND', 'MethodNotFoundError'],
  ['INVALID_PARAMS', 'InvalidParamsError'],
  ['INTERNAL_ERROR', 'InternalError'],
];
const names = new Map(named);

const reasonsByName = new Map<unknown, ErrorReason>([
  ...named.map(([reason, name]) => [name, reason] as const),
  // As 0.3 calls it.
  ['AuthenticatedExtendedCardNotConfiguredError', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
]);

/** The name of an error. An error that the specification does not have is called as the one with its code. */
export function nameOf(reason: ErrorReason): string {
  const code = errorTable[reason].jsonRpc;
  const alike = named.find(([candidate]) => errorTable[candidate].jsonRpc === code);
  return names.get(reason) ?? alike?.[1] ?? 'InternalError';
}

/** The error of a name; undefined for text that is none. */
export const reasonNamed = (name: unknown): ErrorReason | undefined => reasonsByName.get(name);
