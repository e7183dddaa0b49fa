import * as z from 'zod';
import { formats, words } from './form-fields.ts';

/** One problem of a value. */
export type Issue = {
  /** The path of the member, separated by dots; empty for the whole value. */
  readonly path: string;
  readonly message: string;
};

/** The first 20 issues of a zod error, in words for people. */
export const issuesOf = ({ issues }: z.core.$ZodError): Issue[] =>
  issues.slice(0, 20).map((issue) => ({ path: issue.path.map(String).join('.'), message: wordsFor(issue) }));

function wordsFor(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (/received undefined$/.test(issue.message)) return words.needed;
      return kinds[issue.expected] ?? words.form;
    case 'too_small': {
      const { origin, minimum, inclusive } = issue;
      if (origin === 'string' && Number(minimum) === 1) return words.needed;
      return (inclusive === false ? words.moreThan : words.atLeast)(minimum, units[origin]);
    }
    case 'too_big': {
      const { origin, maximum, inclusive } = issue;
      return (inclusive === false ? words.lessThan : words.atMost)(maximum, units[origin]);
    }
    case 'not_multiple_of':
      return words.step(issue.divisor);
    case 'invalid_value':
      return words.one;
    case 'invalid_format':
      return formats.get(formatNames.get(issue.format) ?? issue.format)?.words ?? words.form;
    case 'unrecognized_keys':
      return `There is no field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_union':
      return 'This fits none of what is asked for';
    default:
      // A check of the schema's author says its own words; those of zod are for programs.
      return issue.code === 'custom' ? issue.message : words.form;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'This is no text',
  number: words.unread.number,
  int: words.whole,
  boolean: words.one,
  array: 'This is no list',
  object: 'This is no object',
};
const units: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' };
const formatNames: ReadonlyMap<string, string> = new Map([
  ['url', 'uri'],
  ['datetime', 'date-time'],
]);

/** The issues as text for people, one per line. */
export const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('\n');

/**
 * A function that returns the problems of a value, at most 20, or undefined if it fits. For a JSON Schema of one's own:
 * its regular expressions run, and a check has no bound. Throws for a schema that cannot be read.
 */
export function readOwnSchema(schema: unknown): (value: unknown) => readonly Issue[] | undefined {
  // In a registry of its own: zod keeps schemas with ids forever otherwise.
  const type = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0], { registry: z.registry() });
  return (value) => {
    const { error } = type.safeParse(value);
    return error && issuesOf(error);
  };
}
