/** The names of all options of a type: the compiler names one that is missing. */
export type OptionNames<Options> = Readonly<Record<keyof Required<Options>, true>>;

/** The options that have these defaults. */
export type OptionsOf<Defaults> = { readonly [Name in keyof Defaults]?: Defaults[Name] | undefined };

/** The options that are given, and the defaults of the others. One that is given as undefined is not given. */
export function withDefaults<Defaults extends object>(
  defaults: Defaults,
  given: OptionsOf<Defaults> | undefined,
): Defaults {
  const complete = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof Defaults)[])
    complete[name] = given?.[name] ?? defaults[name];
  return complete;
}

/**
 * Throws a `TypeError` for an option that is not among the known ones, and names the one that may be meant. `within`: the
 * option that these are members of.
 */
export function mustKnowOptions(given: object, known: object, within?: string): void {
  const [unknown] = unknownOptions(given, known, within);
  if (unknown) throw new TypeError(unknown);
}

/**
 * A sentence for each option that is not among the known ones, with the one that may be meant. `known`: by name, an object
 * for an option with members, an array of one for a list of such. `within`: the option that these are members of.
 */
export function unknownOptions(given: unknown, known: object, within?: string): string[] {
  if (typeof given !== 'object' || given === null) return [];
  const full = (name: string) => (within ? `${within}.${name}` : name);
  return Object.entries(given).flatMap(([name, value]) => {
    if (Object.hasOwn(known, name)) return unknownInside(value, known[name as never], full(name));
    const meant = inGroup(name, known) ?? nearest(name, Object.keys(known));
    return `There is no option \`${full(name)}\`: ${meant ? `did you mean \`${full(meant)}\`?` : 'remove it'}`;
  });
}

/** The same for the members of an option, or of the objects in its list. */
function unknownInside(given: unknown, known: unknown, name: string): string[] {
  if (!Array.isArray(known)) return isGroup(known) ? unknownOptions(given, known, name) : [];
  const list = Array.isArray(given) ? given : [];
  return list.flatMap((one, index) => unknownInside(one, known[0], `${name}[${index}]`));
}

const isGroup = (known: unknown): known is object => typeof known === 'object' && known !== null;

/** The name with that of its group, for an option that was moved into one. */
function inGroup(name: string, known: object): string | undefined {
  const group = Object.entries(known).find(([, inner]) => isGroup(inner) && Object.hasOwn(inner, name));
  return group && `${group[0]}.${name}`;
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
