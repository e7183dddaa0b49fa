/** Takes secrets out of text for people: the values that are known, wherever they stand. */
export class Redactor {
  readonly #secrets = new Set<string>();

  /** From now on, this value is not shown. Also not as a part of a URL or of a cookie. */
  hide(secret: string | undefined): void {
    if (!secret) return;
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
      this.#secrets.add(form);
  }

  redact(text: string): string {
    let redacted = text;
    // Longer ones first: a secret may contain another one.
    for (const secret of [...this.#secrets].sort((one, other) => other.length - one.length))
      redacted = redacted.replaceAll(secret, '[redacted]');
    return redacted;
  }
}
