import { describe, expect, it } from 'vitest';
import { codeOnly, sourceFiles, workspaces } from './source-files.ts';

const literal =
  /(?<![\w)\]/])\/((?:[^/\\\n[*]|\\.|\[(?:[^\]\\\n]|\\.)*\])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])*)\/[a-z]*/g;

/**
 * Whether a search may read a long run of characters once for each of them: where an alternative ends in a repetition up
 * to the end of the text, and may begin anywhere in the run. It begins at `^`, or where a lookbehind says that no such
 * character is before it.
 */
const isQuadratic = (pattern: string): boolean =>
  alternativesOf(pattern).some(
    (alternative) => /[^\\][+*]\)?\$$/.test(alternative) && !/^\(*(\^|\?<!)/.test(alternative),
  );

/** What stands between the `|` that are in no group. */
function alternativesOf(pattern: string): string[] {
  const found: string[] = [];
  for (const piece of pattern.split(/(?<!\\)\|/)) {
    const last = found.at(-1);
    if (last !== undefined && count(last, '(') > count(last, ')'))
      found[found.length - 1] = `${last}|${piece}`;
    else found.push(piece);
  }
  return found;
}

const count = (text: string, character: string): number => text.split(character).length - 1;

const patternsIn = (code: string): string[] => Array.from(code.matchAll(literal), ([, pattern]) => pattern!);

describe('Regular expressions', () => {
  it.each([
    ['dots.replace(/\\.+$/, "")', true],
    ['/[ab]*$/.test(text)', true],
    ['/^a|\\W+$/g.exec(text)', true],
    ['/(x+)$/.exec(text)', true],
    ['/^\\s*$/.test(text)', false],
    ['/^(a|b+)$/.test(text)', false],
    ['/(?<!\\/)\\/+$/.test(text)', false],
    ['/\\d+/.exec(text)', false],
    ['(a / b) / c+$', false],
  ])('that read a run over and over are recognised: %s', (code, expected) => {
    expect(patternsIn(code).some(isQuadratic)).toBe(expected);
  });

  it('of packages and apps are none of them', () => {
    const sources = workspaces().flatMap(({ folder }) => sourceFiles(`${folder}/src`));
    const found = sources.flatMap(({ path, text }) =>
      patternsIn(codeOnly(text))
        .filter(isQuadratic)
        .map((pattern) => `${path}: ${pattern}`),
    );
    expect(found).toEqual([]);
    // Otherwise the search could be for nothing.
    expect(sources.flatMap(({ text }) => patternsIn(codeOnly(text))).length).toBeGreaterThan(80);
  });
});
