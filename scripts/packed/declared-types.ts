import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { root } from './pack.ts';

/**
 * What the declarations of a built package, as its entries reach them, import that its users would not have: a package that
 * its manifest does not declare, or one whose types are in another package, `@types/…`, that it does not declare.
 */
export function undeclaredTypes(path: string): string[] {
  const manifest = readFileSync(join(path, 'package.json'), 'utf8');
  const { name: own, dependencies, peerDependencies } = JSON.parse(manifest);
  const declared: Readonly<Record<string, string>> = { ...dependencies, ...peerDependencies };
  const files = new Set(
    Array.from(manifest.matchAll(/"(\.\/dist\/[^"]+\.d\.ts)"/g), ([, file]) => join(path, file!)),
  );
  const others = new Set<string>();
  for (const file of files)
    for (const name of importsIn(file))
      if (name.startsWith('.')) files.add(join(file, '..', name.replace(/(\.d)?\.[jt]sx?$/, '.d.ts')));
      else others.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)![0]);
  return [...others].flatMap((name) => {
    if (name === own || name.startsWith('#') || isBuiltin(name)) return [];
    const types = `@types/${name.replace(/^@(.+)\//, '$1__')}`;
    const isTypedElsewhere = [path, root].some((from) => existsSync(join(from, 'node_modules', types)));
    const needed = isTypedElsewhere ? types : name;
    return declared[needed] === undefined ? [`Its types need ${needed}, which it does not declare`] : [];
  });
}

/** What a file of declarations imports. */
function importsIn(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
  const named = text.matchAll(/(?:\bfrom |\bimport\(|^import |<reference types=)["']([^"']+)["']/gm);
  return Array.from(named, ([, name = '']) => name);
}
