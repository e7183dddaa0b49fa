/** What the part `data` of a message holds, or its text. */
export interface Content {
  readonly text?: string;
  readonly data?: unknown;
}

/** Bodies of at most so many bytes and values, each the worst of its kind, by their names. */
export const contents = (bytes: number, values: number): Readonly<Record<string, () => Content>> => {
  // The request around them takes some of both.
  const [room, most] = [bytes - 2_000, values - 100];
  const list = <Item>(count: number, item: (n: number) => Item): Item[] =>
    Array.from({ length: count }, (_, n) => item(n));
  return {
    'one text': () => ({ text: 'x'.repeat(room) }),
    'one text of escapes': () => ({ text: '"'.repeat(room / 2) }),
    'short texts': () => ({ data: list(most, () => 'x'.repeat(Math.floor(room / most) - 3)) }),
    objects: () => ({ data: list(most / 2, (n) => ({ a: n })) }),
    'different names': () => ({
      data: Object.fromEntries(
        list(most / 5, (n): [string, number] => [
          `${n}`.padEnd(Math.min(150, Math.floor((5 * room) / most) - 10), 'n'),
          0,
        ]),
      ),
    }),
    'numbers, refused': () => ({ data: list(room / 2, () => 1) }),
    'different names, refused': () => ({
      data: Object.fromEntries(list(most / 2, (n): [string, number] => [`n${n}`, 0])),
    }),
  };
};
