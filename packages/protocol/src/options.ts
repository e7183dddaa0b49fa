/** The names of all options of a type: the compiler names one that is missing. */
export type OptionNames<Options> = Readonly<Record<keyof Required<Options>, true>>;

/**
 * Throws a `TypeError` for an option that is not among the known ones, and names the one that may be meant. `within`: the
 * option that these are members of.
 */
export function mustKnowOptions(given: object, known: Readonly<Record<string, true>>, within?: string): void {
  const [unknown] = unknownOptions(given, known, within);
  if (unknown) throw new TypeError(unknown);
}

/**
 * A sentence for each option that is not among the known ones, with the one that may be meant. `within`: the option that
 * these are members of.
 */
export function unknownOptions(
  given: unknown,
  known: Readonly<Record<string, true>>,
  within?: string,
): string[] {
  if (typeof given !== 'object' || given === null) return [];
  const full = (name: string) => (within ? `${within}.${name}` : name);
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => {
      const meant = nearest(name, Object.keys(known));
      return `There is no option \`${full(name)}\`: ${meant ? `did you mean \`${full(meant)}\`?` : 'remove it'}`;
    });
}

/** The known name with the fewest changed letters; undefined if more than a third would have to change. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((other) => ({ other, changes: changesBetween(name.toLowerCase(), other.toLowerCase()) }))
    .sort((one, other) => one.changes - other.changes);
  return best && best.changes <= Math.max(1, best.other.length / 3) ? best.other : undefined;
}

/** How many letters are added, removed or replaced. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (const [n, letter] of [...one].entries()) {
    let left = n + 1;
    let aboveLeft = n;
    row = row.map((above, m) => {
      if (m > 0) left = Math.min(left + 1, above + 1, aboveLeft + Number(letter !== other[m - 1]));
      aboveLeft = above;
      return left;
    });
  }
  return row.at(-1) ?? 0;
}
