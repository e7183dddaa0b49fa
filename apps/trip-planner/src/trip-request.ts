import type { Message, Turn } from '@batonjs/server';
import { comesAfter, type Kind, placeIn } from './offers.ts';

/** A booking that the client wants, and the kind that must be booked before it. */
export interface TripRequest {
  readonly kind: Kind;
  readonly after: Kind | undefined;
}

const kinds: readonly (readonly [Kind, RegExp])[] = [
  ['flight', /flights?|plane|航班|机票/],
  ['hotel', /hotels?|rooms?|酒店|旅馆/],
  ['snowmobile', /snow ?mobiles?|雪地摩托/],
  ['spa', /spas?|sauna|水疗/],
];

/** The number of characters of a text that are read: a request is a sentence or two. */
const longestText = 4_000;

const verb = /\b(book|reserve|add)\b|预订|添加/i;
const object = new RegExp(
  kinds.map(([, words]) => `\\b(?:${words.source})|(?:${words.source})`).join('|'),
  'i',
);

/** The booking that the client asks for: the first kind named after a word such as "book". Undefined for a question. */
export function tripRequestOf(messages: readonly Message[]): TripRequest | undefined {
  for (const text of saidIn(messages)) {
    const [, ...after] = text.split(verb);
    const named = object.exec(after.join(' '))?.[0].toLowerCase();
    const kind = named && kinds.find(([, words]) => words.test(named))?.[0];
    if (kind) return { kind, after: comesAfter[kind] };
  }
  return undefined;
}

/** Whether the client asks for everything that a place offers. */
export const isWholeTrip = (messages: readonly Message[]): boolean =>
  saidIn(messages).some((text) => verb.test(text) && /\b(whole|entire) trip\b|整个行程/i.test(text));

/** The destination: the last city that the client named in this task, or else earlier in the conversation. */
export async function placeOf({ messages, context }: Turn): Promise<string | undefined> {
  const before = placeIn(saidIn(await context.messages()).join('\n'));
  return placeIn(saidIn(messages).join('\n')) ?? before;
}

const saidIn = (messages: readonly Message[]): string[] =>
  messages
    .filter(({ role }) => role === 'ROLE_USER')
    .flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? part.text.slice(0, longestText) : [])));
