import { basename, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCycles, importGraph } from './import-cycles.ts';
import { foreignImports, layerOf, layersOf, roomOf, roomsOf, top } from './rooms.ts';
import { codeOnly, readSource, readText, type SourceFile, sourceFiles, workspaces } from './source-files.ts';

const scope = '@batonjs/';

/** Who may import whom. A new package or app needs a row; a new arrow needs a reason that survives review. */
const arrows: Record<string, readonly string[]> = {
  protocol: [],
  lifecycle: ['protocol'],
  bindings: ['protocol'],
  'bindings-v0-3': ['bindings', 'protocol'],
  'bindings-grpc': ['bindings', 'protocol'],
  'bindings-websocket': ['bindings', 'protocol'],
  auth: ['protocol'],
  store: ['lifecycle', 'protocol'],
  'store-conformance': ['lifecycle', 'protocol', 'store'],
  'store-memory': ['store'],
  'store-sqlite': ['store'],
  'store-postgres': ['store'],
  'store-etcd': ['store'],
  'store-redis': ['store'],
  server: ['bindings', 'lifecycle', 'protocol', 'store'],
  operator: ['lifecycle', 'protocol', 'server', 'store'],
  testing: ['lifecycle', 'protocol', 'server', 'store'],
  'server-node': ['server'],
  'server-express': ['protocol', 'server', 'server-node'],
  'server-fastify': ['protocol', 'server', 'server-node'],
  'server-hono': ['protocol', 'server', 'server-node'],
  telemetry: ['client', 'protocol', 'server'],
  client: ['bindings', 'protocol'],
  oauth: ['client', 'protocol'],
  extensions: ['client', 'protocol', 'server'],
  'from-executor': ['protocol', 'server'],
  transactions: ['protocol', 'server'],
  'nested-tasks': ['client', 'extensions', 'lifecycle', 'protocol', 'server'],
  mcp: ['client', 'extensions', 'protocol', 'server'],
  'ai-sdk': ['client', 'extensions', 'nested-tasks', 'protocol', 'server'],
  react: ['client', 'protocol'],
  // It reads forms and errors of extensions, and its handler is mounted as an agent is.
  'ag-ui': ['client', 'extensions', 'protocol', 'server'],
  'create-baton': [],
  cli: [
    'auth',
    'bindings',
    'bindings-grpc',
    'bindings-v0-3',
    'client',
    'extensions',
    // `dev --mcp` serves tools for an assistant, and `baton mcp` is an agent of its own that calls the other one.
    'mcp',
    'nested-tasks',
    'oauth',
    'operator',
    'protocol',
    'server',
    'server-node',
    'store',
    'store-etcd',
    'store-memory',
    'store-postgres',
    'store-redis',
    'store-sqlite',
    'testing',
  ],
  'task-gateway': [
    'bindings',
    'bindings-websocket',
    'client',
    'extensions',
    'lifecycle',
    'nested-tasks',
    'protocol',
    'server',
    'store',
    'store-memory',
  ],
  inspector: [
    'auth',
    'bindings',
    'bindings-grpc',
    'bindings-v0-3',
    'client',
    'extensions',
    'lifecycle',
    'operator',
    'protocol',
    'server',
    'store',
  ],
  'sample-store': ['store', 'store-etcd', 'store-memory', 'store-postgres', 'store-redis', 'store-sqlite'],
  'expense-agent': ['client', 'extensions', 'server', 'server-node', 'sample-store', 'transactions'],
  'boat-designer': ['client', 'server', 'server-node', 'sample-store'],
  assistant: ['ai-sdk', 'client', 'server', 'server-node', 'sample-store'],
  concierge: ['client', 'nested-tasks', 'server', 'server-node', 'sample-store'],
  currency: ['client', 'server', 'server-node', 'sample-store'],
  'trip-planner': ['client', 'nested-tasks', 'server', 'server-node', 'sample-store'],
  'task-service': ['extensions', 'server', 'server-node', 'sample-store', 'task-gateway'],
  'two-servers': ['client', 'server', 'server-node', 'sample-store', 'telemetry'],
  chat: ['client', 'extensions', 'protocol', 'react', 'server'],
  gallery: [
    'assistant',
    'bindings-grpc',
    'bindings-v0-3',
    'bindings-websocket',
    'boat-designer',
    'chat',
    'client',
    'concierge',
    'currency',
    'expense-agent',
    'inspector',
    'sample-store',
    'server',
    'server-express',
    'task-gateway',
    'telemetry',
    'trip-planner',
  ],
};

/** Files over 300 lines, each with the reason why splitting it would make it harder to read. */
const longFiles: Record<string, string> = {};

/** Packages whose folders are not settled: their rooms, the size of their folders and their cycles are not checked. */
const unsettled: readonly string[] = [];

const maximumLines = 300;
const maximumFiles = 14;
const members = workspaces();
const sources = members.flatMap(({ folder }) => sourceFiles(`${folder}/src`));
const lineCount = (file: SourceFile) => file.text.split('\n').length - 1;

const ours = (file: SourceFile) => file.imports.filter(({ specifier }) => specifier.startsWith(scope));
const packageOf = (specifier: string) => specifier.slice(scope.length).split('/')[0]!;

