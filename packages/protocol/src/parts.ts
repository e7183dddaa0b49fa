import type { Json } from './model/json.ts';
import type { Part } from './model/messages.ts';

/** The joined text parts of a message or an artifact; empty without text parts. */
export const textOf = (from: { readonly parts: readonly Part[] } | undefined): string =>
  from?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? '';

/** The first data part of a message or an artifact. */
export const dataOf = (from: { readonly parts: readonly Part[] } | undefined): Json | undefined =>
  from?.parts.find((part) => 'data' in part)?.data;
