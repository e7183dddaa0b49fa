/** Throws `TypeError`, naming the option of the group, unless all values are more than 0. */
export function mustBePositive(group: string, values: Record<string, number | undefined>): void {
  for (const [name, value] of Object.entries(values))
    if (!(Number(value) > 0)) throw new TypeError(`\`${group}.${name}\` must be more than 0`);
}
