import { posix } from 'node:path';
import type { SourceFile } from './source-files.ts';

/** Which files each file imports by a relative path, types included; every path is relative to the repository. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** The relative imports among `files`; what points at other files is left out. */
export function importGraph(files: readonly SourceFile[]): ImportGraph {
  const known = new Set(files.map(({ path }) => path));
  return new Map(files.map((file) => [file.path, localImports(file).filter((target) => known.has(target))]));
}

/** The files that a file imports by a relative path, each once. */
export function localImports({ path, imports }: SourceFile): string[] {
  const relative = imports.map(({ specifier }) => specifier).filter((specifier) => specifier.startsWith('.'));
  return [...new Set(relative.map((specifier) => posix.join(posix.dirname(path), specifier)))];
}

/**
 * The groups of files that reach themselves over imports: one sorted list for each group in which every file imports
 * every other, directly or through the group. No groups means no cycles.
 */
export function importCycles(graph: ImportGraph): string[][] {
  const reached = new Map([...graph.keys()].map((path) => [path, reachedFrom(graph, path)]));
  const reach = (from: string, to: string): boolean => reached.get(from)!.has(to);
  const inCycle = [...graph.keys()].filter((path) => reach(path, path)).sort();
  const groups = inCycle.map((path) => inCycle.filter((other) => reach(path, other) && reach(other, path)));
  return groups.filter(([first], index) => inCycle[index] === first);
}

/** Every file that imports of `start` lead to; `start` is among them only if it lies on a cycle. */
function reachedFrom(graph: ImportGraph, start: string): Set<string> {
  const found = new Set<string>();
  const waiting = [...graph.get(start)!];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    waiting.push(...graph.get(path)!);
  }
  return found;
}
