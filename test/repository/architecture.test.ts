import { basename, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCycles, importGraph } from './import-cycles.ts';
import { arrows, foreignImports, layerOf, layersOf, roomOf, roomsOf, top } from './rooms.ts';
import { codeOnly, readSource, readText, type SourceFile, sourceFiles, workspaces } from './source-files.ts';

const scope = '@batonjs/';

/** Files over 300 lines, each with the reason why splitting it would make it harder to read. */
const longFiles: Record<string, string> = {};

/** Packages whose folders are not settled: their rooms, the size of their folders and their cycles are not checked. */
const unsettled: readonly string[] = [];

const maximumLines = 300;
const maximumFiles = 14;
const members = workspaces();
const sources = members.flatMap(({ folder }) => sourceFiles(`${folder}/src`));
const lineCount = (file: SourceFile) => file.text.split('\n').length - 1;

const page = readText('docs/packages.md');

/** The names in the first column of a page's tables. */
const rowsOf = (text: string) => Array.from(text.matchAll(/^\| `([^`]+)` \|/gm), ([, row]) => row);

const ours = (file: SourceFile) => file.imports.filter(({ specifier }) => specifier.startsWith(scope));
const packageOf = (specifier: string) => specifier.slice(scope.length).split('/')[0]!;

describe('the arrows', () => {
  it('have a row for every package and app, and no row for anything else', () => {
    expect([...arrows.keys()].sort()).toEqual(members.map(({ name }) => name).sort());
  });

  it.each(members)('$folder is named after its folder', ({ name, manifest }) => {
    // `npm create baton` looks for a package of this name.
    expect(manifest.name).toBe(name === 'create-baton' ? name : scope + name);
  });

  it.each(members)('$folder declares exactly the dependencies of its row', ({ name, manifest }) => {
    const declared = Object.keys(manifest.dependencies ?? {}).filter((other) => other.startsWith(scope));
    expect(declared.map(packageOf).sort()).toEqual([...(arrows.get(name)?.imports ?? [])].sort());
  });

  it.each(members)('$folder imports only along its row', ({ name, folder }) => {
    const allowed = new Set(arrows.get(name)?.imports);
    const foreign = sourceFiles(`${folder}/src`).flatMap((file) =>
      ours(file)
        .filter(({ specifier }) => !allowed.has(packageOf(specifier)))
        .map(({ specifier }) => `${file.path} → ${specifier}`),
    );
    expect(foreign).toEqual([]);
  });

  it.each(members)('$folder reaches other packages by name, never by a relative path', ({ folder }) => {
    const escaping = sourceFiles(`${folder}/src`).flatMap((file) =>
      file.imports
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => posix.join(posix.dirname(file.path), specifier))
        .filter((target) => !target.startsWith(`${folder}/`))
        .map((target) => `${file.path} → ${target}`),
    );
    expect(escaping).toEqual([]);
  });

  it.each(['server-node', 'server-express', 'server-fastify', 'server-hono'])(
    'let %s know server by its types only',
    (adapter) => {
      const values = sourceFiles(`packages/${adapter}/src`)
        .flatMap(ours)
        .filter(({ specifier, typeOnly }) => specifier === '@batonjs/server' && !typeOnly);
      expect(values).toEqual([]);
    },
  );

  it('never point at a package that points back', () => {
    expect(importCycles(new Map([...arrows].map(([name, { imports }]) => [name, imports])))).toEqual([]);
  });
});

describe('folders', () => {
  const settled = members
    .filter(({ name }) => !unsettled.includes(name))
    .map((member) => ({ ...member, rooms: roomsOf(member.name) }));

  it.each(settled)(`of $folder hold at most ${maximumFiles} files`, ({ folder }) => {
    const files = Map.groupBy(sourceFiles(`${folder}/src`), ({ path }) => posix.dirname(path));
    const crowded = [...files].filter(([, { length }]) => length > maximumFiles);
    expect(crowded.map(([name, { length }]) => `${name}: ${length}`)).toEqual([]);
  });

  it.each(settled)('of $folder are those of its row', ({ rooms, folder }) => {
    const found = new Set(sourceFiles(`${folder}/src`).map(({ path }) => roomOf(path)));
    found.delete(top);
    expect([...rooms.keys()].sort()).toEqual([...found].sort());
  });

  it.each(settled)('of $folder import each other only along its row', ({ rooms, folder }) => {
    expect(foreignImports(sourceFiles(`${folder}/src`), rooms)).toEqual([]);
  });

  it.each(settled)('of $folder never import each other in a circle', ({ rooms }) => {
    const inner = [...rooms].map(
      ([folder, others]) => [folder, others.filter((other) => other !== top)] as const,
    );
    expect(importCycles(new Map(inner))).toEqual([]);
  });

  it.each(settled)('of $folder import only layers that stand above them in its row', ({ rooms }) => {
    const layers = [...layersOf(rooms)];
    const upward = layers.flatMap(([layer, others], index) =>
      others
        .filter((other) => !layers.slice(0, index).some(([above]) => above === other))
        .map((other) => `${layer} → ${other}`),
    );
    expect(upward).toEqual([]);
  });
});

describe('the folders of server', () => {
  const rooms = roomsOf('server');
  const paths = sourceFiles('packages/server/src').map(({ path }) => path);

  it('make seven layers', () => {
    expect(layersOf(rooms).size).toBe(7);
  });

  it('have at most six files beside them', () => {
    const loose = paths.filter((path) => layerOf(path) === top);
    expect(loose.length, loose.join(' ')).toBeLessThanOrEqual(6);
  });

  it('stand on the page of packages with what they hold, and so do the layers, in their order', () => {
    expect(rowsOf(page.split('## The folders of `server`')[1]!)).toEqual([
      ...rooms.keys(),
      ...layersOf(rooms).keys(),
    ]);
  });
});

describe('files that import each other', () => {
  it.each(members)('in $folder/src never do so in a circle, types included', ({ name, folder }) => {
    if (unsettled.includes(name)) return;
    expect(importCycles(importGraph(sourceFiles(`${folder}/src`)))).toEqual([]);
  });

  it('are found in each circle, and only there', () => {
    const graph = { start: ['a'], a: ['b'], b: ['c', 'end'], c: ['a'], end: [], self: ['self'] };
    expect(importCycles(new Map(Object.entries(graph)))).toEqual([['a', 'b', 'c'], ['self']]);
  });
});

describe('every package', () => {
  const packages = members.filter(({ folder }) => folder.startsWith('packages/'));

  it.each(members)('is linked from the README: $folder', ({ folder }) => {
    expect(readText('README.md')).toContain(`](${folder})`);
  });

  it('is not what a beginner chooses from: the README shows six', () => {
    const rows = readText('README.md').match(/^\| \[`[\w.-]+`\]\(packages\/[\w.-]+\) \|/gm) ?? [];
    expect(rows).toHaveLength(6);
  });

  it.each(packages)('stands on the page of packages: $folder', ({ name }) => {
    expect(rowsOf(page)).toContain(name);
  });
});

describe('lifecycle', () => {
  const impure =
    /\b(async|await|Promise|Date|setTimeout|setInterval|queueMicrotask|performance|crypto|process)\b|\bMath\.random\b/g;

  it('has no I/O, no clock, no randomness and nothing asynchronous', () => {
    const found = sourceFiles('packages/lifecycle/src').flatMap((file) =>
      Array.from(codeOnly(file.text).matchAll(impure), ([word]) => `${file.path}: ${word}`),
    );
    expect(found).toEqual([]);
  });

  it('imports nothing from Node.js', () => {
    const builtins = sourceFiles('packages/lifecycle/src')
      .flatMap(({ imports }) => imports)
      .filter(({ specifier }) => specifier.startsWith('node:'));
    expect(builtins).toEqual([]);
  });
});

describe('a browser', () => {
  it.each(['client', 'bindings', 'bindings-v0-3', 'auth'])(
    'that loads %s loads neither zod nor Node.js',
    (name) => {
      const loaded = loadedFrom(`packages/${name}/src/index.ts`);
      expect([...loaded].filter((specifier) => /^(zod|node:)/.test(specifier))).toEqual([]);
    },
  );
});

it('a program that loads the client of ai-sdk loads no server', () => {
  const loaded = loadedFrom('packages/ai-sdk/src/client.ts');
  expect([...loaded].filter((path) => path.startsWith('packages/server/'))).toEqual([]);
});

it('a browser that loads the client of the task gateway loads no other package', () => {
  const loaded = loadedFrom('packages/task-gateway/src/client.ts');
  expect([...loaded].filter((path) => !path.startsWith('packages/task-gateway/src/'))).toEqual([]);
});

describe('files', () => {
  it(`have at most ${maximumLines} lines, or a reason`, () => {
    const files = [...sources, ...sourceFiles('scripts'), ...sourceFiles('bench')];
    const long = files.filter((file) => lineCount(file) > maximumLines).map(({ path }) => path);
    expect(long.sort()).toEqual(Object.keys(longFiles).sort());
  });

  it('that are long say why in a sentence', () => {
    expect(Object.values(longFiles).filter((reason) => reason.split(' ').length < 5)).toEqual([]);
  });

  it('have kebab-case names that say a noun or a verb', () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.tsx?$/;
    const vague = /(^|-)(managers?|helpers?|utils?|utilities|impl|common|misc|base|default|abstract)(-|\.)/;
    const names = sources.map(({ path }) => path);
    expect(names.filter((path) => !kebab.test(basename(path)) || vague.test(basename(path)))).toEqual([]);
    expect(names.filter((path) => /\/(common|utils?|helpers?|misc)\//.test(path))).toEqual([]);
  });

  it('export no name that only says that something is general', () => {
    const vague =
      /^export\s+(?:abstract\s+|async\s+)?(?:class|function\*?|const|let|interface|type)\s+(\w*(?:Manager|Helper|Utils?|Impl)|(?:Base|Default|Abstract)[A-Z]\w*)\b/gm;
    const found = sources.flatMap((file) =>
      Array.from(file.text.matchAll(vague), ([, name]) => `${file.path}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  it('hold no tests in src', () => {
    expect(sources.map(({ path }) => path).filter((path) => path.includes('.test.'))).toEqual([]);
  });
});

