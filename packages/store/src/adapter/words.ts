/** How many characters of a text are searched: what a message is about stands at its beginning. */
const longestText = 20_000;
/** How many characters of a word are compared. */
const longestWord = 40;
/** How many words of a search are heeded. */
const mostSought = 32;

/** Scripts that put no spaces between words. */
const unspaced = ['Han', 'Hira', 'Kana', 'Thai', 'Laoo', 'Khmr', 'Mymr']
  .map((one) => `\\p{scx=${one}}`)
  .join('');
const words = /[\p{L}\p{N}\p{M}]+/gu;
const parts = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, 'gu');
const isUnspaced = new RegExp(`^[${unspaced}]`, 'u');

/**
 * The words by which a text is found, each once: of letters and digits only, without accents and in one case. Of scripts
 * without spaces, each two characters that follow each other are a word, and the last one is another.
 */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(piecesOf(text).flatMap((piece) => (isUnspaced.test(piece) ? pairsOf(piece) : [piece])))];
}

/**
 * What the words of a text have to begin with for a search to find it, each once: each word that was typed, or each two
 * characters of scripts without spaces. Nothing if there is no letter and no digit in it: such a search finds no text.
 */
export function prefixesOf(typed: string): readonly string[] {
  const sought = piecesOf(typed).flatMap((piece) => {
    if (!isUnspaced.test(piece)) return [piece];
    const pairs = pairsOf(piece);
    return pairs.length > 1 ? pairs.slice(0, -1) : pairs;
  });
  return [...new Set(sought)].slice(0, mostSought);
}

function piecesOf(text: string): string[] {
  const runs = folded(text.slice(0, longestText)).match(words) ?? [];
  return runs.flatMap((run) => run.match(parts) ?? []).map(shortened);
}

/** In one case, without accents of Latin, Greek and Cyrillic letters, and in the usual width. */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    // A letter that is written in another way at the end of a word.
    .replaceAll('ς', 'σ');

/** Of scripts without spaces, a piece has no words whose end could be cut off. */
const shortened = (piece: string): string =>
  piece.length <= longestWord || isUnspaced.test(piece) ? piece : [...piece].slice(0, longestWord).join('');

function pairsOf(piece: string): string[] {
  const characters = [...piece];
  return characters.map((character, at) => character + (characters[at + 1] ?? ''));
}
