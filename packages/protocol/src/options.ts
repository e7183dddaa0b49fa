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
 * these are members of; `groups`: options with members that may be meant.
 */
export function unknownOptions(
  given: unknown,
  known: object,
  within?: string,
  groups: Readonly<Record<string, object>> = {},
): string[] {
  if (typeof given !== 'object' || given === null) return [];
  const full = (name: string) => (within ? `${within}.${name}` : name);
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => {
      const group = Object.keys(groups).find((group) => Object.hasOwn(groups[group]!, name));
      const meant = group ? `${group}.${name}` : nearest(name, Object.keys(known));
      return `There is no option \`${full(name)}\`: ${meant ? `did you mean \`${full(meant)}\`?` : 'remove it'}`;
    });
}

/** The known name with the fewest changed letters; undefined if more than a third would have to change, or nine. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const given = name.toLowerCase();
  for (let changes = 0; changes < 9; changes++)
    for (const other of known)
      if (changes <= Math.max(1, other.length / 3) && isNear(given, other.toLowerCase(), changes))
        return other;
  return undefined;
}

/** Whether one becomes the other if at most so many letters are added, removed or replaced. */
const isNear = (one: string, other: string, changes: number): boolean => {
  if (!one || !other) return one.length + other.length <= changes;
  if (one[0] === other[0]) return isNear(one.slice(1), other.slice(1), changes);
  return (
    changes > 0 &&
    (isNear(one.slice(1), other, changes - 1) ||
      isNear(one, other.slice(1), changes - 1) ||
      isNear(one.slice(1), other.slice(1), changes - 1))
  );
};
