/** The maximum nesting, and the maximum number of subschemas, of a schema from another party. */
const mostLevels = 50;
const mostSubschemas = 10_000;

/** Keywords whose members are names with schemas. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/** Keywords with values, in which `pattern` is a name like any other. */
const plain: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required']);

/**
 * A copy of a JSON Schema without regular expressions, which can block the process, and without ids, which zod keeps for
 * ever. What a `patternProperties` allows cannot be told any more, so other members are allowed beside it. Throws a
 * `RangeError` for a schema that is too large.
 */
export function withoutPrograms(schema: unknown): unknown {
  let count = 0;
  const copy = (value: unknown, level: number): unknown => {
    if (Array.isArray(value)) return value.map((each) => copy(each, level + 1));
    if (typeof value !== 'object' || value === null) return value;
    count += 1;
    if (level > mostLevels || count > mostSubschemas) throw new RangeError('The schema is too large');
    return mapMembers(value, (name, inner) => {
      if (name === 'pattern' || name === 'patternProperties') return undefined;
      if (name === 'additionalProperties' && Object.hasOwn(value, 'patternProperties')) return undefined;
      if (name === 'id' && typeof inner === 'string') return undefined;
      // A type that is listed twice would be converted twice, and all below it again at each level.
      if (name === 'type' && Array.isArray(inner)) return [...new Set(inner)];
      if (plain.has(name)) return inner;
      return named.has(name)
        ? mapMembers(Object(inner), (_, each) => copy(each, level + 1))
        : copy(inner, level + 1);
    });
  };
  return copy(schema, 0);
}

const mapMembers = (value: object, map: (name: string, inner: unknown) => unknown): object =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const mapped = map(name, inner);
      return mapped === undefined ? [] : [[name, mapped]];
    }),
  );
