import type { Json } from './model/json.ts';
import type { Part } from './model/messages.ts';

/** The text of a message or an artifact, its text parts joined; empty if there is none. */
export const textOf = (from: { readonly parts: readonly Part[] } | undefined): string =>
  from?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? '';

/** The first data part of a message or an artifact. */
export const dataOf = (from: { readonly parts: readonly Part[] } | undefined): Json | undefined =>
  from?.parts.find((part) => 'data' in part)?.data;
