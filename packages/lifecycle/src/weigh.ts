/** The approximate size of a fact or a snapshot as JSON, in bytes. Pure. Cheap, because it counts the characters of a string, not its bytes. */
export const weigh = (value: object): number => weighJson(value);

function weighJson(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let weight = 2;
  if (Array.isArray(value)) {
    for (const item of value) weight += 1 + weighJson(item);
  } else {
    for (const name in value) weight += name.length + 4 + weighJson(value[name as keyof typeof value]);
  }
  return weight;
}
