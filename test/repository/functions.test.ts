import { describe, expect, it } from 'vitest';
import { functionsOf } from './functions.ts';
import { sourceFiles, workspaces } from './source-files.ts';

const maximumLines = 60;
const maximumDepth = 4;

/** Functions over the limit of lines, each with the reason why splitting it would make it harder to read. */
const longFunctions: Record<string, string> = {
  'packages/store-postgres/src/database/schema.ts: tables':
    'It is a list of statements, one for each table and index.',
  'packages/client/src/following/task-stream.ts: follow':
    'Its loop decides by what it has seen of the connection.',
};

/** Functions that nest deeper, each with the reason. */
const deepFunctions: Record<string, string> = {
  'packages/client/src/following/task-stream.ts: follow':
    'Its loop decides by what it has seen of the connection.',
};

const functions = workspaces()
  .filter(({ folder }) => folder.startsWith('packages/'))
  .flatMap(({ folder }) => sourceFiles(`${folder}/src`).flatMap(functionsOf));

describe('functions', () => {
  it(`have at most ${maximumLines} lines, or a reason`, () => {
    const long = functions.filter(({ lines }) => lines > maximumLines);
    expect(long.map(({ name }) => name).sort()).toEqual(Object.keys(longFunctions).sort());
  });

  it(`nest at most ${maximumDepth} levels deep, or have a reason`, () => {
    const deep = functions.filter(({ depth }) => depth > maximumDepth);
    expect(deep.map(({ name }) => name).sort()).toEqual(Object.keys(deepFunctions).sort());
  });

  it('that pass a limit say why in a sentence', () => {
    const reasons = [...Object.values(longFunctions), ...Object.values(deepFunctions)];
    expect(reasons.filter((reason) => reason.split(' ').length < 5)).toEqual([]);
  });
});

describe('the size of a function', () => {
  const sizeOf = (text: string) =>
    functionsOf({ path: 'a.ts', text }).map(({ name, lines, depth }) => [name, lines, depth]);

  it('has its own lines, and those of the callbacks in it', () => {
    expect(sizeOf('function a() {\n  b((x) => {\n    x();\n  });\n}')).toEqual([
      ['a.ts: a function without a name', 3, 0],
      ['a.ts: a', 5, 0],
    ]);
  });

  it('leaves out the functions in it that have a name', () => {
    const text =
      'const a = () => {\n  const b = () => {\n    c();\n  };\n  return {\n    d() {\n      b();\n    },\n  };\n};';
    expect(sizeOf(text)).toEqual([
      ['a.ts: b', 3, 0],
      ['a.ts: d', 3, 0],
      ['a.ts: a', 4, 0],
    ]);
  });

  it('counts the levels of what decides and repeats, and `else if` as the level of its `if`', () => {
    const text =
      'function a() {\n for (;;) {\n  try {\n   if (b) {\n   } else if (c) {\n    while (d);\n   }\n  } catch {}\n }\n}';
    expect(sizeOf(text)).toEqual([['a.ts: a', 10, 4]]);
    expect(sizeOf('class A {\n  #a() {\n    if (b) c(() => {\n      if (d);\n    });\n  }\n}')).toEqual([
      ['a.ts: a function without a name', 3, 1],
      ['a.ts: a', 5, 1],
    ]);
  });
});
