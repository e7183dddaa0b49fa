import { existsSync, globSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completeGroups } from '../../docs/.vitepress/pages.ts';
import { withTables } from '../../docs/.vitepress/tables.ts';
import {
  commentsOf,
  documents,
  readText,
  root,
  sourceFiles,
  workspaces,
} from '../repository/source-files.ts';

const pages = documents().map((path) => ({ path, text: readText(path) }));

describe.each(pages)('$path', ({ path, text }) => {
  // Written by a script from titles of tests: a page to look things up, not to read.
  const isWritten = ['docs/reports/conformance.md', 'docs/reports/mutation.md'].includes(path);

  it('links only to what exists', () => {
    const links = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!.split('#')[0]!);
    const local = links.filter((target) => target !== '' && !/^[a-z]+:/.test(target));
    expect(local.filter((target) => !existsSync(join(root, dirname(path), target)))).toEqual([]);
  });

  it('names only files and folders that exist', () => {
    const named = Array.from(
      text.matchAll(/`((?:packages|apps|test|scripts|docs|bench)\/[\w./-]+)`/g),
      ([, name]) => name!,
    );
    const places = [root, join(root, dirname(path))];
    expect(named.filter((name) => !places.some((place) => existsSync(join(place, name))))).toEqual([]);
  });

  it('has lines of at most 120 characters, tables and the targets of links aside', () => {
    const lines = isWritten ? [] : text.split('\n').filter((line) => !line.startsWith('|'));
    expect(lines.filter((line) => line.replaceAll(/\]\([^)]*\)/g, ']').length > 120)).toEqual([]);
  });

  it('names the subject of its sentences', () => {
    const words = isWritten
      ? []
      : (text.match(/\b(whoever|somebody|nobody|whatever|what is|bells|skins?)\b/gi) ?? []);
    expect(words).toEqual([]);
  });

  it('is short enough to be read', () => {
    const limit = /^(packages|apps)\//.test(path) ? 48 : path === 'README.md' ? 140 : 220;
    // What a script writes is looked up, not read.
    const isWritten = path === 'docs/reports/conformance.md' || path === 'docs/reports/mutation.md';
    const read = text
      .replace(/<!-- table -->[\s\S]*<!-- end of table -->/, '')
      .replaceAll(/<!-- table: \w+ -->[\s\S]*?<!-- end -->/g, '');
    expect(read.trimEnd().split('\n').length).toBeLessThanOrEqual(isWritten ? 1_000 : limit);
  });
});

