import german from './german.json' with { type: 'json' };

/**
 * The language of answer pages as HTML names it, and their words by the English ones, where `{}` stands for a name or a value.
 * Words that are left out are English, or German for a `lang` of `de`.
 */
export type PageTexts = Readonly<Record<string, string>>;

/** What a page says, and the times on it. */
export class PageWords {
  readonly lang: string;
  readonly timeZone: string;
  readonly #texts: Readonly<Record<string, string>>;
  readonly #time: Intl.DateTimeFormat;
  readonly #wallClock: Intl.DateTimeFormat;

  /** Throws `TypeError` for a language, a text or a time zone that there is not. */
  constructor({ lang = 'en', ...texts }: PageTexts = {}, timeZone = 'UTC') {
    this.lang = lang;
    this.timeZone = timeZone;
    this.#texts = { ...(/^de\b/i.test(lang) && german), ...texts };
    const unknown = Object.keys(texts).find((text) => !Object.hasOwn(german, text));
    if (unknown !== undefined) throw new TypeError(`\`callbacks.texts\`: no page says '${unknown}'`);
    try {
      const [date, time] = [{ year: 'numeric', month: 'long', day: 'numeric' } as const, 'numeric'] as const;
      const named = { ...date, hour: time, minute: '2-digit', timeZoneName: 'short', timeZone } as const;
      this.#time = new Intl.DateTimeFormat(lang, named);
      this.#wallClock = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short', timeZone });
    } catch (cause) {
      const problem = `\`callbacks.texts.lang\` or \`callbacks.timeZone\` is unknown: '${lang}', '${timeZone}'`;
      throw new TypeError(problem, { cause });
    }
  }

  /** A text of pages, or a sentence about a value as forms and schemas make it; others stay as they are. */
  say = (text: string, ...named: readonly string[]): string => {
    const [, what = '', bound = '', of = ''] = /^(\D+) (-?[\d.,]+)(?: (\w+))?$/.exec(text) ?? [];
    const counted = this.#texts[`${what} {}`];
    const count = Number(bound.replaceAll(',', '')).toLocaleString(this.lang, { maximumFractionDigits: 20 });
    if (counted) return counted.replace('{}', () => `${count} ${this.#texts[of] ?? of}`.trim());
    return named.reduce((all, name) => all.replace('{}', () => name), this.#texts[text] ?? text);
  };

  /** A moment with its zone. */
  time = (iso: string): string => this.#time.format(new Date(iso));

  /** A moment as a field for times has it, by the clocks of the zone; another text stays as it is. */
  wallClock(iso: string): string {
    const moment = Date.parse(iso);
    return Number.isNaN(moment) ? iso : this.#wallClock.format(moment).replace(' ', 'T');
  }

  /** The moment at which the clocks of the zone show this, in ISO 8601, UTC; another text stays as it is. */
  moment(wallClock: string): string {
    const shown = Date.parse(`${wallClock}Z`);
    if (Number.isNaN(shown)) return wallClock;
    const ahead = (moment: number) =>
      Date.parse(`${this.wallClock(new Date(moment).toISOString())}Z`) - moment;
    // The zone may change its time between the guess and the moment.
    return new Date(shown - ahead(shown - ahead(shown))).toISOString();
  }
}
