import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import { chromiumForTests } from '../../../test/support/chromium.ts';
import { type Action, actions } from '../src/api/agent.ts';
import { type OpenedApp, openApp } from './open-app.ts';

const executablePath = await chromiumForTests();

describe.skipIf(!executablePath)('an operator with the inspector', () => {
  let app: OpenedApp;
  beforeAll(async () => {
    app = await openApp(executablePath!, Object.keys(actions) as Action[]);
  }, 300_000);
  afterAll(() => app.close());

  it('sees the lines of a turn while it runs, and the last of many', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    const id = await start('log 300');
    await go(`#/agents/show/tasks/${id}`);
    const lines = page.getByLabel('Log lines', { exact: true });
    await lines.getByText('Door open').waitFor();
    expect(await lines.locator('.log-line').allInnerTexts()).toEqual([
      expect.stringMatching(/\d\d:\d\d:\d\d\.\d{3}\s+info\s+Oven on degrees=220/),
      expect.stringMatching(/warn\s+Door open/),
      expect.stringMatching(/error\s+Too hot\s+Error: A sensor melted\n\s+at /),
    ]);
    await page.getByRole('heading', { name: 'Log, 3 lines' }).waitFor();
    await checkAccess();
    await picture('log-lines');
    served.gate.release();
    await until(served.show, id, 'COMPLETED');
    await page.getByRole('heading', { name: 'Log, 303 lines' }).waitFor();
    await lines.getByText('Loaf 300', { exact: true }).waitFor();
    await expect.poll(() => lines.locator('.log-line').count()).toBeLessThan(60);
    await page.setViewportSize({ width: 390, height: 844 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await checkAccess();
    await picture('log-lines-phone');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('sees the lines up to the entry that is shown, and goes to that of a line', async () => {
    const { page } = app;
    await page.getByLabel('Log lines', { exact: true }).evaluate((frame) => frame.scrollTo(0, 0));
    await page.getByRole('button', { name: 'Turn 1', exact: true }).click();
    await page.getByRole('heading', { name: /^Log, \d+ lines?$/ }).waitFor();
    await page.getByText(/The task as it was at entry/).waitFor();
    await page.getByText('Loaf 300', { exact: true }).waitFor({ state: 'detached' });
  });
});
