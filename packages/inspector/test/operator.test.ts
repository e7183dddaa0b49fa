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
    await page.getByRole('button', { name: '253 earlier' }).click();
    await page.getByRole('button', { name: 'Turn 1', exact: true }).click();
    await page.getByRole('heading', { name: /^Log, \d+ lines?$/ }).waitFor();
    await page.getByText(/The task as it was at entry/).waitFor();
    await page.getByText('Loaf 300', { exact: true }).waitFor({ state: 'detached' });
  });

  const rows = () => app.rows('Tasks');

  it('ticks rows, with those between them, and acts on them alone', async () => {
    const { page, go, start, served, checkAccess } = app;
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await start('ask'));
    for (const id of ids) await until(served.show, id, 'INPUT_REQUIRED');
    await go('#/agents/show/tasks?state=input-required');
    await expect.poll(() => rows().count()).toBe(4);
    const ticked = () => rows().evaluateAll((all) => all.map((row) => row.ariaChecked === 'true'));
    const tick = (index: number, shift = false) =>
      rows()
        .nth(index)
        .locator('.tick')
        .click({ modifiers: shift ? ['Shift'] : [] });
    await tick(3);
    await tick(1, true);
    expect(await ticked()).toEqual([false, true, true, true]);
    expect(page.url()).toContain('#/agents/show/tasks?');
    await page.getByRole('listbox', { name: 'Tasks' }).press('Home');
    await page.keyboard.press('Space');
    expect(await ticked()).toEqual([true, true, true, true]);
    await tick(1);
    await tick(2, true);
    expect(await ticked()).toEqual([true, false, false, true]);
    await checkAccess();
    await page.getByRole('button', { name: 'Act on 2 ticked …' }).click();
    await page.getByText('Cancel: 2 tasks of 2 that are ticked.').waitFor();
    await page.getByRole('button', { name: 'Cancel (2)' }).click();
    await page.getByText('2 done, 0 failed, of 2').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => rows().count()).toBe(2);
    expect(await ticked()).toEqual([false, false]);
    await page.getByRole('button', { name: 'Act on all …' }).waitFor();
  });

  it('answers a form otherwise, and the task goes on from there', async () => {
    const { page, go, start } = app;
    await go(`#/agents/show/tasks/${await start('convert something')}`);
    const amount = page.getByRole('textbox', { name: /^amount/i });
    await amount.fill('21');
    await page.getByRole('combobox', { name: /^currency/i }).selectOption('EUR');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    const entries = app.rows('Timeline');
    await entries.filter({ hasText: 'Twice 21 EUR' }).first().waitFor();
    await entries
      .filter({ hasText: /^\d+[\d:.]+.*Message/ })
      .last()
      .click();
    await page.getByRole('button', { name: 'Change the answer …' }).click();
    expect(await amount.inputValue()).toBe('21');
    await amount.fill('40');
    await app.checkAccess();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await entries.filter({ hasText: 'Twice 40 EUR' }).first().waitFor();
    await page.getByText(/^Run again of/).waitFor();
  });

  it('erases a person after a look, and the name once more', async () => {
    const { page, go, checkAccess } = app;
    await go('#/activity');
    await page.getByRole('button', { name: 'Erase a person …' }).click();
    const erase = page.getByRole('button', { name: 'Erase', exact: true });
    await page.getByRole('textbox', { name: /^The person/ }).fill('ada');
    expect(await erase.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Look' }).click();
    await page.getByText('show: 0 tasks, 0 files, 0 schedules, 0 forks among the tasks').waitFor();
    await page.getByRole('textbox', { name: /^The same name/ }).fill('adam');
    expect(await erase.isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: /^The same name/ }).fill('ada');
    await checkAccess();
    await erase.click();
    await page.getByText('show: 0 tasks, 0 files, 0 schedules erased').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row', { name: 'Erased the data of a person' }).waitFor();
  });
});
