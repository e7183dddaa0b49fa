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
export function recordsOf() {
  const rows = new Map<string, RecordRow>();
  const ofName = new SortedList<RecordRow, Place>(byName);
  const byScope = new SortedList<RecordRow, Place>(
    (one, other) => compare(one.scope ?? '', other.scope ?? '') || byName(one, other),
  );
  const byEnd = new SortedList<RecordRow, Place>(
    (one, other) => compare(one.expiresAt ?? 0, other.expiresAt ?? 0) || byName(one, other),
  );
  /** The names of those of deletions, the oldest first. */
  const deletions = new Set<string>();

  function replace({ before, after }: Replaced<RecordRow>): void {
    if (before) {
      rows.delete(before.name);
      deletions.delete(before.name);
      for (const list of listsOf(before)) list.remove(before);
    }
    if (!after) return;
    rows.set(after.name, after);
    for (const list of listsOf(after)) list.add(after);
    if (isOfDeletion(after.name)) deletions.add(after.name);
    if (deletions.size <= mostDeletions) return;
    const [oldest = ''] = deletions;
    replace({ before: rows.get(oldest), after: undefined });
  }

  function listsOf({ scope, expiresAt }: RecordRow): SortedList<RecordRow, Place>[] {
    return [ofName, ...(scope === undefined ? [] : [byScope]), ...(expiresAt === undefined ? [] : [byEnd])];
  }

  return {
    get: (name: string): RecordRow | undefined => rows.get(name),
    replace,
    listed({ scope, from, until, limit }: NonNullable<Wanted['listed']>): RecordRow[] {
      const list = scope === undefined ? ofName : byScope;
      const isIn = (row: RecordRow) => row.name < until && row.scope === (scope ?? row.scope);
      return list.first(limit, isIn, { scope, name: from, expiresAt: undefined });
    },
    expired: (now: number, limit: number): RecordRow[] =>
      byEnd.first(limit, ({ expiresAt = 0 }) => expiresAt <= now),
  };
}
