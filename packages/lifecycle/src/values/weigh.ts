/** What large frozen values weigh: a message of megabytes is weighed by several parts of a server. */
const known = new WeakMap<object, number>();

/** From this weight on, looking it up is cheaper than weighing again. */
const large = 4_096;

/** The approximate size of a fact or a snapshot as JSON, in bytes. Pure. Cheap, because it counts the characters of a string, not its bytes. */
export function weigh(value: object): number {
  const before = known.get(value);
  if (before !== undefined) return before;
  const weight = weighJson(value);
  if (weight >= large && Object.isFrozen(value)) known.set(value, weight);
  return weight;
}

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
