import type { Message, Turn } from '@batonjs/server';
import { comesAfter, type Kind, placeIn } from './offers.ts';

/** What is to be booked, and what must be booked before. */
export interface Wish {
  readonly kind: Kind;
  readonly after: Kind | undefined;
}

const kinds: readonly (readonly [Kind, RegExp])[] = [
  ['flight', /flights?|plane|航班|机票/],
  ['hotel', /hotels?|rooms?|酒店|旅馆/],
  ['snowmobile', /snow ?mobiles?|雪地摩托/],
  ['spa', /spas?|sauna|水疗/],
];

/** Characters of a text that are read: a wish is a sentence or two. */
const longestText = 4_000;

const verb = /\b(book|reserve|add)\b|预订|添加/i;
const object = new RegExp(
  kinds.map(([, words]) => `\\b(?:${words.source})|(?:${words.source})`).join('|'),
  'i',
);

/** What the client wants booked: the first thing that it names after saying so. Nothing while it only talks. */
export function wishOf(messages: readonly Message[]): Wish | undefined {
  for (const text of saidIn(messages)) {
    const [, ...after] = text.split(verb);
    const named = object.exec(after.join(' '))?.[0].toLowerCase();
    const kind = named && kinds.find(([, words]) => words.test(named))?.[0];
    if (kind) return { kind, after: comesAfter[kind] };
  }
  return undefined;
}

/** Where to: what the client said last about that in this task, or else in the conversation before it. */
export async function placeOf({ messages, context }: Turn): Promise<string | undefined> {
  const before = placeIn(saidIn(await context.messages()).join('\n'));
  return placeIn(saidIn(messages).join('\n')) ?? before;
}

const saidIn = (messages: readonly Message[]): string[] =>
  messages
    .filter(({ role }) => role === 'ROLE_USER')
    .flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? part.text.slice(0, longestText) : [])));
