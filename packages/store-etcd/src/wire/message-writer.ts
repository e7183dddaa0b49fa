/** Writes a message of Protocol Buffers from its end to its start: the length of a part is known when it is written. */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(1_024);
  #start = this.#bytes.length;

  /** How much is written. */
  get length(): number {
    return this.#bytes.length - this.#start;
  }

  /** A number that is not negative. */
  varint(value: number): void {
    let count = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) count++;
    this.#reserve(count);
    this.#start -= count;
    let rest = value;
    for (let n = 0; n < count - 1; n++) {
      this.#bytes[this.#start + n] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#start + count - 1] = rest;
  }

  content(value: string | Uint8Array): void {
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#start -= length;
    if (typeof value === 'string') this.#bytes.write(value, this.#start, 'utf8');
    else this.#bytes.set(value, this.#start);
  }

  finish(): Buffer {
    return this.#bytes.subarray(this.#start);
  }

  #reserve(count: number): void {
    if (count <= this.#start) return;
    const { length } = this;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, length + count));
    this.#bytes.copy(larger, larger.length - length, this.#start);
    this.#start = larger.length - length;
    this.#bytes = larger;
  }
}
