/** The options that are given, and the defaults of the others. One that is given as undefined is not given. */
export function withDefaults<Defaults extends object>(
  defaults: Defaults,
  given: Partial<Defaults> | undefined,
): Defaults {
  const complete = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof Defaults)[])
    complete[name] = given?.[name] ?? defaults[name];
  return complete;
}

/** Throws `TypeError`, naming the option of the group, unless all values are more than 0. */
export function mustBePositive(group: string, values: Record<string, number | undefined>): void {
  for (const [name, value] of Object.entries(values))
    if (!(Number(value) > 0)) throw new TypeError(`\`${group}.${name}\` must be more than 0`);
}
