import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputError, oldestNode, type Project } from './choices.ts';
import type { Installer } from './installer.ts';

const packageRoot = new URL('../', import.meta.url);

/** npm leaves these out of packages under their real names. */
const renamed: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  dockerignore: '.dockerignore',
  'env.example': '.env.example',
};

/** Folders whose names begin with a dot in a project. */
const hiddenFolder = /^(agents|github)(?=\/)/;

/** What `part.json` says of a folder of templates. A later folder adds to what earlier ones say, or takes the place of it. */
interface Part {
  /** Below `templates`. */
  readonly folder: string;
  /** The folder that comes before it. */
  readonly follows?: string;
  readonly dependencies?: readonly string[];
  readonly devDependencies?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  /** Files, packages and scripts of earlier folders that are not in the project. */
  readonly without?: readonly string[];
  /** Lines of `.env.example`. */
  readonly variables?: readonly string[];
  /** Lines of the README about settings. */
  readonly settings?: readonly string[];
  /** What the compose file starts beside the agent. */
  readonly services?: string;
  /** What its owner runs after the tests. */
  readonly steps?: readonly string[];
}

/** What this package does not need for its own tests. */
const larger: Readonly<Record<string, string>> = { next: '^16.4.6', wrangler: '^4.164.0' };

function partsBelow(folder: string): readonly Part[] {
  const file = fileURLToPath(new URL(`templates/${folder}/part.json`, packageRoot));
  if (!existsSync(file)) return [];
  const part = { ...JSON.parse(readFileSync(file, 'utf8')), folder };
  return [...(part.follows ? partsBelow(part.follows) : []), part];
}

/** What a project is made of. Later ones replace files of earlier ones. */
function partsOf({ store, template, host }: Omit<Project, 'folder'>): readonly Part[] {
  const own = partsBelow(`hosts/${host}-${template}`);
  return [
    ...['shared', `stores/${store}`, `agents/${template}`].flatMap(partsBelow),
    ...(own.length > 0 ? own : partsBelow(`hosts/${host}`)),
    ...(host ? partsBelow(`hosts/${store}`) : []),
  ];
}

/** What the owner of a new project runs after its tests. */
export const nextSteps = (project: Omit<Project, 'folder'>, { run }: Installer): readonly string[] =>
  (partsOf(project).findLast(({ steps }) => steps)?.steps ?? []).map((step) => step.replace('{{run}}', run));

/** The files of a project by their path in it, with `/`. Its README runs scripts as the installer does. */
export function projectFiles(
  name: string,
  project: Omit<Project, 'folder'>,
  installer: Installer,
): ReadonlyMap<string, string> {
  const parts = partsOf(project);
  const linesOf = (which: 'settings' | 'variables') =>
    parts.flatMap((part) => part[which] ?? []).map((line) => `${line}\n`);
  const values: Readonly<Record<string, string>> = {
    name,
    title: titleOf(name),
    run: installer.run,
    services: parts.map(({ services = '' }) => services).join(''),
    settings: linesOf('settings').join(''),
    node: oldestNode,
    frozen: installer.frozen,
    variables: linesOf('variables').join(''),
    // That of the store is the first.
    storeVariable: /\w+(?==)/.exec(linesOf('variables').join(''))?.[0] ?? '',
  };
  const files = new Map<string, string>();
  for (const { folder, without = [] } of parts) {
    for (const path of without) files.delete(path);
    const root = fileURLToPath(new URL(`templates/${folder}/`, packageRoot));
    for (const path of filesBelow(root)) {
      if (path === 'part.json') continue;
      const text = readFileSync(join(root, path), 'utf8');
      files.set(
        renamed[path] ?? path.replace(hiddenFolder, '.$1'),
        text.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => values[key] ?? ''),
      );
    }
  }
  files.set('package.json', manifest(name, parts));
  // A key of its own, so that it starts at once and is open to no one else.
  if (project.template === 'express') files.set('.env', ownKey(randomBytes(24).toString('hex')));
  return files;
}

const ownKey = (key: string): string =>
  `API_KEYS=me:${key}\nAPI_KEY=${key}\n# For trying webhooks on one machine.\nWEBHOOK_HOSTS=localhost:*\n`;

const filesBelow = (root: string, folder = ''): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });

/**
 * The manifest of a project. Its versions are those of this package's own `devDependencies`, which name the releases of
 * the workspace once this package is packed.
 */
function manifest(name: string, parts: readonly Part[]): string {
  const own = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8'));
  const [packages, scripts] = [
    new Map<string, 'dependencies' | 'devDependencies'>(),
    new Map<string, string>(),
  ];
  for (const part of parts) {
    for (const each of part.without ?? []) for (const map of [packages, scripts]) map.delete(each);
    for (const each of part.devDependencies ?? []) packages.set(each, 'devDependencies');
    for (const each of part.dependencies ?? []) packages.set(each, 'dependencies');
    for (const [each, command] of Object.entries(part.scripts ?? {})) scripts.set(each, command);
  }
  const versions = (kind: string) =>
    Object.fromEntries(
      [...packages.keys()]
        .filter((each) => packages.get(each) === kind)
        .sort()
        .map((each) => [each, larger[each] ?? own.devDependencies[each]]),
    );
  const about = { name, version: '0.1.0', private: true, type: 'module' };
  return `${JSON.stringify(
    {
      ...about,
      engines: { node: `>=${oldestNode}` },
      scripts: Object.fromEntries(scripts),
      dependencies: versions('dependencies'),
      devDependencies: versions('devDependencies'),
    },
    undefined,
    2,
  )}\n`;
}

/** The most characters of a package's name. */
const longest = 214;
const refused: readonly string[] = ['node_modules', 'favicon.ico'];

/**
 * The name of the package in a folder below the working folder, which is the folder's own; that of the working folder for
 * `.`. Throws an `InputError` for a path, which could lead out of the working folder, and where no package may have the name.
 */
export function projectName(folder: string): string {
  const name = folder === '.' ? basename(resolve(folder)) : folder;
  if (name === '') throw new InputError('This folder has no name: choose one below it');
  if (/[/\\]/.test(name) || name === '..')
    throw new InputError(`"${name}" is a path: give the name of a new folder, or "." for this one`);
  if (name.length > longest)
    throw new InputError(`A name has at most ${longest} characters, not ${name.length}`);
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name) || refused.includes(name) || builtinModules.includes(name))
    throw new InputError(
      `"${name}" cannot be the name of a package: use lower-case letters, digits, ".", "-" and "_", a letter or digit first`,
    );
  return name;
}

/** The name for people: `my-agent` is `My agent`. */
export const titleOf = (name: string): string => {
  const words = name
    .split(/[._-]+/)
    .filter(Boolean)
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
