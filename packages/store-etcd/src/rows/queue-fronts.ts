import { inside, type Range } from '../layout/keys.ts';
import type { KeyValue, RangeRequest } from '../wire/messages.ts';

/** Whole queues up to this length are read as they are. */
const longest = 2_000;
/** How many tasks at the front of a longer queue are remembered as a range. */
const remembered = 1_000;

/**
 * The ranges of keys that claims read at the front of long queues: etcd visits all keys of a range, whatever its limit.
 * A range ends after the oldest 1,000 keys. When too few of them are left, the whole folder is read again.
 */
export class QueueFronts {
  readonly #ends = new Map<string, string>();

  /** Whether only the front of a folder is read. */
  has(folder: string): boolean {
    return this.#ends.has(folder);
  }

  /** The range to read of a folder whose keys are in the order in which they are claimed. */
  range(folder: string): Range {
    const end = this.#ends.get(folder);
    return end === undefined ? inside(folder) : { key: folder, rangeEnd: end };
  }

  /**
   * Forgets the front if fewer than `limit` of its keys are left, and returns whether it did: the caller then reads the
   * whole folder. `found`: how many keys were read.
   */
  forgetIfShort(folder: string, found: number, limit: number): boolean {
    return found < limit && this.#ends.delete(folder);
  }

  /** The range to read to find a new front, if the folder is long and was read whole. `count`: how many keys it has. */
  rangeToFind(folder: string, count: number): RangeRequest | undefined {
    if (count <= longest || this.#ends.has(folder)) return undefined;
    return { ...inside(folder), limit: remembered, keysOnly: true };
  }

  /** `keys`: what that range has. */
  remember(folder: string, keys: readonly Pick<KeyValue, 'key'>[]): void {
    const last = keys.at(-1);
    if (last) this.#ends.set(folder, String(last.key));
  }
}
