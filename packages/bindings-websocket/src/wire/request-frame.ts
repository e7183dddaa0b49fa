import { operationOfOlderMethod } from '@batonjs/bindings';
import { A2AError, type FieldViolation, invalidParams, invalidRequest } from '@batonjs/protocol/errors';
import { isObject } from '@batonjs/protocol/json';
import { isOperationName, type OperationName } from '@batonjs/protocol/operations';

/** Correlates the frames of one call. `"1"` and `1` are different ids. */
export type Id = string | number;

type Members = Readonly<Record<string, unknown>>;

/** The parameters of a request that HTTP carries as headers: names in lower case. */
export type ServiceParams = Readonly<Record<string, string>>;

/** A frame that a client sent. */
export type RequestFrame = { readonly id: Id } & (
  | {
      readonly kind: 'call';
      readonly operation: OperationName;
      /** The request object. Throws `INVALID_PARAMS` if the frame has something else in its place. */
      readonly readParams: () => Members;
      readonly serviceParams: ServiceParams;
    }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'authenticate'; readonly authorization: string }
);

/** The method with which a client replaces the credentials of its connection. It is no operation of A2A. */
export const AUTHENTICATE = 'Authenticate';

const longestId = 256;
const mostServiceParams = 64;

/** Reads a frame of a client. Throws `INVALID_REQUEST`, `METHOD_NOT_FOUND` or, for `Authenticate`, `INVALID_PARAMS`. */
export function readRequest(value: unknown): RequestFrame {
  if (!isObject(value)) throw invalidRequest([{ field: '', description: 'must be one JSON object' }]);
  const { jsonrpc, method, params, cancelStream, serviceParams } = value;
  const id = idIn(value);
  const violations: FieldViolation[] = [];
  if (jsonrpc !== undefined && jsonrpc !== '2.0')
    violations.push({ field: 'jsonrpc', description: 'must be "2.0"' });
  if (id === undefined)
    violations.push({
      field: 'id',
      description: `must be a number or a string of at most ${longestId} characters`,
    });
  if (cancelStream !== undefined && typeof cancelStream !== 'boolean')
    violations.push({ field: 'cancelStream', description: 'must be true or false' });
  const isCancel = cancelStream === true;
  if (isCancel && method !== undefined && method !== null)
    violations.push({ field: 'method', description: 'must be absent where cancelStream is true' });
  if (!isCancel && typeof method !== 'string')
    violations.push({ field: 'method', description: 'must be a string' });
  const named = isCancel ? {} : readServiceParams(serviceParams ?? {}, violations);
  if (violations.length > 0 || id === undefined) throw invalidRequest(violations);
  if (isCancel) return { kind: 'cancel', id };
  if (method === AUTHENTICATE) return { kind: 'authenticate', id, authorization: readCredentials(params) };
  if (typeof method !== 'string' || !isOperationName(method)) throw methodNotFound(String(method));
  return { kind: 'call', id, operation: method, readParams: () => readParams(params), serviceParams: named };
}

/** The id of a frame that may be wrong otherwise. */
export function idIn(value: unknown): Id | undefined {
  const { id } = Object(value) as { id?: unknown };
  if (typeof id === 'string') return id.length <= longestId ? id : undefined;
  // The parser has rounded an integer beyond 2^53: the answer would name another call.
  return typeof id === 'number' && (Number.isSafeInteger(id) || id % 1 !== 0) ? id : undefined;
}

/** The id of a frame that is not parsed, if it stands before all other members but `jsonrpc`. */
export function idAtStart(text: string): Id | undefined {
  const [, id] = idFirst.exec(text) ?? [];
  return id === undefined ? undefined : idIn({ id: JSON.parse(id) });
}

const idFirst =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?(?:0|[1-9]\d{0,15})|"[^"\\\p{Cc}]{0,256}")\s*[,}]/u;

function readParams(params: unknown): Members {
  if (params === undefined || params === null) return {};
  if (isObject(params)) return params;
  throw invalidParams([{ field: 'params', description: 'must be an object' }]);
}

function readServiceParams(value: unknown, violations: FieldViolation[]): ServiceParams {
  const field = 'serviceParams';
  if (!isObject(value)) {
    violations.push({ field, description: 'must be an object' });
    return {};
  }
  const entries = Object.entries(value);
  if (entries.length > mostServiceParams)
    violations.push({ field, description: `has more than ${mostServiceParams} members` });
  const named: Record<string, string> = Object.create(null);
  for (const [name, text] of entries.slice(0, mostServiceParams)) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,256}$/.test(name))
      violations.push({ field, description: 'has a name that no header may have' });
    else if (typeof text !== 'string')
      violations.push({ field: `${field}.${name}`, description: 'must be a string' });
    else if (!/^[\t -~\x80-\uffff]*$/.test(text))
      violations.push({ field: `${field}.${name}`, description: 'has control characters' });
    else {
      const key = name.toLowerCase();
      named[key] = key in named ? `${named[key]}, ${text}` : text;
    }
  }
  return named;
}

function readCredentials(params: unknown): string {
  const { scheme, credentials } = readParams(params);
  const violations: FieldViolation[] = [];
  if (typeof scheme !== 'string' || !/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(scheme))
    violations.push({ field: 'scheme', description: 'must name a scheme of HTTP authentication' });
  if (typeof credentials !== 'string' || !/^[\x20-\x7e]+$/.test(credentials))
    violations.push({ field: 'credentials', description: 'must be printable ASCII' });
  if (violations.length > 0) throw invalidParams(violations);
  return `${scheme} ${credentials}`;
}

/** For a method of 0.3, the message names that of 1.0. */
function methodNotFound(method: string): A2AError {
  const operation = operationOfOlderMethod(method);
  if (!operation) return new A2AError('METHOD_NOT_FOUND');
  return new A2AError(
    'METHOD_NOT_FOUND',
    `Method not found: ${method} is a method of A2A 0.3; in 1.0 it is ${operation}`,
  );
}
