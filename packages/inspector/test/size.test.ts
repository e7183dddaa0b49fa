import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtApp } from './built-app.ts';

let app: Awaited<ReturnType<typeof builtApp>>;
beforeAll(async () => {
  app = await builtApp();
}, 300_000);
afterAll(() => app.remove());

const text = (...path: string[]) => readFileSync(join(app.folder, ...path), 'utf8');

it('the first page loads at most 150 kB of script, gzip', () => {
  const scripts = Array.from(
    text('index.html').matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g),
    ([, path]) => path!,
  );
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.map((path) => gzipSync(text(path)).length).reduce((sum, each) => sum + each, 0);
  expect(bytes).toBeLessThan(150 * 1_024);
});

it('the page has no script, style or handler of its own, and loads nothing from elsewhere', () => {
  const page = text('index.html');
  expect(page).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/i);
  expect(page).not.toMatch(/(src|href)="(?!\.\/)/);
  for (const name of readdirSync(join(app.folder, 'assets')).filter((name) => name.endsWith('.css')))
    expect(text('assets', name)).not.toMatch(/@import|url\(/);
});

it('neither zod nor the Markdown renderer is in the script of the first page', () => {
  const [script] = Array.from(text('index.html').matchAll(/assets\/[^"]+\.js/g), ([path]) => path);
  expect(text(script!)).not.toMatch(/ZodError|DOMPurify/);
});
