/** Values by key that live as long as something else holds them: a page may show thousands of tasks one after another. */
export class Shared<Value extends WeakKey> {
  readonly #values = new Map<string, WeakRef<Value>>();
  #sweepAt = 100;

  /** The value of a key, made if there is none. */
  get(key: string, make: () => Value): Value {
    const known = this.#values.get(key)?.deref();
    if (known) return known;
    const value = make();
    this.#values.set(key, new WeakRef(value));
    if (this.#values.size >= this.#sweepAt) this.#sweep();
    return value;
  }

  /** All values that something holds. */
  all(): Value[] {
    return [...this.#values.values()].flatMap((each) => each.deref() ?? []);
  }

  #sweep(): void {
    for (const [key, each] of this.#values) if (!each.deref()) this.#values.delete(key);
    this.#sweepAt = Math.max(100, this.#values.size * 2);
  }
}
