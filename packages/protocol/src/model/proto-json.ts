import * as z from 'zod';
import { isObject } from '../values/json.ts';
import { checkedBy, checkOf, checkOfElements, checkOfMembers, isBoolean, isText } from './canonical.ts';
import type { Json, Struct } from './json.ts';

/** A string that the proto marks REQUIRED: present and not empty. */
export const requiredText = checkedBy(z.string().min(1, 'must not be empty'), isNonEmpty);

/** A string without presence: missing, `null` and `""` are the same. */
export const optionalText = checkedBy(z.string().optional(), isNonEmpty);

/** A string that may be empty. */
export const anyText = checkedBy(z.string(), isText);

/** A `bool` that no query says. */
export const plainBool = checkedBy(z.boolean(), isBoolean);

const maxIdLength = 512;

/** An id in a request: 1 to 512 characters of well-formed Unicode without NUL, so that every store can keep it. */
export const requiredId = checkedBy(
  requiredText
    .max(maxIdLength, `must have at most ${maxIdLength} characters`)
    .refine(isStorable, 'must be well-formed Unicode without NUL'),
  (value) => isNonEmpty(value) && value.length <= maxIdLength && isStorable(value),
);

/** An id without presence: missing, `null` and `""` are the same. */
export const optionalId = requiredId.optional();

/** An absolute URL. */
export const url = checkedBy(
  z.string().refine((text) => URL.canParse(text), 'must be an absolute URL'),
  (value) => typeof value === 'string' && URL.canParse(value),
);

/** A JSON object with free members, taken as it is. */
export const struct = checkedBy(z.custom<Struct>(isObject, 'must be an object'), isObject);

/** `google.protobuf.Value`: any JSON, also `null`. */
export const anyJson = checkedBy(z.custom<Json>().optional(), (value) => value !== undefined);

/** An `int32`; also accepted as text, as ProtoJSON parsers do. */
export const int32 = (minimum: number, maximum = 2 ** 31 - 1) =>
  checkedBy(
    z.preprocess(
      (value) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value),
      z.int().min(minimum).max(maximum),
    ),
    (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  );

/** An `int64` that counts changes, as decimal text; a number becomes text, anything else is as if it were not there. */
export const generation = z
  .preprocess((value) => {
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && /^\d{1,19}$/.test(text) ? text : undefined;
  }, z.string().optional())
  .optional();

/** A member that counts only where an extension is active: taken as it is, and checked there. */
export const unchecked = checkedBy(
  z.custom<string | number>().optional(),
  (value) => value !== undefined && value !== null,
);

/** An enum by its full proto names, in the order of their numbers; also accepted as such a number, or as its text. */
export const protoEnum = <const Names extends readonly [unspecified: string, ...string[]]>(names: Names) =>
  checkedBy(
    z.preprocess(
      (value) =>
        typeof value === 'number' || (typeof value === 'string' && /^\d$/.test(value))
          ? (names[Number(value)] ?? value)
          : value,
      // The first name stands for a missing value: it is accepted, but a client should not send it.
      z.enum(names, {
        error: ({ input }) =>
          input === undefined ? 'is required' : `must be one of ${names.slice(1).join(', ')}`,
      }),
    ),
    (value) => names.some((name) => name === value),
  );

/** A `bool`; also accepted as text, as numbers are: what a query can say reads the same in JSON. */
export const bool = checkedBy(
  z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean()),
  isBoolean,
);

/** `bytes`: base64 in either alphabet, padded or not; becomes the standard alphabet with padding. */
export const base64 = checkedBy(
  z.string().transform((text, context) => {
    const digits = /^[A-Za-z0-9+/_-]*(?==?=?$)/.exec(text)?.[0];
    if (digits === undefined || digits.length % 4 === 1) {
      context.addIssue({ code: 'custom', message: 'must be base64' });
      return z.NEVER;
    }
    const standard = /[-_]/.test(digits) ? digits.replaceAll('-', '+').replaceAll('_', '/') : digits;
    return standard.padEnd(Math.ceil(digits.length / 4) * 4, '=');
  }),
  (value) => typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value),
);

const timestampPattern =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(\d\d))[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)?$/;

/**
 * An instant; any offset and up to nine digits of a second are accepted, a missing offset means UTC. Becomes
 * `YYYY-MM-DDTHH:mm:ss.sssZ`, digits beyond the millisecond cut off. Spec: §5.6.1.
 */