describe('the arrows', () => {
  it('have a row for every package and app, and no row for anything else', () => {
    expect(Object.keys(arrows).sort()).toEqual(members.map(({ name }) => name).sort());
  });

  it.each(members)('$folder is named after its folder', ({ name, manifest }) => {
    // `npm create baton` looks for a package of this name.
    expect(manifest.name).toBe(name === 'create-baton' ? name : scope + name);
  });

  it.each(members)('$folder declares exactly the dependencies of its row', ({ name, manifest }) => {
    const declared = Object.keys(manifest.dependencies ?? {}).filter((other) => other.startsWith(scope));
    expect(declared.map(packageOf).sort()).toEqual([...(arrows[name] ?? [])].sort());
  });

  it.each(members)('$folder imports only along its row', ({ name, folder }) => {
    const allowed = new Set(arrows[name]);
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
    const visit = (name: string, path: readonly string[]): string[] =>
      path.includes(name)
        ? [[...path, name].join(' → ')]
        : (arrows[name] ?? []).flatMap((next) => visit(next, [...path, name]));
    expect(Object.keys(arrows).flatMap((name) => visit(name, []))).toEqual([]);
  });
});

const page = readText('docs/packages.md');

describe('folders', () => {
  const settled = members.filter(({ name }) => !unsettled.includes(name));
  const rooms = roomsOf(page);

  it.each(settled)(`of $folder hold at most ${maximumFiles} files`, ({ folder }) => {
    const files = Map.groupBy(sourceFiles(`${folder}/src`), ({ path }) => posix.dirname(path));
    const crowded = [...files].filter(([, { length }]) => length > maximumFiles);
    expect(crowded.map(([name, { length }]) => `${name}: ${length}`)).toEqual([]);
  });

  it.each(settled)('of $folder stand in the table of docs/packages.md', ({ name, folder }) => {
    const found = new Set(sourceFiles(`${folder}/src`).map(({ path }) => roomOf(path)));
    found.delete(top);
    expect([...(rooms.get(name)?.keys() ?? [])].sort()).toEqual([...found].sort());
  });

  it.each(settled)('of $folder import each other only along that table', ({ name, folder }) => {
    expect(foreignImports(sourceFiles(`${folder}/src`), rooms.get(name) ?? new Map())).toEqual([]);
  });

  it.each(settled)('of $folder never import each other in a circle', ({ name }) => {
    const inner = [...(rooms.get(name) ?? [])].map(
      ([folder, others]) => [folder, others.filter((other) => other !== top)] as const,
    );
    expect(importCycles(new Map(inner))).toEqual([]);
  });

  it('of no other package stand in the table', () => {
    const names = members.map(({ name }) => name);
    expect([...rooms.keys()].filter((name) => !names.includes(name))).toEqual([]);
  });

  it('are read from the table with their arrows', () => {
    const arrows = { till: ['stock', 'src'], stock: [], 'stock/shelf': ['stock'] };
    const row =
      '| `shop` | sells | `till` → `stock`, `src` · `stock` · `stock/shelf` → `stock` |\n| `bank` | lends | |';
    const table = '| `till` | cash | `stock`, `src` |\n| `stock` | | |\n| `stock/shelf` | | `stock` |';
    expect([...roomsOf(`${row}\n### The folders of \`market\`\n\n${table}\n\n## Next\n| \`x\` | |`)]).toEqual(
      [
        ['shop', new Map(Object.entries(arrows))],
        ['market', new Map(Object.entries(arrows))],
      ],
    );
  });
});

describe('the layers of server', () => {
  const layers = layersOf(page, 'server');
  const files = sourceFiles('packages/server/src');

  it('are seven: the folders directly in src', () => {
    const found = new Set(files.map(({ path }) => layerOf(path)));
    expect([...found].sort()).toEqual([...layers.keys(), top].sort());
    expect(layers.size).toBe(7);
  });

  it('have at most six files beside them', () => {
    const loose = files.map(({ path }) => path).filter((path) => layerOf(path) === top);
    expect(loose.length, loose.join(' ')).toBeLessThanOrEqual(6);
  });

  it('import each other only along their table', () => {
    expect(foreignImports(files, layers, layerOf)).toEqual([]);
  });

  it('import only layers that stand above them in that table', () => {
    const order = [...layers.keys()];
    const upward = [...layers].flatMap(([layer, others]) =>
      others.filter((other) => order.indexOf(other) >= order.indexOf(layer)),
    );
    expect(upward).toEqual([]);
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
    const rows = Array.from(page.matchAll(/^\| `([\w.-]+)` \|/gm), ([, row]) => row);
    expect(rows).toContain(name);
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
    Object.entries(manifest.exports ?? {}).map(([subpath, target]) => ({
      entry: posix.join(folder, subpath),
      path: posix.join(folder, typeof target === 'string' ? target : (target['@batonjs/source'] ?? '')),
    })),
  );

  it.each(entries)('$entry names every export it has', ({ path }) => {
    const code = codeOnly(readSource(path).text);
    expect(code).not.toMatch(/^export\s+(\*|default)/m);
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
