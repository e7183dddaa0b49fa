import { BinaryReader } from '@bufbuild/protobuf/wire';
import { WireProblem } from './wire-problem.ts';

/** A reader that counts the values of a message: what they cost in time, bytes do not bound. */
export class CountingReader extends BinaryReader {
  readonly #most: number;
  #values = 0;

  constructor(bytes: Uint8Array, most: number) {
    super(bytes);
    this.#most = most;
  }

  /** Counts one more value. Throws a `WireProblem` if it is too many. */
  count(): void {
    this.#values += 1;
    if (this.#values > this.#most) throw new WireProblem(`holds more than ${this.#most} values`);
  }
}