export const timestamp = z.string().transform((text, context) => {
  const [, date, day, time, fraction = '', offset = 'Z'] = timestampPattern.exec(text) ?? [];
  const local = `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  const at = new Date(local + offset.toUpperCase());
  // A day that its month does not have would silently become one of the next month; a year has four digits.
  const isReal = !Number.isNaN(at.getTime()) && new Date(`${local}Z`).getUTCDate() === Number(day);
  if (!isReal || at.getUTCFullYear() < 1 || at.getUTCFullYear() > 9999) {
    context.addIssue({ code: 'custom', message: 'must be an RFC 3339 timestamp' });
    return z.NEVER;
  }
  return at.toISOString();
});

const maxElements = 10_000;

/**
 * A list in a request, of at most 10,000 elements. A longer one is refused before its elements are checked: millions of
 * wrong elements fit into one body, and reporting each would cost seconds and gigabytes.
 */
export const boundedList = <Element extends z.ZodType>(element: Element) =>
  checkedBy(
    z.preprocess((value, context) => {
      if (!Array.isArray(value) || value.length <= maxElements) return value;
      context.addIssue({ code: 'custom', message: `must have at most ${maxElements} elements` });
      return z.NEVER;
    }, z.array(element)),
    checkOfElements(element, maxElements),
  );

/** The same with at least one element. */
export function filledList<Element extends z.ZodType>(element: Element) {
  const list = boundedList(element);
  const isFilled = (elements: readonly unknown[]) => elements.length > 0;
  const check = checkOf(list);
  return checkedBy(
    list.refine(isFilled, 'must have at least one part'),
    (value) => check(value) && isFilled(value as readonly unknown[]),
  );
}

type Shape = z.core.$ZodLooseShape;

/** One proto message: unknown members are dropped, and members may be spelled in every way that ProtoJSON allows. */
export const message = <S extends Shape>(shape: S) =>
  checkedBy(z.preprocess(canonicalMembers(shape), z.object(shape)), checkOfMembers(shape));

/** One of the members, required: the TypeScript side of {@link oneof}. */
export type Oneof<Members> = { [Name in keyof Members]: { [Key in Name]: Members[Name] } }[keyof Members];

/**
 * A proto message with a `oneof`. It is one object schema with a presence check, because a union of objects would accept
 * two members at once and would report violations inside them without a path.
 */
export function oneof<Members, Others = unknown>(
  members: { [Name in keyof Members]: z.ZodType<Members[Name] | undefined> },
  others = {} as { [Name in keyof Others]-?: z.ZodType<Others[Name]> },
): z.ZodType<Oneof<Members> & Others> {
  const names = Object.keys(members);
  const shape: Shape = { ...members, ...others };
  const given = (value: unknown) => names.filter((name) => Object.hasOwn(value as object, name));
  const schema = z.object(shape).refine((value) => given(value).length === 1, {
    // Also where other members are wrong, so that all violations are reported at once.
    when: ({ value }) => isObject(value),
    error: ({ input }) => {
      const found = given(input).join(' and ') || 'none';
      return `must have exactly one of ${names.join(', ')}; has ${found}`;
    },
  });
  const areRight = checkOfMembers(shape);
  return checkedBy(
    z.preprocess(canonicalMembers(shape), schema) as z.ZodType<unknown> as z.ZodType<Oneof<Members> & Others>,
    (value) => areRight(value) && given(value).length === 1,
  );
}

/**
 * Makes members canonical: `snake_case` names become camelCase, `null` becomes absent, and so does `""` where a string
 * has no presence. Returns the value itself if it is canonical already, as most are.
 */
function canonicalMembers(shape: Shape) {
  const names = Object.keys(shape);
  const spellings = new Map<string, string>();
  for (const name of names) {
    const snakeCase = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (snakeCase !== name) spellings.set(snakeCase, name);
  }
  const emptyIsAbsent = new Set(
    names.filter((name) => shape[name] === optionalText || shape[name] === optionalId),
  );
  const nullIsValue = new Set(names.filter((name) => shape[name] === anyJson));
  const isAbsent = (name: string, member: unknown) =>
    member === null ? !nullIsValue.has(name) : member === '' && emptyIsAbsent.has(name);

  return (value: unknown): unknown => {
    if (!isObject(value)) return value;
    for (const name in value) if (spellings.has(name) || isAbsent(name, value[name])) return rewrite(value);
    return value;
  };

  function rewrite(value: Record<string, unknown>): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const [given, member] of Object.entries(value)) {
      const name = spellings.get(given) ?? given;
      const overridden = name !== given && Object.hasOwn(value, name);
      if (Object.hasOwn(shape, name) && !overridden && !isAbsent(name, member)) result[name] = member;
    }
    return result;
  }
}

function isNonEmpty(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
