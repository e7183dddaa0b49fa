import { existsSync, readFileSync } from 'node:fs';
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

it.skipIf(!executablePath)('nothing hinders people at its first page and at one with code', async () => {
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
  const pages = ['/', '/serving/react'];
  expect(
    await hindrances(
      context,
      pages.map((page) => url + page),
    ),
  ).toEqual([]);
});