describe('a published manifest', () => {
  const published = members.filter(({ manifest }) => !manifest.private);

  it.each(published)('$folder says what it is and where it comes from', ({ folder, manifest }) => {
    const { description, keywords, homepage, repository } = manifest;
    expect(description).toMatch(/\.$/);
    expect(keywords).toEqual(expect.arrayContaining(['a2a', 'agent']));
    // Package sites resolve the relative links of a README against these.
    const at = 'https://github.com/batonjs/baton';
    expect(repository).toEqual({ type: 'git', url: `git+${at}.git`, directory: folder });
    expect(homepage).toBe(`${at}/tree/main/${folder}#readme`);
  });
});

describe('entries', () => {
  const entries = members.flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {})
      .filter(([subpath]) => !subpath.endsWith('.css'))
      .map(([subpath, target]) => ({
        entry: posix.join(folder, subpath),
        path: posix.join(folder, typeof target === 'string' ? target : (target['@batonjs/source'] ?? '')),
      })),
  );

  // The names that each has are listed in `test/api`.
  it.each(entries)('$entry has no default export, and passes on whole files of its own only', ({ path }) => {
    const { text } = readSource(path);
    expect(codeOnly(text)).not.toMatch(/^export\s+default/m);
    expect(text).not.toMatch(/^export\s+(type\s+)?\*\s+from\s+'(?!\.)/m);
  });
});

/** Every specifier that running a file makes JavaScript load, through our own packages' sources. */
function loadedFrom(entry: string): Set<string> {
  const loaded = new Set<string>();
  const visit = (path: string) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { specifier, typeOnly } of readSource(path).imports) {
      if (typeOnly) continue;
      if (specifier.startsWith('.')) visit(posix.join(posix.dirname(path), specifier));
      else if (specifier.startsWith(scope)) visit(sourceOf(specifier));
      else loaded.add(specifier);
    }
  };
  visit(entry);
  return loaded;
}

function sourceOf(specifier: string): string {
  const { folder, manifest } = members.find(({ name }) => name === packageOf(specifier))!;
  const subpath = `.${specifier.slice(manifest.name.length)}`;
  const target = manifest.exports?.[subpath];
  if (target === undefined) throw new Error(`${specifier} is not exported`);
  return posix.join(folder, typeof target === 'string' ? target : target['@batonjs/source']!);
}
