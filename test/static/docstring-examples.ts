import { commentsOf, readText, sourceFiles, type Workspace } from '../repository/source-files.ts';

/** A TypeScript example of a docstring, with the imports that it needs. */
export interface Example {
  /** The file that shows it, relative to the repository. */
  readonly path: string;
  readonly code: string;
}

/**
 * The examples in the docstrings of a package. An example may use every export of its package and of the package's
 * dependencies without an import, as a reader of the docstring does.
 */
export function docstringExamples(member: Workspace): Example[] {
  return sourceFiles(`${member.folder}/src`).flatMap(({ path, text }) =>
    commentsOf(text)
      .filter((comment) => comment.startsWith('/**'))
      .flatMap(examplesIn)
      .map((code) => ({ path, code: `${importsFor(code, member)}\n${code}` })),
  );
}

const examplesIn = (docstring: string): string[] => {
  const lines = docstring.replace(/^\s*\* ?/gm, '');
  return Array.from(lines.matchAll(/^```ts\n([\s\S]*?)^```$/gm), ([, code]) => code!);
};

/** The import lines for the names that an example uses and does not declare. */
function importsFor(code: string, { manifest }: Workspace): string {
  const used = new Set(code.match(/\b[A-Za-z_$][\w$]*\b/g));
  for (const [, declared] of code.matchAll(/\b(?:const|let|function\*?|class) (\w+)/g))
    used.delete(declared!);
  const packages = [manifest.name, ...Object.keys(manifest.dependencies ?? {})].filter((name) =>
    name.startsWith('@batonjs/'),
  );
  const lines: string[] = [];
  for (const name of packages) {
    const names = exportsOf(name).filter((each) => used.delete(each.replace('type ', '')));
    if (names.length > 0) lines.push(`import { ${names.join(', ')} } from '${name}';`);
  }
  return lines.join('\n');
}

/** The names that the main entry of a package exports, types as `type Name`. */
function exportsOf(name: string): string[] {
  const entry = readText(`packages/${name.slice('@batonjs/'.length)}/src/index.ts`);
  return Array.from(entry.matchAll(/^export (type )?\{([^}]*)\}/gm)).flatMap(([, type = '', names]) =>
    names!
      .split(',')
      .map((each) => each.trim().replace(/^(type )?.* as /, '$1'))
      .filter((each) => each !== '')
      .map((each) => (type && !each.startsWith('type ') ? type + each : each)),
  );
}
