// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Text of an agent without characters that a terminal would obey. Line feeds and tabs stay. */
export const cleanText = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(controls, '\u{fffd}');

/** The same on one line. */
export const cleanLine = (text: string): string => cleanText(text).replace(/\n/g, ' ');
