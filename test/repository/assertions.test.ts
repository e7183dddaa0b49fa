import { parseSync } from 'vite';
import { expect, it } from 'vitest';
import { sourceFiles, workspaces } from './source-files.ts';

// Types that say what is true need neither `as` nor `!`. The bounds are what is reached: they fall, and do not grow.
const mostInAThousandLines = { casts: 5.3, nonNull: 2 };
const mostThroughUnknown = 4;

const sources = workspaces()
  .filter(({ folder }) => folder.startsWith('packages/'))
  .flatMap(({ folder }) => sourceFiles(`${folder}/src`));

/** How often a program asserts a type (`as const`, and the type of a default that is undefined, aside), that a value is there, and a type by way of `unknown`. */
function assertionsIn(path: string, text: string) {
  const found = { casts: 0, nonNull: 0, throughUnknown: 0 };
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, expression, typeAnnotation }: Record<string, unknown> = { ...node };
    if (type === 'TSNonNullExpression') found.nonNull++;
    const isSafe = nameOf(typeAnnotation) === 'const' || Object(expression).name === 'undefined';
    if (type === 'TSAsExpression' && !isSafe) found.casts++;
    if (type === 'TSAsExpression' && isThroughUnknown(expression)) found.throughUnknown++;
    for (const part of Object.values(node)) visit(part);
  };
  visit(parseSync(path, text).program);
  return found;
}

const nameOf = (annotation: unknown): unknown => Object(Object(annotation).typeName).name;

const isThroughUnknown = (expression: unknown): boolean =>
  Object(Object(expression).typeAnnotation).type === 'TSUnknownKeyword';

it('are counted: casts, values that are said to be there, and casts by way of unknown', () => {
  const text =
    'const a = b as const; const u = undefined as A | undefined; const c = d as E; const f = g! as unknown as string[]; h![i!]!.j();';
  expect(assertionsIn('a.ts', text)).toEqual({ casts: 3, nonNull: 4, throughUnknown: 1 });
});

it('grow no more in the sources of packages', () => {
  const all = sources.map(({ path, text }) => assertionsIn(path, text));
  const sum = (name: keyof (typeof all)[number]) => all.reduce((count, found) => count + found[name], 0);
  const thousands = sources.reduce((count, { text }) => count + text.split('\n').length - 1, 0) / 1_000;
  expect(thousands).toBeGreaterThan(50);
  expect(sum('casts') / thousands).toBeLessThanOrEqual(mostInAThousandLines.casts);
  expect(sum('nonNull') / thousands).toBeLessThanOrEqual(mostInAThousandLines.nonNull);
  expect(sum('throughUnknown')).toBeLessThanOrEqual(mostThroughUnknown);
});
