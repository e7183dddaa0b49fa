import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import { chromiumForTests } from '../../../test/support/chromium.ts';
import { type Action, actions } from '../src/api/agent.ts';
import { type OpenedApp, openApp } from './open-app.ts';

const executablePath = await chromiumForTests();
const isOver = /^This link was opened before, has expired or was taken back: ask for another one/;

describe.skipIf(!executablePath)('a link for a colleague', { timeout: 120_000 }, () => {
  let app: OpenedApp;
  let colleague: Page;
  beforeAll(async () => {
    app = await openApp(executablePath!, Object.keys(actions) as Action[]);
    colleague = await (await app.page.context().browser()!.newContext()).newPage();
  }, 300_000);
  afterAll(async () => {
    await colleague.context().close();
    await app.close();
  });

  const dialog = () => app.page.getByRole('dialog', { name: 'Share with a colleague' });
  const listed = (text: RegExp) => dialog().getByRole('listitem').filter({ hasText: text });
  let link: string;
  let task: string;

  it('is made on any page, shown once, and listed without its secret', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    task = await start('ask');
    await until(served.show, task, 'INPUT_REQUIRED');
    await go(`#/agents/show/tasks/${task}?scope=0`);
    await page.getByRole('button', { name: 'Share …' }).click();
    await dialog().getByText('so it opens on this machine only').waitFor();
    await dialog().getByRole('textbox', { name: 'Name of the colleague' }).fill('Ana');
    await dialog().getByRole('button', { name: 'Make a link' }).click();
    link = await dialog()
      .getByRole('textbox', { name: /^Send this link to Ana/ })
      .inputValue();
    expect(link).toMatch(
      new RegExp(`^${served.url}/inspector/#look=[\\w-]{43}/agents/show/tasks/${task}\\?scope=0$`),
    );
    await listed(/^Ana until .*, not opened yet; made by holder of the token/).waitFor();
    await checkAccess();
    await picture('share');
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect((await dialog().boundingBox())!.width).toBeLessThanOrEqual(390);
    await checkAccess();
    await picture('share-phone');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('opens its page for looking, also after a reload and on a phone, and not a second time', async () => {
    await colleague.goto(link);
    for (const width of [1440, 390]) {
      await colleague.setViewportSize({ width, height: 844 });
      await colleague.reload();
      await colleague.getByText('Which colour?').first().waitFor();
      expect(colleague.url()).toBe(link.replace(/look=[\w-]{43}/, ''));
      await app.checkAccess(colleague);
      const buttons = await colleague.getByRole('button').allInnerTexts();
      expect(buttons.filter((text) => /Share|Run|Cancel|Send|Answer|Kill|Retry|Fork/.test(text))).toEqual([]);
      expect(await colleague.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    await colleague.setViewportSize({ width: 1440, height: 900 });
    await colleague.getByText('Read only').waitFor();
    // A row that nothing can be done to has no box to tick.
    expect(await colleague.locator('.task-row .tick').count()).toBe(0);
    expect(await colleague.evaluate(() => [Object.keys(localStorage), document.cookie])).toEqual([[], '']);
    const other = await (await app.page.context().browser()!.newContext()).newPage();
    await other.goto(link);
    await other.getByText(isOver).waitFor();
    await app.checkAccess(other);
    await other.context().close();
    // The browser that opened it has its cookie.
    await colleague.goto('about:blank');
    await colleague.goto(link);
    await colleague.getByText('Which colour?').first().waitFor();
  });

  it('is taken back, and the page of the colleague says so', async () => {
    const opened = listed(/^Ana until .*, opened/);
    await opened.getByRole('button', { name: 'Take back' }).click();
    await opened.waitFor({ state: 'detached' });
    await colleague.getByText(isOver).waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await app.go('#/activity');
    await app.page.getByRole('combobox', { name: /^Search in who/ }).fill('back a LINK');
    await app.page.getByText('The newest 2 actions of 2 that were searched').waitFor();
    expect(await app.page.getByRole('row', { name: 'Made or took back a link' }).count()).toBe(2);
    await app.checkAccess();
    await app.picture('activity-search');
    await app.page.getByRole('combobox', { name: /^Search/ }).fill('nothing');
    await app.page.getByText('No action has these words').waitFor();
    expect(app.problems).toEqual([]);
  });
});
