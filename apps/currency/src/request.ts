import type { Message, Part } from '@batonjs/server';
import { type Currency, isCurrency } from './rates.ts';
import { mentionsIn } from './words.ts';

/** What somebody wants to have converted, as far as it is known. */
export interface Request {
  readonly amount?: number;
  readonly from?: Currency;
  readonly to?: Currency;
  /** A code that was said and that there is no rate for. */
  readonly unknown?: string;
}

/** A request that can be answered. */
export type CompleteRequest = Request & Required<Omit<Request, 'unknown'>>;

/** Characters of a text that are read: a request for a conversion is a sentence. */
const longestText = 4_000;

/** What the client said in this task, in words and in data; what it said later counts. */
export function readRequest(messages: readonly Message[]): Request {
  const said = messages.filter(({ role }) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  let known: Request = {};
  for (const part of said) known = { ...known, unknown: undefined, ...readPart(part, known) };
  return known;
}

/** Whether nothing is left to ask. */
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
  // What stands beside the amount is converted from; an answer that is only a currency is what was asked for.
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
