/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

const palette = {
  red: [200, 38, 44],
  orange: [232, 122, 32],
  yellow: [244, 200, 48],
  gold: [212, 168, 52],
  green: [40, 140, 80],
  turquoise: [48, 176, 176],
  blue: [44, 88, 184],
  purple: [120, 64, 160],
  pink: [236, 130, 170],
  brown: [122, 78, 48],
  black: [36, 38, 44],
  grey: [128, 134, 142],
  white: [246, 244, 238],
} as const satisfies Record<string, Rgb>;

/** A colour that boats can have. */
export type Color = keyof typeof palette;

/** The RGB values of each colour. */
export const rgbOf = (color: Color): Rgb => palette[color];

/** Whether a word is one of the colours. */
export const isColor = (word: unknown): word is Color =>
  typeof word === 'string' && Object.hasOwn(palette, word);

/** Other words for the colours. */
const synonyms: Readonly<Record<string, Color>> = {
  gray: 'grey',
  violet: 'purple',
  golden: 'gold',
  红: 'red',
  橙: 'orange',
  黄: 'yellow',
  绿: 'green',
  蓝: 'blue',
  紫: 'purple',
  粉: 'pink',
  棕: 'brown',
  黑: 'black',
  灰: 'grey',
  白: 'white',
};

const word = new RegExp(
  `\\b(?:${[...Object.keys(palette), 'gray', 'violet', 'golden'].join('|')})\\b|[红橙黄绿蓝紫粉棕黑灰白]`,
  'gi',
);

/** The colours that a text mentions, in order, each with its index in the text. */
export const colorsIn = (
  text: string,
): { readonly color: Color; readonly start: number; readonly end: number }[] =>
  Array.from(text.matchAll(word), ({ 0: match, index: start }) => {
    const lower = match.toLowerCase();
    return { color: isColor(lower) ? lower : synonyms[lower]!, start, end: start + match.length };
  });
