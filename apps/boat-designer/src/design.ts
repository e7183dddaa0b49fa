import type { Artifact, Message } from '@batonjs/server';
import { type Color, colorsIn, isColor } from './colors.ts';

/** The looks of a boat. The picture has defaults for the members that the user did not mention. */
export interface Design {
  readonly hull?: Color;
  readonly sails?: Color;
}

/** The number of characters of a text that are read: a description takes a sentence or two. */
const longestText = 4_000;

/** The design that the client asked for in this task. The first message counts; answers only choose a boat. */
export function readDesign(messages: readonly Message[]): Design {
  const said = messages.filter(({ role }) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  const designs = said.map((part) => ('text' in part ? designIn(part.text.slice(0, longestText)) : {}));
  return Object.assign({}, ...designs.toReversed());
}

/** Whether a design mentions nothing. */
export const isEmpty = (design: Design): boolean => Object.keys(design).length === 0;

/** The design that a text describes. */
export function designIn(text: string): Design {
  const design: { hull?: Color; sails?: Color } = {};
  const mentioned = Array.from(text.matchAll(thing), ({ 0: word, index }) => ({
    areSails: /^(sails?|帆)$/i.test(word),
    end: index + word.length,
  }));
  let passed = 0;
  for (const { color, start, end } of colorsIn(text)) {
    while ((mentioned[passed]?.end ?? Number.POSITIVE_INFINITY) <= start) passed++;
    // A colour belongs to the part that was mentioned last before it, unless sails follow it.
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

/** A description of its picture. */
export const describe = ({ hull, sails }: Design): string =>
  `A generated image of ${article(hull)} sailboat${sails ? ` with ${sails} sails` : ''} on the ocean.`;

const article = (hull: Color | undefined): string =>
  hull ? `${hull === 'orange' ? 'an' : 'a'} ${hull}` : 'a';
