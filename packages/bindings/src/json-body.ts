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
  let parsed: { value: unknown } | { error: unknown } | undefined;
  return {
    json() {
      parsed ??= attempt(() =>
        'text' in body ? parseJson(body.text, limits) : sanitize(body.value, limits),
      );
      if ('error' in parsed) throw parsed.error;
      return parsed.value;
    },
  };
}

/** A failure is kept as well: a body that is no JSON is as expensive to parse as one that is. */
function attempt(read: () => unknown): { value: unknown } | { error: unknown } {
  try {
    return { value: read() };
  } catch (error) {
    return { error };
  }
}

/**
 * Parses JSON from outside. Throws `PARSE_ERROR`, or `INVALID_REQUEST` when it is nested deeper than the limit, holds a
 * number that no double can, such as `1e400`, or an object of more than 50,000 members. Members named `__proto__` are
 * dropped.
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
  const flaw = flawOf(value, limit);
  if (!flaw) return value;
  const descriptions = {
    depth: `nested deeper than ${limit} levels`,
    number: 'holds a number beyond ±1.8e308, which would be lost',
    members: `holds an object of more than ${maxMembers} members`,
  };
  throw invalidRequest([{ field: '', description: descriptions[flaw] }]);
}

/** Of one object. Each that is copied, compared and written later costs far more than the same bytes in lists and text. */
const maxMembers = 50_000;

/** What makes a value unacceptable, if anything does. Its own recursion ends at the limit. */
function flawOf(value: unknown, levels: number): 'depth' | 'number' | 'members' | undefined {
  // What is too large for a double is parsed as infinity, and written as null.
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'number';
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return 'depth';
  if (Array.isArray(value)) {
    for (const element of value) {
      const flaw = flawOf(element, levels - 1);
      if (flaw) return flaw;
    }
    return undefined;
  }
  let count = 0;
  for (const name in value) {
    count += 1;
    if (count > maxMembers) return 'members';
    const members = value as Record<string, unknown>;
    const flaw = name === '__proto__' ? void delete members[name] : flawOf(members[name], levels - 1);
    if (flaw) return flaw;
  }
  return undefined;
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
