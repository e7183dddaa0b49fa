import { A2AError, type ErrorDetail, type ErrorReason, errorTable } from '@batonjs/protocol/errors';
import type { V03Error } from '../wire/objects.ts';
import { isObject } from '../wire/shape.ts';

/** Type of the detail that keeps the `code` and `data` of an error of 0.3 that 1.0 does not have. */
const FOREIGN = 'type.googleapis.com/batonjs.v0_3.Error';

/** The `data` that {@link downError} writes. */
interface OwnData {
  readonly reason: ErrorReason;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly details?: readonly ErrorDetail[];
}

const reasons = Object.keys(errorTable) as ErrorReason[];

const reasonOf = (code: number): ErrorReason | undefined =>
  reasons.find((reason) => errorTable[reason].jsonRpc === code);

/** From 0.3. `known` has what the HTTP reply showed of the error: several reasons may share a code. */
export function upError(
  { code, message, data }: V03Error,
  known: Partial<Pick<A2AError, 'reason' | 'retryAfter'>> = {},
): A2AError {
  const { retryAfter } = known;
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
export function downError({ reason, message, metadata, details }: A2AError): V03Error {
  const foreign = details.find((detail) => detail['@type'] === FOREIGN);
  if (typeof foreign?.code === 'number') {
    return { code: foreign.code, message, ...('data' in foreign && { data: foreign.data }) };
  }
  const code = errorTable[reason].jsonRpc;
  if (!metadata && details.length === 0 && reasonOf(code) === reason) return { code, message };
  const data: OwnData = {
    reason,
    ...(metadata && { metadata }),
    ...(details.length > 0 && { details }),
  };
  return { code, message, data };
}

/** Whether {@link downError} may have written the `data`. */
function isOwnData(data: unknown, code: number): data is OwnData {
  if (!isObject(data)) return false;
  const { reason, metadata, details, ...others } = data;
  return (
    Object.keys(others).length === 0 &&
    (metadata !== undefined || details !== undefined || reasonOf(code) !== reason) &&
    typeof reason === 'string' &&
    Object.hasOwn(errorTable, reason) &&
    errorTable[reason as ErrorReason].jsonRpc === code &&
    (metadata === undefined || (isObject(metadata) && Object.values(metadata).every(isText))) &&
    (details === undefined || (Array.isArray(details) && details.length > 0 && details.every(isOwnDetail)))
  );
}

const isText = (value: unknown) => typeof value === 'string';

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
    const body = JSON.parse(text);
    const { code, message, data } = body?.error ?? body ?? {};
    if (typeof code !== 'number') return undefined;
    return { code, message: String(message ?? ''), ...(data !== undefined && { data }) };
  } catch {
    return undefined;
  }
}
