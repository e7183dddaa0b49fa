import inEnglish from './english.json' with { type: 'json' };
import inGerman from './german.json' with { type: 'json' };

/** The words of `Chat` in English, its default. */
export const english = inEnglish;

/** All words of `Chat`: pass an object of your own for another language or tone. `lang` is as HTML names languages. */
export type ChatTexts = Readonly<typeof english>;

/** The words of `Chat` in German. */
export const german: ChatTexts = inGerman;
