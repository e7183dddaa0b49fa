import type { Json } from './model/json.ts';
import type { Part } from './model/messages.ts';

/** The joined text parts of a message or an artifact; empty without text parts. */
export const textOf = (from: { readonly parts: readonly Part[] } | undefined): string =>
  from?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? '';

/** The first data part of a message or an artifact. */
export const dataOf = (from: { readonly parts: readonly Part[] } | undefined): Json | undefined =>
  from?.parts.find((part) => 'data' in part)?.data;

/**
 * Whether two JSON values are the same, whatever the order of members. Not `isDeepStrictEqual`: to import `node:util`
 * loads worker threads, performance hooks and more, 2 ms of every start.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (!isNested(one) || !isNested(other)) return one === other;
  const names = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  );
}

const isNested = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
