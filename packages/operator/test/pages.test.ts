import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newestFirst, printPlace, readPlace, together } from '../src/search/list-tasks.ts';
import type { TaskRow } from '../src/search/task-rows.ts';

type Row = Pick<TaskRow, 'id' | 'statusAt'> & { readonly of: number };
const at = (n: number) => `2026-11-30T00:00:0${n}.000Z`;
const order = (one: Row, other: Row) => newestFirst(one, other) || (one.id < other.id ? 1 : -1);

/** The list of a caller, as a store gives it: at most so many rows after a place. */
function listOf(rows: readonly Row[], limit: number, after: string | undefined) {
  const place = readPlace(after);
  const rest = rows.toSorted(order).filter((row) => {
    const [time = '', id] = [row.statusAt, row.id];
    return !place || time < place.statusAt || (time === place.statusAt && id < place.taskId);
  });
  const tasks = rest.slice(0, limit) as unknown as TaskRow[];
  const last = tasks.at(-1);
  const next =
    rest.length >= limit && last ? printPlace({ statusAt: last.statusAt!, taskId: last.id }) : undefined;
  return { tasks, total: rows.length, ...(next && { next }) };
}

it('lists of several callers are one, page by page, in its order and each row once', () => {
  const row = fc.record({ time: fc.nat(4), of: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (given, limit) => {
      const rows = given.map(({ time, of }, n): Row => ({ id: `t${n % 10}-${n}`, statusAt: at(time), of }));
      const seen: Row[] = [];
      let after: string | undefined;
      do {
        const page = together(
          [0, 1, 2, 3].map((of) =>
            listOf(
              rows.filter((each) => each.of === of),
              limit,
              after,
            ),
          ),
        );
        expect(page.total).toBe(rows.length);
        seen.push(...(page.tasks as unknown as Row[]));
        expect(after === undefined || page.next !== after).toBe(true);
        after = page.next;
      } while (after !== undefined);
      // Within one moment, rows of a page stand in the order of their lists.
      expect(seen.map(({ statusAt }) => statusAt)).toEqual(
        rows.toSorted(order).map(({ statusAt }) => statusAt),
      );
      expect(seen.map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort());
    }),
  );
});

it('what was searched and counted is that of all of them', () => {
  const tasks: TaskRow[] = [];
  expect(together([{ tasks }, { tasks, total: 3 }])).toEqual({ tasks });
  expect(
    together([
      { tasks, searched: { tasks: 2, of: 5 } },
      { tasks, searched: { tasks: 3, of: 7 }, searchesTexts: true },
      { tasks },
    ]),
  ).toEqual({ tasks, searched: { tasks: 5, of: 12 }, searchesTexts: true });
  expect(
    together([
      { tasks, total: 1 },
      { tasks, total: 2 },
    ]),
  ).toEqual({ tasks, total: 3 });
});

it.each(['x', '{}', ',a', 'a,b', '2026-11-30T00:00:00.000Z,'])('%s is no place in a list', (text) => {
  expect(() => readPlace(text)).toThrow('This is no place in a list of tasks');
  expect(readPlace(undefined)).toBeUndefined();
});
