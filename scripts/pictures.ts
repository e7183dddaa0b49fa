/**
 * `pnpm pictures`: takes the pictures of the inspector in `docs/images`, light and dark, from a gallery of its own: the
 * tasks of its agents, and a task that asked, was answered, and went on after its process was killed. Needs Chromium, as
 * the tests do.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import type { Page } from 'playwright-core';
import { run } from '../test/kit/processes.ts';
import { chromiumForTests, openChromium } from '../test/support/chromium.ts';

const images = join(import.meta.dirname, '../docs/images');
const size = { width: 1200, height: 760 };
const executablePath = await chromiumForTests();
if (!executablePath) process.exit(1);
const data = mkdtempSync(join(tmpdir(), 'baton-pictures-'));
const browser = await openChromium(executablePath);

/** One picture for each colour scheme. */
async function take(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const ending = colorScheme === 'dark' ? '-dark' : '';
    await page.screenshot({ path: join(images, `${name}${ending}.png`), scale: 'device' });
  }
}

/** A page with two pixels for one. */
async function openPage(): Promise<Page> {
  const context = await browser.context.browser()!.newContext({ viewport: size, deviceScaleFactor: 2 });
  // Not only on an idle machine.
  context.setDefaultTimeout(120_000);
  return context.newPage();
}

try {
  await using gallery = run('node', ['scripts/start.mjs'], { env: { PORT: '0', BATON_DATA: data } });
  const output = await gallery.until(/Ctrl-C stops/);
  const url = /^ *Agents +(http:\S+)\/agents\//m.exec(output)![1]!;
  const page = await openPage();
  await page.goto(/^ *Inspector +(\S+)$/m.exec(output)![1]!);

  const asked = async (agent: string, ...texts: string[]) => {
    const client = await connect(`${url}/agents/${agent}`);
    for (const text of texts) await client.send(text);
  };
  await asked(
    'expense',
    'Taxi to the airport, 42 EUR',
    'Dinner with the team',
    '12.50 EUR for stamps',
    '-5 USD',
  );
  await asked('boat-designer', 'Draw a red boat');
  await asked('currency', 'How much is 100 USD in EUR?');
  const tasks = page.getByRole('listbox', { name: 'Tasks' }).getByRole('option');
  await tasks.nth(5).waitFor();
  await page.getByRole('link', { name: /^Inbox \d+$/ }).waitFor();
  await take(page, 'inspector-tasks');

  await page.getByRole('link', { name: 'Counter', exact: true }).click();
  await page.getByRole('link', { name: 'Send', exact: true }).click();
  await page.getByRole('textbox', { name: 'Your message' }).fill('Count for me');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('textbox', { name: 'Your answer' }).fill('To 12');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const bar = (name: RegExp) => page.getByRole('region', { name: 'Waterfall' }).getByRole('button', { name });
  await bar(/^count 3, /).waitFor();
  await page.getByRole('button', { name: 'Kill the process' }).click();
  await page.getByText(/Back after [\d.]+ s/).waitFor();
  await bar(/^count 6, /).waitFor();
  await take(page, 'inspector-kill-and-resume');
} finally {
  await browser.context.browser()?.close();
  rmSync(data, { recursive: true, force: true });
}
