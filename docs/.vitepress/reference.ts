import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, type ProjectReflection } from 'typedoc';
import { root, withSiteLinks } from './links.ts';
import { type Entry, type Package, publishedPackages } from './packages.ts';
import { docs } from './pages.ts';

/**
 * Writes the pages of all packages to `docs/reference`: the README of each, and a page for each entry, from its types
 * and docstrings.
 */
export async function writeReference(): Promise<void> {
  const folder = join(docs, 'reference');
  rmSync(folder, { recursive: true, force: true });
  const packages = publishedPackages();
  await writeApi(
    folder,
    packages.flatMap(({ entries }) => entries),
  );
  for (const one of packages) {
    const page = `docs/reference/${one.folder}/index.md`;
    mkdirSync(join(folder, one.folder), { recursive: true });
    writeFileSync(join(root, page), readmePage(one, page));
  }
}

function readmePage({ folder, entries }: Package, page: string): string {
  const from = `packages/${folder}/README.md`;
  const readme = withSiteLinks(textOf(from), from, page);
  const list = entries.map((entry) => `- [\`${entry.specifier}\`](${entry.page.split('/')[1]}.md)`);
  return list.length === 0 ? readme : `${readme.trimEnd()}\n\n## Exports\n\n${list.join('\n')}\n`;
}

async function writeApi(out: string, entries: readonly Entry[]): Promise<void> {
  const config = join(docs, '.vitepress/cache/typedoc.json');
  mkdirSync(join(docs, '.vitepress/cache'), { recursive: true });
  const files = entries.map(({ source }) => join(root, source));
  const compilerOptions = {
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.base.json'), files, include: [], compilerOptions }),
  );
  const titles = new Map(entries.map(({ page, specifier }) => [page, specifier]));
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: files,
    tsconfig: config,
    // The types were checked where they are built.
    skipErrorChecking: true,
    out,
    readme: 'none',
    logLevel: 'Warn',
    disableSources: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    // A name that an entry exports from another package is described there.
    validation: { notExported: false, invalidLink: true, notDocumented: false },
    ...markdownOptions(titles),
  });
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc could not read the sources; see above');
  nameModules(project, entries);
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error('TypeDoc could not write the reference; see above');
  rmSync(join(out, 'README.md'), { force: true });
}

/** Modules are called by their pages until they are written, because the paths of the pages follow from their names. */
function nameModules(project: ProjectReflection, entries: readonly Entry[]): void {
  // TypeDoc calls a module by its path, from the folder that all have in common.
  const called = ({ source }: Entry) => source.replace(/^packages\//, '').replace(/(\/index)?\.ts$/, '');
  const pages = new Map(entries.map((entry) => [called(entry), entry.page]));
  for (const module of project.children ?? []) {
    const page = pages.get(module.name);
    if (page === undefined) throw new Error(`No entry is called ${module.name}`);
    module.name = page;
  }
}

const markdownOptions = (titles: ReadonlyMap<string, string>): object => ({
  outputFileStrategy: 'modules',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useHTMLEncodedBrackets: true,
  sanitizeComments: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
  enumMembersFormat: 'table',
  tableColumnSettings: { hideModifiers: true },
  groupOrder: ['Functions', 'Variables', 'Classes', 'Interfaces', '*'],
  pageTitleTemplates: { module: ({ name }: { name: string }) => titles.get(name) ?? name },
});

const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
