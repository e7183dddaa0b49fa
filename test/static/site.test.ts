import { existsSync, globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../kit/listen.ts';
import { root } from '../repository/source-files.ts';
import { hindrances } from '../support/access.ts';
import { chromiumForTests, openChromium } from '../support/chromium.ts';

/** The built site, which `check:static` builds before it runs these. */

const executablePath = await chromiumForTests();
const built = join(root, 'docs/.vitepress/dist');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

/** Serves the built site, and opens a browser. */
async function openSite() {
  if (!existsSync(built)) throw new Error('The site is not built: `pnpm docs:build`');
  const site = createServer(({ url = '/' }, response) => {
    const path = new URL(url, 'http://site').pathname.replace(/\/$/, '/index.html');
    const file = join(built, extname(path) ? path : `${path}.html`);
    response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
    response.end(existsSync(file) ? readFileSync(file) : undefined);
  });
  const url = await listen(site);
  const { context, close } = await openChromium(executablePath!);
  onTestFinished(close);
  return { url, context };
}

it.skipIf(!executablePath)('nothing hinders people at its first page and at one with code', async () => {
  const { url, context } = await openSite();
  expect(await hindrances(context, [`${url}/`, `${url}/serving/react`])).toEqual([]);
});

it.skipIf(!executablePath)('no page of it is wider than a phone', { timeout: 300_000 }, async () => {
  const { url, context } = await openSite();
  const page = await context.newPage();
  await page.setViewportSize({ width: 390, height: 844 });
  const paths = globSync('**/*.html', { cwd: built });
  expect(paths.length).toBeGreaterThan(50);
  const wide: string[] = [];
  for (const path of paths) {
    await page.goto(`${url}/${path}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 390) wide.push(`${path}: ${width}`);
  }
  expect(wide).toEqual([]);
});
