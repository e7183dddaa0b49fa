/** A value for many readers. Its JSON is made when the first reader needs it, and only once. */
export class SharedJson {
  readonly value: unknown;
  #text: string | undefined;

  constructor(value: unknown) {
    this.value = value;
  }

  /** The value as JSON, on one line. */
  get text(): string {
    this.#text ??= JSON.stringify(this.value);
    return this.#text;
  }
}
