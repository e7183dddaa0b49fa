import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** How many bytes these packages take on disk when installed: their files, and those of all they depend on, each once. */
export function installedSize(names: readonly string[], from: string): number {
  const found = new Set<string>();
  for (const name of names) collect(name, from, found);
  return [...found].reduce((sum, folder) => sum + sizeOf(folder), 0);
}

function collect(name: string, from: string, found: Set<string>): void {
  const folder = find(name, from);
  if (found.has(folder)) return;
  found.add(folder);
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf(folder);
  const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
  for (const dependency of [...Object.keys(dependencies), ...peers]) collect(dependency, folder, found);
}

function find(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(candidate)) return realpathSync(candidate);
    if (folder === dirname(folder)) throw new Error(`${name} is not installed for ${from}`);
  }
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function sizeOf(folder: string): number {
  const { files } = manifestOf(folder);
  // Of our own packages, what would be published.
  const isOurs = !folder.includes('node_modules');
  const names = isOurs ? ['package.json', 'README.md', ...(files ?? [])] : readdirSync(folder);
  return names.reduce((sum, name) => sum + bytesIn(join(folder, name)), 0);
}

function bytesIn(path: string): number {
  if (path.endsWith('node_modules') || !existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}
