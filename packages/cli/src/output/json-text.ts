const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A value as JSON in ASCII escapes where a terminal would obey or reorder: C1 controls and marks of direction are legal in
 * JSON, and mean the same as `\u` escapes. `isLine`: on one line.
 */
export const jsonText = (value: unknown, isLine: boolean): string =>
  JSON.stringify(value, undefined, isLine ? undefined : 2).replace(
    obeyed,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
