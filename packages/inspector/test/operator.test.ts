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

  it('sees what began, ended, failed and waits in charts, of an hour, a day and a week', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    for (const words of ['steps', 'throw', 'ask'])
      await until(served.show, await start(words), endOf[words]!);
    await go('#/charts');
    const charts = page.getByRole('region', { name: 'Show', exact: true });
    const figure = (title: string) => charts.getByRole('figure', { name: title }).locator('.chart-figure');
    await charts.getByText('1 failed', { exact: true }).waitFor();
    const shown = async (range: string) => {
      await page.getByRole('button', { name: range, exact: true }).click();
      await expect.poll(() => figure('Started').textContent()).toMatch(/^4/);
      await expect.poll(() => figure('Ended').textContent()).toMatch(/^3 1 failed/);
      await expect.poll(() => figure('Waiting for an answer').textContent()).toMatch(/^1 now/);
      await expect.poll(() => figure('Duration').textContent()).toMatch(/^\d.* m?s +p95 \d.* m?s$/);
    };
    await shown('Last day');
    expect(page.url()).toContain('#/charts?range=day');
    await shown('Last week');
    await shown('Last hour');
    await charts.getByText('Numbers', { exact: true }).click();
    const numbers = await charts.getByRole('row').allTextContents();
    expect(numbers[0]).toBe('FromStartedEndedFailedWaitingp50p95');
    const counts = await charts.locator('tbody tr td:nth-of-type(1)').allTextContents();
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(4);
    await page.getByText(/Without charts, .*: Show far, Old\./).waitFor();
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const needed = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(needed).toBeLessThanOrEqual(width);
        await checkAccess();
        await picture(`charts-${scheme}-${width}`);
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(app.problems).toEqual([]);
  });
});

/** The states in which the tasks of these words end, or ask. */
const endOf: Readonly<Record<string, string>> = {
  steps: 'COMPLETED',
  throw: 'FAILED',
  ask: 'INPUT_REQUIRED',
};
