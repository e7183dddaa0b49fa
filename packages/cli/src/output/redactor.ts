/**
 * Takes secrets out of text for people: the values that are known, wherever they stand. They are found as they are, in
 * JSON, percent-encoded by any rule, and inside of Base64, as in `Authorization: Basic`.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  #pattern: RegExp | undefined;

  /** From now on, this value is not shown. Also not as a part of a URL or of a cookie. */
  hide(secret: string | undefined): void {
    if (!secret) return;
    this.#secrets.add(secret);
    // Longer ones first: a secret may contain another one.
    const secrets = [...this.#secrets].sort((one, other) => other.length - one.length);
    const patterns = [...secrets.map(plainPattern), ...secrets.flatMap(base64Patterns)];
    this.#pattern = new RegExp(patterns.join('|'), 'g');
  }

  redact(text: string): string {
    return this.#pattern ? text.replaceAll(this.#pattern, '[redacted]') : text;
  }
}

/** Each character as it is, as JSON escapes it, or percent-encoded: encoders do not agree which characters need it. */
const plainPattern = (secret: string): string =>
  [...secret]
    .map((character) => {
      const bytes = [...Buffer.from(character)].map((byte) => byte.toString(16).padStart(2, '0'));
      const encoded = bytes.map(
        (hex) => `%${hex.replaceAll(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)}`,
      );
      const forms = [literal(character), literal(JSON.stringify(character).slice(1, -1)), encoded.join('')];
      if (character === ' ') forms.push('\\+');
      return `(?:${[...new Set(forms)].join('|')})`;
    })
    .join('');

/** The fewest characters of Base64 that belong to one secret alone. */
const leastBase64 = 8;

/** The characters of Base64 that depend on the secret alone, wherever it begins, and the few around them. */
function base64Patterns(secret: string): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.from(`${'-'.repeat(shift)}${secret}`).toString('base64');
    const own = text.slice(shift === 0 ? 0 : 4, -4);
    if (own.length < leastBase64) return [];
    const either = own.replaceAll('+', '[+-]').replaceAll('/', '[/_]');
    return [`[\\w+/-]{0,4}${either}[\\w+/-]{0,4}={0,2}`];
  });
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
