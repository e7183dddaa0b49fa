import { A2AError, invalidRequest } from '@batonjs/protocol/errors';
import type { JsonBody } from './http.ts';

/** Bounds of what is accepted as JSON. */
export interface JsonLimits {
  /** Levels of nested objects and arrays, 100 by default. At most 1,000, because everything after it may recurse. */
  readonly maxDepth?: number;
}

/** A body from its text or, where a framework has parsed it already, from its value. No text and no value: no body. */
export function jsonBody(
  body: { text: string } | { value: unknown },
  limits?: JsonLimits,
): JsonBody | undefined {
  if ('text' in body ? body.text === '' : body.value === undefined) return undefined;
  let parsed: { value: unknown } | undefined;
  return {
    json() {
      parsed ??= { value: 'text' in body ? parseJson(body.text, limits) : sanitize(body.value, limits) };
      return parsed.value;
    },
  };
}

/**
 * Parses JSON from outside. Throws `PARSE_ERROR`, or `INVALID_REQUEST` when it is nested deeper than the limit. Members
 * named `__proto__` are dropped.
 */
export function parseJson(text: string, limits?: JsonLimits): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new A2AError('PARSE_ERROR');
  }
  return sanitize(value, limits);
}

function sanitize(value: unknown, { maxDepth = 100 }: JsonLimits = {}): unknown {
  const limit = Math.min(maxDepth, 1_000);
  if (isTooDeep(value, limit)) {
    throw invalidRequest([{ field: '', description: `nested deeper than ${limit} levels` }]);
  }
  return value;
}

/** Its own recursion ends at the limit. */
function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const element of value) if (isTooDeep(element, levels - 1)) return true;
    return false;
  }
  for (const name in value) {
    if (name === '__proto__') delete (value as Record<string, unknown>)[name];
    else if (isTooDeep((value as Record<string, unknown>)[name], levels - 1)) return true;
  }
  return false;
}

/** A JSON object, as opposed to an array or a plain value. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a server sent, if it is JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
