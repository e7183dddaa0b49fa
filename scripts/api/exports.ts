import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOnly, root, type Workspace, workspaces } from '../../test/repository/source-files.ts';

/** A name that an entry exports. A class is both a value and a type, and so is a schema with its type. */
export interface Export {
  readonly name: string;
  readonly kinds: readonly Kind[];
}

/** Whether a name can be used in code that runs, in types, or in both. */
export type Kind = 'type' | 'value';

const declaration = (start: string) =>
  new RegExp(
    `${start}(?:abstract\\s+)?(?:async\\s+)?(class|const|let|enum|function\\*?|interface|type)\\s+(\\w+)`,
    'gm',
  );
const list = /^export\s+(type\s+)?\{([^}]*)\}(?:\s*from\s*'([^']+)')?/gm;

/** The exports of a file, in the order of their names. */
export function exportsOf(path: string): Export[] {
  const code = readFileSync(path, 'utf8');
  const kinds = new Map<string, Set<Kind>>();
  const add = (name: string, kind: Kind) => kinds.set(name, (kinds.get(name) ?? new Set()).add(kind));
  for (const [, word = '', name = ''] of codeOnly(code).matchAll(declaration('^export\\s+')))
    for (const kind of kindsBy(word)) add(name, kind);
  for (const [, allTypes, names = '', from] of code.matchAll(list)) {
    for (const entry of names.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').split(',')) {
      const [, type, source, alias] = /^(type\s+)?(\w+)(?:\s+as\s+(\w+))?$/.exec(entry.trim()) ?? [];
      if (source === undefined) continue;
      const name = alias ?? source;
      for (const kind of allTypes || type ? ['type' as const] : kindsOf(path, code, source, from))
        add(name, kind);
    }
  }
  for (const [, from = ''] of code.matchAll(/^export\s+(?:type\s+)?\*\s+from\s+'([^']+)'/gm))
    for (const { name, kinds } of exportsOf(resolve(path, from))) for (const kind of kinds) add(name, kind);
  return [...kinds]
    .map(([name, found]) => ({ name, kinds: [...found].sort() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The kinds of a name by the word that declares it. */
function kindsBy(word: string): readonly Kind[] {
  if (word === 'class' || word === 'enum') return ['type', 'value'];
  return word === 'interface' || word === 'type' ? ['type'] : ['value'];
}

/** The kinds of a name that a list of a file exports: imported into the file, exported from another, or declared in it. */
function kindsOf(
  path: string,
  code: string,
  name: string,
  exportedFrom: string | undefined,
): readonly Kind[] {
  const from = exportedFrom ?? importedFrom(code, name);
  if (from !== undefined) {
    const found = exportsOf(resolve(path, from)).find((one) => one.name === name);
    if (!found) throw new Error(`${path} exports ${name}, which ${from} does not have`);
    return found.kinds;
  }
  const declared = codeOnly(code).matchAll(declaration('^'));
  return Array.from(declared).flatMap(([, word = '', other]) => (other === name ? kindsBy(word) : []));
}

function importedFrom(code: string, name: string): string | undefined {
  for (const [, names = '', from] of code.matchAll(/^import\s*\{([^}]*)\}\s*from\s*'([^']+)'/gm))
    if (names.split(',').some((one) => one.trim() === name)) return from;
  return undefined;
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  const found = workspaces().find(({ manifest }) => `${specifier}/`.startsWith(`${manifest.name}/`));
  const entry = found && entriesOf(found).find(({ name }) => name === specifier);
  if (!entry) throw new Error(`${from} exports names of ${specifier}, which is no entry of ours`);
  return entry.path;
}

/** The entries of a package: the specifier under which each is imported, and its source. Style sheets have no names. */
export function entriesOf({ folder, manifest }: Workspace): { name: string; path: string }[] {
  const entries = Object.entries(manifest.exports ?? {}).filter(([subpath]) => !subpath.endsWith('.css'));
  return entries.map(([subpath, target]) => ({
    name: manifest.name + subpath.slice(1),
    path: join(root, folder, typeof target === 'string' ? target : (target['@batonjs/source'] ?? '')),
  }));
}
