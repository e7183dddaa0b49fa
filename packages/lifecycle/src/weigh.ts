/** Roughly how many bytes a fact, or a snapshot, takes as JSON. Pure, and cheap: a string is not looked into. */
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
