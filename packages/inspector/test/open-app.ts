import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { v03Client } from '@batonjs/bindings-v0-3';
import { connect } from '@batonjs/client';
import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { openChromium } from '../../../test/support/chromium.ts';
import type { Action } from '../src/api/agent.ts';
import type { InspectorOptions } from '../src/options.ts';
import { builtApp } from './built-app.ts';
import { type InspectedServers, serveInspected } from './inspected-servers.ts';

/** Where long runs leave pictures of what they saw. */
const pictures = join(import.meta.dirname, '../../../.reports/inspector');

/** The app in a browser, and the servers behind it. */
export interface OpenedApp {
  readonly served: InspectedServers;
  readonly page: Page;
  /** The folder of the built app. */
  readonly folder: string;
  /** Errors of the page, and of its console. */
  readonly problems: string[];
  /** Hosts that the page asked for anything. */
  readonly hosts: Set<string>;
  /** Goes to a page of the app. */
  go(hash: string): Promise<void>;
  /** Sends a message past the inspector. Resolves to the id of the task. */
  start(text: string, agent?: 'show' | 'far' | 'old', options?: object): Promise<string>;
  /** The rows of the list of that name, as far as they exist in the page. */
  rows(name: string): Locator;
  picture(name: string): Promise<void>;
  /** Fails if axe finds something that hinders people, on the page of the app unless another one is given. */
  checkAccess(other?: Page): Promise<void>;
  close(): Promise<void>;
}

/** Builds the app, serves it and opens it. */
export async function openApp(
  executablePath: string,
  allow: readonly Action[],
  options: Omit<InspectorOptions, 'agents' | 'allow'> = {},
): Promise<OpenedApp> {
  mkdirSync(pictures, { recursive: true });
  const folder = await builtApp();
  const served = await serveInspected(folder, { allow, ...options });
  const browser = await openChromium(executablePath);
  const page = await browser.context.newPage();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const problems: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'blob:') hosts.add(host);
  });
  await page.goto(served.address);
  // Most tests look for entries that clients do not see.
  await page.evaluate(() => localStorage.setItem('baton-inspector-entries', 'all'));
  await page.getByRole('link', { name: 'Show', exact: true }).waitFor();
  return {
    served,
    page,
    folder,
    problems,
    hosts,
    go: (hash) =>
      page.evaluate((to) => {
        location.hash = to;
      }, hash),
    async start(text, agent = 'show', options = {}) {
      const client = await connect(`${served.url}/${agent}`, agent === 'old' ? olderOptions() : {});
      const { task } = await client.send(text, { returnImmediately: true, ...options });
      return task!.id;
    },
    rows: (name) => page.getByRole('listbox', { name }).getByRole('option'),
    async picture(name) {
      if (repetitions(0, 1)) await page.screenshot({ path: join(pictures, `${name}.png`) });
    },
    checkAccess: (other = page) => checkAccess(other),
    async close() {
      await browser.close();
      await served.close();
    },
  };
}

/** Fails if axe finds something that hinders people. A page that was just opened gets the time to show its heading. */
export async function checkAccess(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
  expect(found).toEqual([]);
}

const olderOptions = () => ({ compatibility: [v03Client()] });
