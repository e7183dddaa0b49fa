import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

/** One import or re-export as it is written; `typeOnly` ones leave no trace in the JavaScript. */
export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** One TypeScript file; its path is relative to the repository and has forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** One folder of `packages/` or `apps/`. */
export interface Workspace {
  readonly name: string;
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The members of a package.json that the architecture depends on. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly homepage?: string;
  readonly repository?: { readonly type: string; readonly url: string; readonly directory?: string };
  readonly scripts?: Record<string, string>;
  /** Programs by name. */
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Record<string, string | Record<string, string>>;
  readonly imports?: Readonly<Record<string, unknown>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Every folder of `packages/` and `apps/` that has a package.json. */
export function workspaces(): Workspace[] {
  return ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent))
      .map((name) => ({ name, folder: `${parent}/${name}` }))
      .filter(({ folder }) => existsSync(join(root, folder, 'package.json')))
      .map((found) => ({ ...found, manifest: readManifest(found.folder) })),
  );
}

/** Every `.ts` and `.tsx` file below a folder, installed and built ones left out; none when the folder is missing. */
export function sourceFiles(folder: string): SourceFile[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
    .map(readSource);
}

/** Every page of Markdown that is written here, as a path in the repository: none that is installed or generated. */
export function documents(): string[] {
  const generated = /^docs\/(node_modules|reference)$/;
  return ['*.md', 'docs/**/*.md', '{packages,apps}/*/README.md'].flatMap((pattern) =>
    globSync(pattern, { cwd: root, exclude: (path) => generated.test(path.replaceAll('\\', '/')) }),
  );
}

/** The text of a file; the path is relative to the repository. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Reads one file of TypeScript; the path is relative to the repository. */
export function readSource(path: string): SourceFile {
  const text = readText(path);
  return { path, text, imports: importsOf(text) };
}

/** The comments of a file: blocks and docstrings whole, line comments one by one. */
export function commentsOf(text: string): string[] {
  return text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? [];
}

/** The code without its comments and without the text between quotes. */
export function codeOnly(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replace(/\/\/.*$/gm, '');
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readText(`${folder}/package.json`));
}

function importsOf(text: string): Import[] {
  const declared = text.matchAll(
    /^(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"\n]+)['"]/gm,
  );
  const called = text.matchAll(/\bimport\(\s*['"]([^'"\n]+)['"]/g);
  return [
    ...Array.from(declared, ([, type, specifier]) => ({
      specifier: specifier!,
      typeOnly: type !== undefined,
    })),
    ...Array.from(called, ([, specifier]) => ({ specifier: specifier!, typeOnly: false })),
  ];
}
