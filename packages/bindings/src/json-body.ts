import { A2AError, invalidRequest } from '@batonjs/protocol/errors';
import type { JsonBody } from './http.ts';

/** Limits for JSON from outside. */
export interface JsonLimits {
  /** Levels of nested objects and arrays: 100 by default, at most 1,000, because later code may recurse over them. */
  readonly maxDepth?: number;
}

/** A body from its text or, if a framework has parsed it, from its value. Undefined for empty text and for no value. */
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

/** Keeps the failure too: parsing a body that is not JSON costs as much as parsing one that is. */
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

/** The most members of one object. Later each costs far more than the same bytes in lists and text. */
const maxMembers = 50_000;

/** The reason to refuse a value, if there is one. Recurses at most to the limit. */
function flawOf(value: unknown, levels: number): 'depth' | 'number' | 'members' | undefined {
  // JSON.parse makes infinity of a number beyond the range of a double, and JSON.stringify makes null of that.
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

/** The JSON in a text; undefined for text that is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
