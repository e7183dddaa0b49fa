import { A2AError, invalidRequest } from '@batonjs/protocol/errors';
import type { JsonBody } from './http.ts';

/** Limits for JSON from outside. */
export interface JsonLimits {
  /** Levels of nested objects and arrays: 100 by default, at most 1,000, because later code may recurse over them. */
  readonly maxDepth?: number;
  /**
   * Values in all: texts, numbers, objects, lists and so on. A fifth as many different names of members: each costs as
   * much as several values. No limit by default.
   */
  readonly maxValues?: number;
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
 * Parses JSON from outside. Throws `PARSE_ERROR`, or `INVALID_REQUEST` when it is nested deeper or holds more values than
 * the limits, holds a number that no double can, such as `1e400`, or an object of more than 50,000 members. Members named
 * `__proto__` are dropped.
 */
export function parseJson(text: string, limits?: JsonLimits): unknown {
  const { value, flaw } = read(text, limits);
  if (value !== undefined) return value;
  throw flaw === undefined ? new A2AError('PARSE_ERROR') : refusal(flaw);
}

/** More than of a request: a task has all that happened to it. */
const answerLimits: JsonLimits = { maxDepth: 1_000, maxValues: 500_000 };

/**
 * Parses JSON of an agent that is called, or that calls a webhook. Undefined for text that is not JSON. Throws
 * `INVALID_AGENT_RESPONSE` where `parseJson` throws `INVALID_REQUEST`, beyond 1,000 levels or 500,000 values.
 */
export function parseAnswer(text: string): unknown {
  const { value, flaw } = read(text, answerLimits);
  if (flaw === undefined) return value;
  throw new A2AError('INVALID_AGENT_RESPONSE', `The answer of the agent cannot be read: it ${flaw}`);
}

/** The value of a text, or why it is refused. Neither for text that is not JSON. */
function read(text: string, limits: JsonLimits = {}): { value?: unknown; flaw?: string | undefined } {
  const { maxValues = Number.POSITIVE_INFINITY } = limits;
  // Parsing millions of values costs more than the rest of a request. Each has at least two characters.
  if (text.length > 4 * maxValues && separatorsIn(text, 2 * maxValues) > 2 * maxValues)
    return { flaw: describe('values', maxValues) };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {};
  }
  const flaw = flawIn(value, limits);
  return flaw === undefined ? { value } : { flaw };
}

const refusal = (description: string): A2AError => invalidRequest([{ field: '', description }]);

function sanitize(value: unknown, limits?: JsonLimits): unknown {
  checkJson(value, limits);
  return value;
}

/** Checks a JSON value from outside against limits, and drops members named `__proto__`. Throws `INVALID_REQUEST`. */
export function checkJson(value: unknown, limits?: JsonLimits): void {
  const flaw = flawIn(value, limits);
  if (flaw !== undefined) throw refusal(flaw);
}

/** Why a value is refused; undefined if it is not. */
function flawIn(value: unknown, { maxDepth = 100, maxValues }: JsonLimits = {}): string | undefined {
  const depth = Math.min(maxDepth, 1_000);
  const counts = { values: 0, members: 0, maxValues: maxValues ?? Number.POSITIVE_INFINITY };
  const flaw = flawOf(value, depth, counts);
  if (flaw) return describe(flaw, counts.maxValues, depth);
  // Only then can there be as many different names.
  const maxNames = counts.maxValues / namesCost;
  const hasMany = counts.members > maxNames && !hasFewNames(value, maxNames, new Set());
  return hasMany ? describe('names', maxNames) : undefined;
}

const namesCost = 5;

type Flaw = 'depth' | 'number' | 'members' | 'values' | 'names';

const describe = (flaw: Flaw, most: number, depth = 0): string =>
  ({
    depth: `is nested deeper than ${depth} levels`,
    number: 'holds a number beyond ±1.8e308, which would be lost',
    members: `holds an object of more than ${maxMembers} members`,
    values: `holds more than ${most} values`,
    names: `holds members of more than ${most} different names`,
  })[flaw];

/** The most members of one object. Later each costs far more than the same bytes in lists and text. */
const maxMembers = 50_000;

interface Counts {
  values: number;
  members: number;
  readonly maxValues: number;
}

/** The reason to refuse a value, if there is one. Recurses at most to the limit. */
function flawOf(value: unknown, levels: number, counts: Counts): Flaw | undefined {
  counts.values += 1;
  if (counts.values > counts.maxValues) return 'values';
  // JSON.parse makes infinity of a number beyond the range of a double, and JSON.stringify makes null of that.
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'number';
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return 'depth';
  if (Array.isArray(value)) {
    for (const element of value) {
      const flaw = flawOf(element, levels - 1, counts);
      if (flaw) return flaw;
    }
    return undefined;
  }
  let count = 0;
  for (const name in value) {
    count += 1;
    if (count > maxMembers) return 'members';
    const members = value as Record<string, unknown>;
    const flaw = name === '__proto__' ? void delete members[name] : flawOf(members[name], levels - 1, counts);
    if (flaw) return flaw;
  }
  counts.members += count;
  return undefined;
}

/** Whether the members of a value have at most so many different names. */
function hasFewNames(value: unknown, most: number, names: Set<string>): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((element) => hasFewNames(element, most, names));
  for (const name in value) {
    names.add(name);
    if (names.size > most) return false;
    if (!hasFewNames((value as Record<string, unknown>)[name], most, names)) return false;
  }
  return true;
}

/**
 * How many commas and opening brackets are outside of the strings of a JSON text: at least as many as it has values, bar
 * one, and at most twice as many. Stops beyond `most`.
 */
function separatorsIn(text: string, most: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= most; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x2c || code === 0x5b || code === 0x7b) count += 1;
  }
  return count;
}

/** Where the string ends that begins at a quotation mark: at the next one that no backslash escapes. */
function endOfString(text: string, start: number): number {
  const next = text.indexOf('"', start + 1);
  if (next < 0) return text.length;
  if (text.charCodeAt(next - 1) !== 0x5c) return next;
  // A search for each of millions of escaped quotation marks would take several times as long.
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return text.length;
}
