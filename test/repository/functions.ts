import { parseSync } from 'vite';
import type { SourceFile } from './source-files.ts';

/** A function of a file. */
export interface FunctionSize {
  /** Its path and its name, or that of the variable or member that holds it. */
  readonly name: string;
  readonly line: number;
  /** Lines, without those of the named functions in it: a function that returns methods is read like a class. */
  readonly lines: number;
  /** How many statements that decide or repeat stand in each other, at most. */
  readonly depth: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** A function that is being read. */
interface Open {
  readonly name: string;
  readonly line: number;
  lines: number;
  depth: number;
}

/** The functions of a file, in the order in which they end. */
export function functionsOf({ path, text }: Pick<SourceFile, 'path' | 'text'>): FunctionSize[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message}`);
  const starts = [...text.matchAll(/\n/g)].map(({ index }) => index);
  const lineOf = (offset: number) => {
    const next = starts.findIndex((start) => start >= offset);
    return (next === -1 ? starts.length : next) + 1;
  };
  const sizes: FunctionSize[] = [];

  const visit = (node: Node, parent: Node | undefined, open: readonly Open[], depth: number): void => {
    const isFunction = functionTypes.has(node.type) && isNode(node.body);
    const line = isFunction ? lineOf(node.start) : 0;
    const name = isFunction ? nameOf(node, parent) : undefined;
    const lines = isFunction ? lineOf(node.end) - line + 1 : 0;
    if (name !== undefined) for (const outer of open) outer.lines -= lines;
    const own: Open = { name: `${path}: ${name ?? 'a function without a name'}`, line, lines, depth: 0 };
    // The lines of a callback stay those of the functions around it.
    const inside = isFunction ? [...(name === undefined ? open : []), own] : open;
    const isDeeper = nestingTypes.has(node.type) && !isElseIf(node, parent);
    const level = isFunction ? 0 : depth + (isDeeper ? 1 : 0);
    const [innermost] = inside.slice(-1);
    if (innermost) innermost.depth = Math.max(innermost.depth, level);
    for (const child of childrenOf(node)) visit(child, node, inside, level);
    if (isFunction) sizes.push(own);
  };
  visit(program as unknown as Node, undefined, [], 0);
  return sizes;
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const nestingTypes = new Set(
  ['If', 'For', 'ForIn', 'ForOf', 'While', 'DoWhile', 'Switch', 'Try'].map((name) => `${name}Statement`),
);

const isElseIf = (node: Node, parent: Node | undefined): boolean =>
  node.type === 'IfStatement' && parent?.type === 'IfStatement' && parent.alternate === node;

/** The name of a declaration, a method or a variable; undefined for a function that is passed on. */
function nameOf(node: Node, parent: Node | undefined): string | undefined {
  const holder = node.type === 'FunctionDeclaration' ? node.id : (parent?.key ?? parent?.id);
  return isNode(holder) ? String(holder.name ?? holder.value) : undefined;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const childrenOf = (node: Node): Node[] =>
  Object.entries(node)
    .filter(([member]) => member !== 'parent')
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
