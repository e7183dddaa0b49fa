import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reply } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import type { BrowserContext, Page, Request, Route } from 'playwright-core';
import { renderToString } from 'react-dom/server';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { servePage } from '../../../test/browser/agent.ts';
import { memoryFiles } from '../../../test/kit/memory-files.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';
import { page as app } from './hooks-page.tsx';
import { Gate, serveTalking } from './talking-agent.ts';

const executablePath = await chromiumForTests();

/** The page of the test in one file, with React's checks for development. */
async function bundle(): Promise<string> {
  const folder = mkdtempSync(join(import.meta.dirname, '.bundle-'));
  try {
    await build({
      entry: { page: join(import.meta.dirname, 'hooks-main.tsx') },
      outDir: folder,
      config: false,
      silent: true,
      format: 'esm',
      target: 'es2023',
      platform: 'browser',
      noExternal: [/./],
      esbuildOptions(options) {
        options.conditions = ['@batonjs/source'];
        options.define = { 'process.env.NODE_ENV': '"development"' };
      },
    });
    return await readFile(join(folder, 'page.js'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('the hooks render on a server, where they ask for nothing', () => {
  expect(renderToString(app('http://127.0.0.1:9'))).toContain('<p role="status">idle</p>');
});

describe.skipIf(!executablePath)('the hooks in Chromium, in strict mode', { timeout: 300_000 }, () => {
  const closing: (() => unknown)[] = [];
  let context: BrowserContext;
  let url: string;

  beforeAll(async () => {
    const served = await servePage(await bundle());
    closing.push(() => served.close());
    url = served.url;
    const browser = await openChromium(executablePath!);
    closing.push(() => browser.close());
    context = browser.context;
  }, 300_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  /** A page, and the errors of its console: what strict mode and hydration complain about. */
  async function open(): Promise<{ page: Page; problems: string[] }> {
    const page = await context.newPage();
    onTestFinished(() => page.close());
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(url);
    await page.waitForFunction(() => 'mount' in globalThis);
    return { page, problems };
  }

  it('stream a task with one connection, through a restart of the server', async () => {
    const gate = new Gate();
    const served = await serveTalking(gate);
    const { page, problems } = await open();
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.headers().accept?.includes('event-stream')) streams.push(request.url());
    });
    await page.evaluate((to) => mount(to), served.url);
    await page.getByRole('button', { name: 'Slow' }).click();
    await page.getByText('TASK_STATE_WORKING Half').waitFor();
    await page.locator('[role=status]', { hasText: 'connected' }).waitFor();
    expect(streams).toHaveLength(1);
    await page.locator('#listed', { hasText: 'TASK_STATE' }).waitFor();
    expect(problems).toEqual([]);
    await served.stop();
    await page.locator('[role=status]', { hasText: 'reconnecting' }).waitFor();
    await served.restart();
    await page.locator('[role=status]', { hasText: /^connected/ }).waitFor();
    gate.open();
    await page.getByText('TASK_STATE_COMPLETED Half and whole').waitFor();
    await page.locator('[role=status]', { hasText: 'closed' }).waitFor();
    await page.locator('#listed', { hasText: /^TASK_STATE_COMPLETED$/ }).waitFor();
  });

  it('ask with a form, whose fields have labels, and answer with its values', async () => {
    const { url: agent } = await serveTalking();
    const { page, problems } = await open();
    await page.evaluate((to) => mount(to), agent);
    await page.getByRole('button', { name: 'Ask' }).click();
    const form = page.getByRole('form', { name: 'Amount' });
    await form.getByRole('combobox', { name: 'fast' }).selectOption('Yes');
    // The browser itself asks for what is required.
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByRole('spinbutton', { name: 'amount' }).fill('12.5');
    await form.getByRole('button', { name: 'Send' }).click();
    await page.getByText('{"data":{"amount":12.5,"fast":true}}').waitFor();
    expect(problems).toEqual([]);
  });

  it('give up what is under way when they are gone, and ask for nothing more', async () => {
    const gate = new Gate();
    const served = await serveTalking(gate);
    const { page, problems } = await open();
    await page.evaluate((to) => mount(to), served.url);
    await page.getByRole('button', { name: 'Slow' }).click();
    await page.getByText('TASK_STATE_WORKING Half').waitFor();
    const isStream = (request: Request) => request.headers().accept?.includes('event-stream') ?? false;
    const streamLeft = page.waitForEvent('requestfailed', isStream);
    await page.evaluate(() => unmount());
    await streamLeft;
    gate.open();
    // The next page leaves while its list is read.
    const held = Promise.withResolvers<Route>();
    const isList = (request: Request) => request.postData()?.includes('"ListTasks"') ?? false;
    await page.route('**', (route) => {
      if (isList(route.request())) held.resolve(route);
      else void route.continue();
    });
    await page.evaluate((to) => mount(to), served.url);
    await held.promise;
    const listLeft = page.waitForEvent('requestfailed', isList);
    const after: string[] = [];
    page.on('request', (request) => after.push(request.url()));
    await page.evaluate(() => unmount());
    await listLeft;
    await (await held.promise).abort().catch(() => {});
    // Two frames later, what the page would still do is done.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    expect(after).toEqual([]);
    expect(await page.locator('main').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('upload a file, which goes on after a reload when it is chosen again, and ends when it is taken away', async () => {
    const port = await freePort();
    const server = serve(() => reply('Hello'), {
      card: { name: 'Files', description: 'Takes files', defaultInputModes: ['*/*'] },
      files: { store: memoryFiles() },
      publicUrl: `http://127.0.0.1:${port}`,
      cors: true,
    });
    const listening = await listen(server, { port });
    onTestFinished(() => listening.close({ graceMs: 0 }));
    const path = join(temporaryFolder(), 'film.mp4');
    writeFileSync(path, Buffer.alloc(20 * 1_048_576, 'film'));
    const { page, problems } = await open();
    const asked: string[] = [];
    let isHeld = true;
    await page.route(/\/files/, (route) => {
      const method = route.request().method();
      if (method !== 'OPTIONS') asked.push(method);
      if (isHeld && method === 'PATCH' && asked.filter((each) => each === method).length > 1) return;
      return route.continue();
    });
    const choose = async () => {
      await page.evaluate((to) => mount(to), listening.url);
      await page.locator('input[type=file]:enabled').setInputFiles(path);
    };
    await choose();
    await page.getByText('film.mp4 0.4 goes on').waitFor();
    await page.reload();
    await page.waitForFunction(() => 'mount' in globalThis);
    asked.length = 0;
    const left = page.waitForEvent('requestfailed', (request) => request.method() === 'PATCH');
    await choose();
    await expect.poll(() => asked).toEqual(['HEAD', 'PATCH', 'PATCH']);
    await page.getByRole('button', { name: 'film.mp4' }).click();
    await left;
    expect(await page.getByRole('button', { name: 'film.mp4' }).count()).toBe(0);
    asked.length = 0;
    isHeld = false;
    await page.locator('input[type=file]').setInputFiles([]);
    await page.locator('input[type=file]').setInputFiles(path);
    await page.getByText('film.mp4 1.0 is film.mp4').waitFor();
    expect(asked).toEqual(['HEAD', 'PATCH', 'GET']);
    // It is a file of the agent now: the same one begins anew.
    await page.getByRole('button', { name: 'film.mp4' }).click();
    await page.locator('input[type=file]').setInputFiles([]);
    await page.locator('input[type=file]').setInputFiles(path);
    await expect.poll(() => asked.at(3)).toBe('POST');
    expect(problems).toEqual([]);
  });

  it('take over a page that a server rendered', async () => {
    const { page, problems } = await open();
    await page.evaluate((html) => hydrate(html), renderToString(app()));
    await page.locator('[role=status]', { hasText: 'idle' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    expect(problems).toEqual([]);
  });
});