it('comments name only files of the repository that exist', () => {
  const parts = workspaces().flatMap(({ folder }) => [`${folder}/src`, `${folder}/test`]);
  const files = [...parts, 'bench', 'scripts', 'test/kit', 'test/support'].flatMap(sourceFiles);
  const fileName =
    /(?<![\w./*-])(?:packages|apps|test|scripts|docs|bench)\/[\w./-]+\.(?:md|tsx?|svg|json)\b/g;
  const isPlaceholder = (name: string) => /\/[xy][/.]/.test(name);
  const isThere = (name: string, path: string) =>
    path.split('/').some((_, n, names) => existsSync(join(root, ...names.slice(0, n), name)));
  const dead = files.flatMap(({ path, text }) =>
    Array.from(commentsOf(text).join('\n').matchAll(fileName), ([name]) => name)
      .filter((name) => !isPlaceholder(name) && !isThere(name, path))
      .map((name) => `${path}: ${name}`),
  );
  expect(files.length).toBeGreaterThan(1_000);
  expect(dead).toEqual([]);
});

describe('the sidebar of the site', () => {
  it('has every page below docs exactly once', () => {
    const shown = completeGroups().flatMap((group) => group.pages);
    expect(shown).toContain('index.md');
    expect(() => completeGroups([...shown, 'new-page.md'])).toThrow('docs/new-page.md is in no group');
    expect(() => completeGroups(shown.filter((page) => page !== 'operating/deploy.md'))).toThrow(
      'does not exist',
    );
  });
});

it('the README shows a program within the first screen, and pictures that exist', () => {
  const lines = readText('README.md').split('\n');
  const installed = lines.findIndex((line) => line.startsWith('npm install '));
  const picture = lines.findIndex((line) => line.startsWith('!['));
  const program = lines.indexOf('```ts');
  expect(installed).toBeGreaterThan(0);
  expect(picture).toBeGreaterThan(installed);
  expect(program).toBeGreaterThan(picture);
  expect(program + 1).toBeLessThanOrEqual(16);
  const pictures = Array.from(lines.join('\n').matchAll(/!\[[^\]]+\]\(([^)]+)\)/g), ([, target]) => target!);
  expect(pictures.filter((target) => !existsSync(join(root, target)))).toEqual([]);
});

describe.each(['options', 'errors', 'agents/turn'])('the tables of docs/%s.md', (name) => {
  it('are those of the code: `pnpm docs:tables` writes them', () => {
    const page = readText(`docs/${name}.md`);
    expect(page.match(/<!-- table: /g)?.length).toBeGreaterThan(0);
    expect(withTables(page)).toBe(page);
  });
});

it('the comparison has the figures of the page about performance', () => {
  const rows = readText('docs/start/comparison.md').split('## On long streams')[1]!.split('\n## ')[0]!;
  const figures = Array.from(rows.matchAll(/\| ([\d.]+) ×/g), ([, figure]) => figure!);
  const performance = readText('docs/performance.md');
  expect(figures.length).toBeGreaterThan(3);
  expect(figures.filter((figure) => !performance.includes(`| ${figure} `))).toEqual([]);
});

it('each row of "Works with" has a version that is installed here, and a test', () => {
  const [, table = ''] = readText('docs/start/works-with.md').split('\n## ');
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const manifests = globSync('{.,packages/*,test/**}/package.json', {
    cwd: root,
    exclude: (name) => /(^|\/)node_modules$/.test(name),
  }).map((path) => JSON.parse(readText(path)));
  const installed = manifests.flatMap(({ dependencies, devDependencies }) =>
    Object.entries<string>({ ...dependencies, ...devDependencies }).map(([name, range]) =>
      range.startsWith('npm:') ? range.slice('npm:'.length) : `${name}@${range}`,
    ),
  );
  const isInstalled = ([, name, version]: RegExpMatchArray) =>
    installed.some((each) => `${each.replace('@^', '@')}.`.startsWith(`${name}@${version}`));
  const isTest = ([, path = '']: RegExpMatchArray) => existsSync(join(root, 'docs/start', path));
  const faults = rows.filter((row) => {
    const software = [...row.matchAll(/`([@\w/-]+)` (\d[\d.]*)/g)];
    const tests = [...row.matchAll(/\]\(([^)]+\.test\.ts)\)/g)];
    return !(software.length && tests.length && software.every(isInstalled) && tests.every(isTest));
  });
  expect(rows.length).toBeGreaterThan(20);
  expect(faults).toEqual([]);
});

describe('the glossary', () => {
  it('has at most 27 words', () => {
    const page = readText('docs/architecture.md');
    const rows =
      page
        .split('## Glossary')[1]!
        .split('\n## ')[0]!
        .match(/^\| [a-z]+ +\|/gm) ?? [];
    expect(rows.length).toBeGreaterThan(10);
    // The row of the headings is not a word.
    expect(rows.length - 1).toBeLessThanOrEqual(27);
  });
});

describe('CONTRIBUTING', () => {
  it('answers at least ten questions "Where is … ?" with one existing file each', () => {
    const table = readText('CONTRIBUTING.md').split('## Where is it done')[1]!.split('\n## ')[0]!;
    const files = Array.from(table.matchAll(/^\| .* \| `([^`]+)` +\|$/gm), ([, path]) => path!);
    expect(files.length).toBeGreaterThanOrEqual(10);
    expect(files.filter((path) => !statSync(join(root, path), { throwIfNoEntry: false })?.isFile())).toEqual(
      [],
    );
  });
});
