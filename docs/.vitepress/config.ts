import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { checkAnchors } from './anchors.ts';
import { hasConcepts, withConcepts } from './concepts.ts';
import { repository, root, siteLink } from './links.ts';
import { publishedPackages } from './packages.ts';
import { completeGroups, docs, titleOf } from './pages.ts';
import { plainPath, writePlainPages } from './plain-pages.ts';
import { searchOptions, termOf, toSearch } from './search.ts';
import { withTabs } from './tabs.ts';

/** Where the site is served: `/`, or a path such as `/baton/`. */
const base = process.env.DOCS_BASE ?? '/';
const description = 'Durable tasks for AI agents that speak A2A 1.0, in TypeScript';

const shape =
  '<rect width="32" height="32" rx="7" fill="#3450b2"/><path d="M9 25 23 7" stroke="#fff" stroke-width="6" stroke-linecap="round"/>';
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${shape}</svg>`;
const icon = `data:image/svg+xml,${encodeURIComponent(svg)}`;

/** That of the server, the package that most of the site is about. */
const { version } = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8'));

/**
 * Commands are read and copied whole on a narrow screen, the picture of the first page has its own shape, the search says
 * why its list is empty, and colours have enough contrast.
 */
const style = `
:root { --vp-c-brand-3: #3f5bb5; --vp-c-brand-2: #34509f; }
.vp-doc [class*='language-'] > span.lang { color: var(--vp-c-text-2); }
.VPHero .image-container { width: 100%; height: auto; transform: none; }
.VPHero .image-src { position: static; max-width: 100%; max-height: none; border-radius: 12px; transform: none; }
.VPHero .image-bg { display: none; }
.VPHome > .vp-doc { margin-top: 3rem; }
.vp-doc [class*='language-sh'] pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
.VPLocalSearchBox .results:empty::before {
  content: 'Results come as you type. The first search loads an index: a moment, please.';
  color: var(--vp-c-text-2); font-size: 14px; padding: 8px;
}`;

export default defineConfig({
  base,
  lang: 'en',
  title: 'Baton',
  description,
  cacheDir: join(docs, '.vitepress/cache'),
  outDir: join(docs, '.vitepress/dist'),
  ignoreDeadLinks: false,
  // The index of the search, which is loaded when it is opened.
  vite: { build: { chunkSizeWarningLimit: 2_000 }, publicDir: join(docs, 'images') },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    config(markdown) {
      markdown.core.ruler.before('normalize', 'concepts', (state) => {
        const page = relative(docs, state.env.path ?? '').replaceAll('\\', '/');
        if (state.inlineMode) return;
        if (hasConcepts(page)) state.src = withConcepts(state.src, page);
        state.src = withTabs(state.src);
      });
      markdown.core.ruler.push('site-links', ({ env, tokens }) => {
        const page = `docs/${relative(docs, env.path ?? '')}`;
        for (const { children } of tokens)
          for (const token of children ?? [])
            if (token.type === 'link_open')
              token.attrSet('href', siteLink(token.attrGet('href') ?? '', page, page));
      });
    },
  },
  themeConfig: {
    nav: [
      { text: 'Install', link: '/start/tutorial#1-a-folder' },
      { text: 'Concepts', link: '/start/concepts' },
      { text: 'Tutorial', link: '/start/tutorial' },
      { text: 'Recipes', link: '/start/recipes' },
      { text: 'FAQ', link: '/faq' },
      { text: 'Options', link: '/options' },
      { text: 'Comparison', link: '/start/comparison' },
      { text: `Version ${version}`, link: '/releases' },
    ],
    notFound: {
      title: 'There is no such page',
      quote: 'It may have moved. Search for a word above, or begin with Install, Concepts or Recipes there.',
      linkText: 'Go to the first page',
    },
    sidebar: sidebar(),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        translations: { modal: { noResultsText: 'Nothing is found for' } },
        miniSearch: { options: { processTerm: termOf }, searchOptions },
        _render: (text, env, markdown) => toSearch(env.relativePath, markdown.render(text, env)),
      },
    },
    editLink: {
      text: 'Edit this page',
      pattern: `${repository}/edit/main/docs/:path`,
    },
    socialLinks: [{ icon: 'github', link: repository }],
  },
  head: [
    ['link', { rel: 'icon', href: icon, type: 'image/svg+xml' }],
    ['style', {}, style],
  ],
  // The reference is made from the sources: there is no file of it to edit.
  transformPageData(page) {
    if (page.filePath.startsWith('reference/')) page.frontmatter.editLink = false;
  },
  transformHead: ({ page }) => [
    ['link', { rel: 'alternate', type: 'text/markdown', href: base + plainPath(page) }],
  ],
  async buildEnd({ outDir, pages }) {
    writePlainPages({ outDir, base, pages, description });
    checkAnchors(outDir, base);
  },
});

function sidebar(): DefaultTheme.SidebarItem[] {
  const written = completeGroups().map(({ title, pages, collapsed }) => ({
    text: title,
    collapsed: collapsed ?? false,
    items: pages.map((page) => ({ text: titleOf(page), link: linkTo(page) })),
  }));
  const items = publishedPackages().map(({ folder, name, entries }) => ({
    text: name.replace('@batonjs/', ''),
    link: `/reference/${folder}/`,
    collapsed: true,
    items: entries.map(({ specifier, page }) => ({ text: specifier, link: `/reference/${page}` })),
  }));
  return [...written, { text: 'Packages', collapsed: true, items }];
}

/** The id of a heading as GitHub makes it, so that links to headings work on both. */
function slugify(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function linkTo(page: string): string {
  return `/${page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;
}

if (!existsSync(join(docs, 'reference')))
  throw new Error(
    `There is no reference yet: run \`pnpm docs:build\` in ${relative(process.cwd(), root) || '.'}`,
  );
