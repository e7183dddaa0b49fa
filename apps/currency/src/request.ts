import type { Message, Part } from '@batonjs/server';
import { type Currency, isCurrency } from './rates.ts';
import { mentionsIn } from './words.ts';

/** A request for a conversion, with the members that are known so far. */
export interface Request {
  readonly amount?: number;
  readonly from?: Currency;
  readonly to?: Currency;
  /** A code that the client named and that has no rate. */
  readonly unknown?: string;
}

/** A request with all members known. */
export type CompleteRequest = Request & Required<Omit<Request, 'unknown'>>;

/** The number of characters of a text that are read: a request for a conversion is a sentence. */
const longestText = 4_000;

/** Reads the request from the client's messages in this task, in words and in data. Later messages override earlier ones. */
export function readRequest(messages: readonly Message[]): Request {
  const said = messages.filter(({ role }) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  let known: Request = {};
  for (const part of said) known = { ...known, unknown: undefined, ...readPart(part, known) };
  return known;
}

/** Whether a request is complete. */
export const isComplete = (request: Request): request is CompleteRequest =>
  ![request.amount, request.from, request.to].includes(undefined) && request.unknown === undefined;

function readPart(part: Part, known: Request): Request {
  if ('text' in part) return readWords(part.text.slice(0, longestText), known);
  if (!('data' in part) || typeof part.data !== 'object' || part.data === null) return {};
  const { amount, from, to } = part.data as Record<string, unknown>;
  const codes = { ...(from != null && { from: String(from) }), ...(to != null && { to: String(to) }) };
  return {
    ...(amount != null && { amount: typeof amount === 'number' ? amount : undefined }),
    ...readCodes(codes),
  };
}

function readWords(text: string, known: Request): Request {
  const { amount, beside, target, currencies } = mentionsIn(text);
  // The currency beside the amount is the source; an answer that is only a currency fills the member that was asked for.
  const from = beside ?? (known.from ? undefined : currencies.find((code) => code !== target));
  const to = target ?? currencies.findLast((code) => code !== (from ?? known.from));
  return {
    ...(amount !== undefined && { amount }),
    ...readCodes({ ...(from && { from }), ...(to && { to }) }),
  };
}

function readCodes(codes: { readonly from?: string; readonly to?: string }): Request {
  const request: Record<string, string | undefined> = {};
  for (const [side, text] of Object.entries(codes)) {
    const code = text.trim().toUpperCase();
    if (isCurrency(code)) request[side] = code;
    else request.unknown ??= code.slice(0, 20);
  }
  return request;
}
