import type { Artifact, Message } from '@batonjs/server';
import { type Color, colorsIn, isColor } from './colors.ts';

/** What a boat looks like; what is not said is up to the artist. */
export interface Design {
  readonly hull?: Color;
  readonly sails?: Color;
}

/** Characters of a text that are read: what a boat looks like is said in a sentence or two. */
const longestText = 4_000;

/** What the client said about the boat's looks in this task; what it said first counts, answers only point at boats. */
export function readDesign(messages: readonly Message[]): Design {
  const said = messages.filter(({ role }) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  const designs = said.map((part) => ('text' in part ? designIn(part.text.slice(0, longestText)) : {}));
  return Object.assign({}, ...designs.toReversed());
}

/** Whether nothing was said. */
export const isEmpty = (design: Design): boolean => Object.keys(design).length === 0;

/** What a text says about a boat's looks. */
export function designIn(text: string): Design {
  const design: { hull?: Color; sails?: Color } = {};
  const mentioned = Array.from(text.matchAll(thing), ({ 0: word, index }) => ({
    areSails: /^(sails?|帆)$/i.test(word),
    end: index + word.length,
  }));
  let passed = 0;
  for (const { color, start, end } of colorsIn(text)) {
    while ((mentioned[passed]?.end ?? Number.POSITIVE_INFINITY) <= start) passed++;
    // What was mentioned last before a colour is what it belongs to, unless sails follow it.
    const isOfSails = sailsFollow.test(text.slice(end)) || mentioned[passed - 1]?.areSails;
    design[isOfSails ? 'sails' : 'hull'] ??= color;
  }
  return design;
}

const thing = /\b(sails?|hull|boat|sailboat|ship)\b|帆船|帆|船/gi;
const sailsFollow = /^\s*(sails?\b|色?的?帆(?!船))/i;

/** The design of a boat that was drawn before. */
export function designOf({ metadata }: Artifact): Design {
  const { hull, sails } = Object(metadata?.design) as Readonly<Record<string, unknown>>;
  return { ...(isColor(hull) && { hull }), ...(isColor(sails) && { sails }) };
}

/** What its picture shows. */
export const describe = ({ hull, sails }: Design): string =>
  `A generated image of ${article(hull)} sailboat${sails ? ` with ${sails} sails` : ''} on the ocean.`;

const article = (hull: Color | undefined): string =>
  hull ? `${hull === 'orange' ? 'an' : 'a'} ${hull}` : 'a';
