/** Each step of the scale is 10 % longer than the one before, so that a duration is read to within 5 %. */
const growth = 1.1;

/** How long things took, counted on a scale: its size depends on how much they differ, not on how many there are. */
export class Durations {
  readonly #counts = new Map<number, number>();
  #total = 0;

  add(ms: number): void {
    const step = ms < 1 ? 0 : Math.round(Math.log(ms) / Math.log(growth)) + 1;
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
    this.#total += 1;
  }

  addAll(other: Durations): void {
    for (const [step, count] of other.#counts) this.#counts.set(step, (this.#counts.get(step) ?? 0) + count);
    this.#total += other.#total;
  }

  /** The duration, in milliseconds, that this part of all does not exceed; undefined if there are none. */
  at(part: number): number | undefined {
    const wanted = Math.max(1, Math.ceil(this.#total * part));
    let counted = 0;
    for (const [step, count] of [...this.#counts].sort(([one], [other]) => one - other)) {
      counted += count;
      if (counted >= wanted) return step === 0 ? 0 : growth ** (step - 1);
    }
    return undefined;
  }
}
