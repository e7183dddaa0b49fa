import type { Artifact, Message } from '@batonjs/server';
import { type Color, colorsIn, isColor } from './colors.ts';

/** What a boat looks like; what is not said is up to the artist. */
export interface Design {
  readonly hull?: Color;
  readonly sails?: Color;
}

/** What the client said about the boat's looks in this task; what it said first counts, answers only point at boats. */
export function readDesign(messages: readonly Message[]): Design {
  const said = messages.filter(({ role }) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  const designs = said.map((part) => ('text' in part ? designIn(part.text) : {}));
  return Object.assign({}, ...designs.toReversed());
}

/** Whether nothing was said. */
export const isEmpty = (design: Design): boolean => Object.keys(design).length === 0;

function designIn(text: string): Design {
  const design: { hull?: Color; sails?: Color } = {};
  for (const { color, start, end } of colorsIn(text)) {
    const isOfSails =
      /^\s*(sails?\b|色?的?帆(?!船))/i.test(text.slice(end)) || isAbout(text.slice(0, start)) === 'sails';
    design[isOfSails ? 'sails' : 'hull'] ??= color;
  }
  return design;
}

/** What was mentioned last before a colour. */
const isAbout = (before: string): string | undefined => {
  const last = before
    .match(/\b(sails?|hull|boat|sailboat|ship)\b|帆船|帆|船/gi)
    ?.at(-1)
    ?.toLowerCase();
  return last && /^(sails?|帆)$/.test(last) ? 'sails' : last;
};

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
