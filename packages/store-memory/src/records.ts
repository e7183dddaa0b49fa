import type { RecordRow, Replaced, Wanted } from '@batonjs/store/adapter';
import { isOfDeletion } from '@batonjs/store/rules';
import { SortedList } from './order/sorted-list.ts';

type Place = Pick<RecordRow, 'name' | 'scope' | 'expiresAt'>;

const compare = <T extends string | number>(one: T, other: T): number =>
  one < other ? -1 : one > other ? 1 : 0;
const byName = (one: Place, other: Place): number => compare(one.name, other.name);

/** Of how many tasks that were deleted the store remembers that they were there. */
const mostDeletions = 20_000;

/** The records of a store, by name, by scope, and by the end of their time. */
export class Records {
  readonly #rows = new Map<string, RecordRow>();
  readonly #byName = new SortedList<RecordRow, Place>(byName);
  readonly #byScope = new SortedList<RecordRow, Place>(
    (one, other) => compare(one.scope ?? '', other.scope ?? '') || byName(one, other),
  );
  readonly #byEnd = new SortedList<RecordRow, Place>(
    (one, other) => compare(one.expiresAt ?? 0, other.expiresAt ?? 0) || byName(one, other),
  );

  /** The names of those of deletions, the oldest first. */
  readonly #deletions = new Set<string>();

  get(name: string): RecordRow | undefined {
    return this.#rows.get(name);
  }

  replace({ before, after }: Replaced<RecordRow>): void {
    if (before) {
      this.#rows.delete(before.name);
      this.#deletions.delete(before.name);
      for (const list of this.#listsOf(before)) list.remove(before);
    }
    if (!after) return;
    this.#rows.set(after.name, after);
    for (const list of this.#listsOf(after)) list.add(after);
    if (isOfDeletion(after.name)) this.#deletions.add(after.name);
    if (this.#deletions.size <= mostDeletions) return;
    const [oldest = ''] = this.#deletions;
    this.replace({ before: this.#rows.get(oldest), after: undefined });
  }

  listed({ scope, from, until, limit }: NonNullable<Wanted['listed']>): RecordRow[] {
    const list = scope === undefined ? this.#byName : this.#byScope;
    const isIn = (row: RecordRow) => row.name < until && row.scope === (scope ?? row.scope);
    return list.first(limit, isIn, { scope, name: from, expiresAt: undefined });
  }

  expired(now: number, limit: number): RecordRow[] {
    return this.#byEnd.first(limit, ({ expiresAt = 0 }) => expiresAt <= now);
  }

  #listsOf({ scope, expiresAt }: RecordRow): SortedList<RecordRow, Place>[] {
    return [
      this.#byName,
      ...(scope === undefined ? [] : [this.#byScope]),
      ...(expiresAt === undefined ? [] : [this.#byEnd]),
    ];
  }
}
