import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { builtApp } from './built-app.ts';

let folder: string;
beforeAll(async () => {
  folder = await builtApp();
}, 300_000);

const text = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');

it('the first page is at most 60 kB of scripts and styles, gzip, Markdown 30 kB more', () => {
  const page = text('index.html');
  const sizes = readdirSync(join(folder, 'assets'))
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => {
      const part = page.includes(name) ? 'first' : 'later';
      return [part, gzipSync(text('assets', name), { level: 9 }).length] as const;
    });
  const bytesOf = (part: string) =>
    sizes.filter(([each]) => each === part).reduce((sum, [, size]) => sum + size, 0);
  expect(sizes.filter(([part]) => part === 'first').length).toBe(2);
  expect(bytesOf('first')).toBeLessThan(60_000);
  expect(bytesOf('later')).toBeLessThan(30_000);
});

it('the font is at most 27 kB, and no other file is large', () => {
  const others = readdirSync(join(folder, 'assets')).filter((name) => !/\.(js|css)$/.test(name));
  const sizes = others.map((name) => [extname(name), statSync(join(folder, 'assets', name)).size] as const);
  expect(sizes.filter(([ending]) => ending === '.woff2')).toEqual([['.woff2', expect.any(Number)]]);
  for (const [ending, size] of sizes)
    expect([ending, size < (ending === '.woff2' ? 27_000 : 3_000)]).toEqual([ending, true]);
});

it('the page has no script, style or handler of its own, and loads nothing from elsewhere', () => {
  const page = text('index.html');
  expect(page).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/i);
  expect(page).not.toMatch(/(src|href)="(?!\.\/)/);
  for (const name of readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.css')))
    expect(text('assets', name)).not.toMatch(/@import|url\((?!\.\/inter-[\w-]+\.woff2\))/);
});

it('neither zod nor the Markdown renderer is in the script of the first page', () => {
  const [script] = Array.from(text('index.html').matchAll(/assets\/[^"]+\.js/g), ([path]) => path);
  expect(text(script!)).not.toMatch(/ZodError|DOMPurify/);
});
