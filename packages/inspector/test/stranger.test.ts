import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { completed, createAgentServer, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';
import { createInspector } from '../src/inspector.ts';
import { builtApp } from './built-app.ts';
import { closed, token } from './inspected-servers.ts';
import { checkAccess } from './open-app.ts';

const executablePath = await chromiumForTests();
const manyTasks = 20_000;
/** One in so many fails. */
const failsEvery = 400;

/** Bills, of which some fail: a customer has no VAT number. */
const billing = () =>
  createAgentServer({
    name: 'billing',
    card: { name: 'Billing', description: 'Writes bills' },
    store: memoryStore(),
    logger: () => {},
    async *agent({ text, log }) {
      if (!text.includes('VAT unknown')) return yield completed(`Billed: ${text}`);
      yield working('Looking up the VAT number');
      log.warn('VAT number is unknown');
      throw new Error('The bill cannot be written', { cause: new Error('No VAT number') });
    },
  });

describe.skipIf(!executablePath)(
  `a stranger and a failure among ${manyTasks} tasks`,
  { timeout: 300_000 },
  () => {
    let page: Page;
    const closing: (() => unknown)[] = [];
    beforeAll(async () => {
      const server = billing();
      for (let n = 0; n < manyTasks; n += 1) {
        const text = n % failsEvery === 7 ? `Bill ${n} for Frau Müller ${n}, VAT unknown` : `Bill ${n}`;
        await rpc(server, 'SendMessage', { message: say(text) });
      }
      const inspect = createInspector({ server, token, allow: ['fork'] }, await builtApp());
      const http = createServer(inspect).listen(0, '127.0.0.1');
      await once(http, 'listening');
      closing.push(async () => {
        inspect.close();
        await server.close({ graceMs: 0 });
        await closed(http);
      });
      const browser = await openChromium(executablePath!);
      closing.push(() => browser.close());
      page = await browser.context.newPage();
      await page.goto(inspect.addressAt(`http://127.0.0.1:${(http.address() as AddressInfo).port}`));
    }, 300_000);
    afterAll(async () => {
      for (const close of closing.reverse()) await close();
    });

    /** Looks at the page as it is at each width, in light and in dark. */
    const look = async () => {
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of [1440, 1024, 390]) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          await checkAccess(page);
          await expect
            .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
            .toBeLessThanOrEqual(width);
        }
      await page.setViewportSize({ width: 1440, height: 900 });
    };
    const seen = async (text: string | RegExp) => {
      await page.getByText(text).first().waitFor();
      return page.getByText(text).first().boundingBox();
    };
    let began = 0;

    it('is found from the first page, by what failed and a name', async () => {
      const failed = page.getByRole('link', { name: '50 · 0.3 %', exact: true });
      await failed.waitFor();
      await look();
      began = performance.now();
      await failed.click();
      await page.getByRole('combobox', { name: /^Search/ }).fill('müller 4007');
      const rows = page.getByRole('listbox', { name: 'Tasks' }).getByRole('option');
      await expect.poll(() => rows.count()).toBe(1);
      expect(await rows.locator('.cell-text').textContent()).toBe('The bill cannot be written');
      await rows.first().click();
    });

    it('is understood on the first screen: what was thrown, its cause, and the last line before it', async () => {
      for (const text of ['Caused by: Error: No VAT number', 'VAT number is unknown', /stranger\.test\.ts/])
        expect((await seen(text))!.y).toBeLessThan(900);
    });

    it('is run again with other words, and compared', async () => {
      await page.getByRole('button', { name: 'with other words …' }).click();
      await page
        .getByRole('textbox', { name: 'The first message' })
        .fill('Bill 4007 for Frau Müller, VAT DE 1');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await seen(/^Run again of/);
      await seen('Billed: Bill 4007 for Frau Müller, VAT DE 1');
      process.stdout.write(
        `found, understood, changed and run again in ${Math.round(performance.now() - began)} ms\n`,
      );
      await look();
      await page.getByRole('link', { name: 'compare' }).click();
      await page
        .getByRole('region', { name: 'Left task' })
        .getByText('Caused by: Error: No VAT number')
        .first()
        .waitFor();
      await page.getByRole('region', { name: 'Right task' }).getByText('Billed: Bill 4007').first().waitFor();
      await look();
      await page.getByRole('link', { name: 'All tasks' }).click();
      await page.getByRole('listbox', { name: 'Tasks' }).getByRole('option').first().waitFor();
      await look();
    });
  },
);
