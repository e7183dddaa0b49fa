/** How many steps a schema may take at one place of a value, and how many for a whole value. */
const mostAtOnePlace = 10_000;
const mostInAll = 300_000;

/** What zod does to merge one value of what two subschemas read, in steps. */
const merging = 8;

/** How deep values and references may be nested: zod calls itself for each level. */
const mostLevels = 200;

type Schema = Readonly<Record<string, unknown>>;

/**
 * Counts the steps that a check of a value takes, before the check is made: references that double with each level need
 * few bytes and more steps than any process can make. Where the count is not exact, it is too large. Returns whether the check
 * of a value takes too many. Throws a `RangeError` if the schema takes too many steps for any value, or refers to itself at the
 * same place.
 */
export function costOf(given: unknown): (value: unknown) => boolean {
  const root = asSchema(given);
  const definitions = asSchema(root.$defs || root.definitions);

  /** The subschemas that apply where this one applies. */
  function atSamePlace({ $ref, anyOf, oneOf, allOf }: Schema): unknown[] {
    const composed = [anyOf, oneOf, allOf].flatMap((each) => (Array.isArray(each) ? each : []));
    return typeof $ref === 'string' ? [resolve($ref), ...composed] : composed;
  }

  /** As zod resolves it: definitions at the top, and the whole schema. */
  function resolve(ref: string): unknown {
    const [place, name] = ref.slice(1).split('/').filter(Boolean);
    return place === undefined ? root : definitions[name?.replace(/~1/g, '/').replace(/~0/g, '~') ?? ''];
  }

  const known = new Map<Schema, number>();
  function stepsAt(schema: Schema): number {
    const steps = known.get(schema);
    if (steps !== undefined) return steps;
    // Found again on the way down, it refers to itself without an end.
    known.set(schema, Number.POSITIVE_INFINITY);
    const all = atSamePlace(schema).reduce<number>((sum, each) => sum + stepsAt(asSchema(each)), 1);
    known.set(schema, all);
    return all;
  }

  function checkPlaces(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if (!(stepsAt(asSchema(value)) <= mostAtOnePlace))
      throw new RangeError('The schema takes too many steps');
    for (const inner of Object.values(value)) checkPlaces(inner);
  }

  checkPlaces(root);
  return (value) => {
    const sizes = new Map<object, number>();
    let steps = 0;
    const visit = (subschema: unknown, at: unknown, level: number): boolean => {
      const schema = asSchema(subschema);
      const here = atSamePlace(schema);
      steps += 1 + choices(schema) + merges(schema) * merging * sizeOf(at, sizes);
      if (steps > mostInAll || level > mostLevels) return true;
      if (here.some((each) => visit(each, at, level + 1))) return true;
      if (typeof at !== 'object' || at === null) return false;
      steps += Array.isArray(at) ? 0 : Object.keys(asSchema(schema.properties)).length;
      return Object.entries(at).some(([name, inner]) =>
        below(schema, name, Array.isArray(at)).some((each) => visit(each, inner, level + 1)),
      );
    };
    return depthOf(value) > mostLevels || visit(root, value, 0);
  };
}

/** The subschemas for a member of an object or of an array. */
function below(schema: Schema, name: string, isArray: boolean): unknown[] {
  if (isArray) {
    const { items, prefixItems, additionalItems, contains } = schema;
    const placed = [items, prefixItems].map((each) => (Array.isArray(each) ? each[Number(name)] : each));
    return [...placed, additionalItems, contains].filter((each) => each !== undefined);
  }
  const { additionalProperties } = schema;
  const properties = asSchema(schema.properties);
  const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return [own, schema.propertyNames].filter((each) => each !== undefined);
}

/** How often zod merges what two subschemas read, with all that is in it. */
const merges = ({ type, enum: values, const: value, anyOf, oneOf, allOf }: Schema): number => {
  const all = Array.isArray(allOf) ? allOf.length : 0;
  const isTyped = type !== undefined || values !== undefined || value !== undefined;
  return all + (isTyped || all > 0 ? [anyOf, oneOf].filter((each) => each !== undefined).length : 0);
};

const choices = ({ enum: values }: Schema): number => (Array.isArray(values) ? values.length : 0);

const asSchema = (value: unknown): Schema =>
  typeof value === 'object' && value !== null ? (value as Schema) : {};

/** How many values there are in a value, itself included. */
function sizeOf(value: unknown, sizes: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return 1;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  const size = Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner, sizes), 1);
  sizes.set(value, size);
  return size;
}

/** How deep a value is nested, by level and not by calls, which have an end themselves. */
function depthOf(value: unknown): number {
  let depth = 0;
  for (let level = [value]; level.length > 0 && depth <= mostLevels; depth += 1)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  return depth;
}
