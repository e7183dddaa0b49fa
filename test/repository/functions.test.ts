import { parseSync } from 'vite';
import { expect, it } from 'vitest';
import { sourceFiles, workspaces } from './source-files.ts';

/** Lines of one function without those of the functions inside it, which are read on their own. */
const mostLines = 60;
/** How many branches, loops and `try` one statement may stand in. */
const mostLevels = 4;

/** Functions that are longer or deeper, with the reason. */
const reasons: Readonly<Record<string, string>> = {
  'packages/client/src/following/task-stream.ts': 'Parts of this loop would share a dozen variables',
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

const isNode = (value: unknown): value is Node => typeof Object(value).type === 'string';
const isFunction = ({ type }: Node) => /^(Arrow)?Function(Expression|Declaration)?$/.test(type);
const isLevel = ({ type }: Node) => /^(If|For|ForIn|ForOf|While|DoWhile|Switch|Try)Statement$/.test(type);

/** The parts of a node. An `else if` continues its `if`. */
const partsOf = (node: Node): Node[] =>
  Object.values(node)
    .flat()
    .filter(isNode)
    .flatMap((part) => (node.type === 'IfStatement' && part.type === 'IfStatement' ? partsOf(part) : [part]));

/** How long and how deep each function with a block is. */
function functionsIn(path: string, text: string) {
  const found: { readonly line: number; readonly lines: number; readonly levels: number }[] = [];
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const linesOf = ({ start, end }: Node) => lineAt(end) - lineAt(start) + 1;
  const measure = (body: Node): void => {
    let lines = linesOf(body);
    let levels = 0;
    const visit = (node: Node, level: number): void => {
      if (isFunction(node)) {
        lines -= linesOf(node) - 1;
        enter(node);
        return;
      }
      const depth = level + Number(isLevel(node));
      levels = Math.max(levels, depth);
      for (const part of partsOf(node)) visit(part, depth);
    };
    for (const part of partsOf(body)) visit(part, 0);
    found.push({ line: lineAt(body.start), lines, levels });
  };
  const enter = (node: Node): void => {
    const body = isFunction(node) && partsOf(node).find(({ type }) => type === 'BlockStatement');
    if (body) measure(body);
    else for (const part of partsOf(node)) enter(part);
  };
  for (const part of parseSync(path, text).program.body) if (isNode(part)) enter(part);
  return found;
}

it('functions are measured without those inside them', () => {
  const text = `function f() {
    const g = () => {
      if (a) for (const b of c) d();
      else if (e) h();
    };
    return g;
  }
  const i = [1,
    2];`;
  expect(functionsIn('a.ts', text)).toEqual([
    { line: 2, lines: 4, levels: 2 },
    { line: 1, lines: 4, levels: 0 },
  ]);
});

it('no function of a package is too long or too deep', () => {
  const found = workspaces()
    .filter(({ folder }) => folder.startsWith('packages/'))
    .flatMap(({ folder }) => sourceFiles(`${folder}/src`))
    // The markup of a page is no path of code.
    .filter(({ path }) => path.endsWith('.ts'))
    .flatMap(({ path, text }) => functionsIn(path, text).map((measured) => ({ path, ...measured })));
  expect(found.length).toBeGreaterThan(1_000);
  const tooMuch = found.filter(({ lines, levels }) => lines > mostLines || levels > mostLevels);
  expect(
    tooMuch.map(({ path, line, lines, levels }) => `${path}:${line} ${lines} lines, ${levels} levels`),
  ).toEqual(Object.keys(reasons).map((path) => expect.stringMatching(path)));
});
