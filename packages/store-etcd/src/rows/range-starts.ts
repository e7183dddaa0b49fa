import type { Range } from '../layout/keys.ts';
import type { KeyValue } from '../wire/messages.ts';

/** How long keys before a start may be missed, in milliseconds. */
const mostMs = 1_000;

interface Start {
  readonly key: string;
  /** When the whole range was read last. */
  readonly wholeAt: number;
}

/**
 * Where to begin to read ranges whose first keys are deleted again and again. Until a compaction, etcd visits the deleted
 * keys of a range too. So a read begins at the first key that the read before it found. Every second the whole range is
 * read, which finds keys that were put before that. `clock`: in milliseconds, of one that is never set.
 */
export function rangeStartsOf(clock = () => performance.now()) {
  /** By the first key of the range. */
  const starts = new Map<string, Start>();

  return {
    /** What to read of a range. */
    from(range: Range): Range {
      const start = starts.get(range.key);
      const now = clock();
      if (start && now - start.wholeAt < mostMs) return { ...range, key: start.key };
      starts.set(range.key, { key: range.key, wholeAt: now });
      return range;
    },
    /** `kvs`: the first keys of what `from` returned for the range. */
    remember({ key, rangeEnd }: Range, kvs: readonly Pick<KeyValue, 'key'>[]): void {
      const start = starts.get(key);
      const [first] = kvs;
      if (start) starts.set(key, { ...start, key: first ? String(first.key) : rangeEnd });
    },
  };
}
