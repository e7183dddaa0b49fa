import { inside } from '../layout/keys.ts';
import type { KeyValue, RangeRequest } from '../wire/messages.ts';

/** Whole queues up to this length are read as they are. */
const longest = 2_000;
/** How many tasks at the front of a longer queue are remembered as a range. */
const remembered = 1_000;

/**
 * The ranges of keys that claims read at the front of long queues: etcd visits all keys of a range, whatever its limit.
 * The range ends where some of the oldest tasks do, until they are claimed.
 */
export class QueueFronts {
  readonly #ends = new Map<string, string>();

  /** The range to read of a folder whose keys are in the order in which they are claimed. */
  range(folder: string): RangeRequest {
    const end = this.#ends.get(folder);
    return end === undefined ? inside(folder) : { key: folder, rangeEnd: end };
  }

  /**
   * Whether the front has fewer than `limit` keys, so that the folder must be read again. `found`: how many keys of the
   * range were read.
   */
  isTooShort(folder: string, found: number, limit: number): boolean {
    return found < limit && this.#ends.delete(folder);
  }

  /** The range to read to find a new front, if the folder is long and was read whole. `count`: how many keys it has. */
  rangeToFind(folder: string, count: number): RangeRequest | undefined {
    if (count <= longest || this.#ends.has(folder)) return undefined;
    return { ...inside(folder), limit: remembered, keysOnly: true };
  }

  /** `keys`: what that range has. */
  remember(folder: string, keys: readonly KeyValue[]): void {
    const last = keys.at(-1);
    if (last) this.#ends.set(folder, String(last.key));
  }
}
