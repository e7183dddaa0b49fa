import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { until } from '../../../test/kit/until.ts';
import { chromiumForTests } from '../../../test/support/chromium.ts';
import { type Action, actions } from '../src/api/agent.ts';
import { type OpenedApp, openApp } from './open-app.ts';

const executablePath = await chromiumForTests();

describe.skipIf(!executablePath)('what the inspector shows is true:', () => {
  let app: OpenedApp;
  beforeAll(async () => {
    app = await openApp(executablePath!, Object.keys(actions) as Action[]);
  }, 300_000);
  afterAll(() => app.close());

  const entry = (text: string | RegExp) => app.rows('Timeline').filter({ hasText: text }).first();
  /** Opens a task once it has a state. */
  const open = async (text: string, state: string) => {
    const id = await app.start(text);
    await until(app.served.show, id, state);
    await app.go(`#/agents/show/tasks/${id}`);
    await entry(/Task created/).waitFor();
    return id;
  };
  const textsOf = (selector: string) => app.page.locator(selector).allInnerTexts();

  const truths: Readonly<Record<string, () => Promise<void>>> = {
    async 'a row has its own colours, also in the place of another one'() {
      const { page, rows } = app;
      await open('chunks 3', 'COMPLETED');
      await page.getByLabel('Fold chunks').uncheck();
      await app.go(
        `#/agents/show/tasks/${(await until(app.served.show, await app.start('chunks 300'), 'COMPLETED')).id}`,
      );
      await entry('Completed').waitFor();
      const stale = await rows('Timeline').evaluateAll((all) =>
        all.flatMap((row) => {
          const fresh = row.cloneNode(true) as Element;
          row.parentElement!.append(fresh);
          const [one, other] = [row, fresh].map((each) =>
            ['.entry-label', '.icon'].map((part) => getComputedStyle(each.querySelector(part)!).color).join(),
          );
          fresh.remove();
          return one === other ? [] : [row.textContent];
        }),
      );
      expect(stale).toEqual([]);
      await page.getByLabel('Fold chunks').check();
    },
    async 'the head and the bars say the same time'() {
      await open('steps', 'COMPLETED');
      const [took] = (await textsOf('.task-fact')).flatMap((text) => /^took (.*)/.exec(text)?.[1] ?? []);
      expect(await textsOf('.waterfall h2')).toEqual([`${took} in all`]);
    },
    async 'a row and a file say the same size'() {
      await open('content', 'COMPLETED');
      const files = await app.page.locator('figcaption').evaluateAll((all) =>
        all.map((each) => {
          const [name, about] = [...each.children].map((part) => part.textContent);
          return `[${name}, ${about?.split(' · ')[1]}]`;
        }),
      );
      expect(files).toContain('[pixel.png, 70 bytes]');
      for (const file of files) await entry(file).waitFor();
    },
    async 'a gap leads to the row above, also where others are hidden'() {
      await open('steps', 'COMPLETED');
      await app.page.getByRole('combobox', { name: 'Entries' }).selectOption('What clients see');
      const [times, gaps] = [await textsOf('.entry-time'), await textsOf('.entry-gap')];
      const ms = times.map((time) => Date.parse(`2026-01-01T${time}`));
      const between = ms.slice(1).map((at, index) => at - ms[index]!);
      expect(between.length).toBeGreaterThan(0);
      expect(gaps).toEqual(['', ...between.map((gap) => (gap > 0 ? `+${gap} ms` : ''))]);
      await app.page.getByRole('combobox', { name: 'Entries' }).selectOption('Everything');
    },
    async 'a task is live until it has ended'() {
      const { page, served } = app;
      const id = await open('hold', 'WORKING');
      const live = page.locator('.task-facts').getByText('Live', { exact: true });
      await live.waitFor();
      served.gate.release();
      await until(served.show, id, 'COMPLETED');
      await live.waitFor({ state: 'detached' });
    },
    async 'a row that came is news, and those before it are not'() {
      const { go, rows, start } = app;
      await start('ask');
      await go('#/agents/show/tasks');
      await rows('Tasks').first().waitFor();
      expect(await rows('Tasks').locator('.is-changed').count()).toBe(0);
      await start('draw the news');
      await expect.poll(() => textsOf('.task-row:has(.is-changed) .cell-title')).toEqual(['draw the news']);
    },
    async 'before the scripts are there, the page says what it is'() {
      const page = await app.page.context().newPage();
      await page.route('**/*.js', (route) => route.abort());
      await page.goto(app.served.address);
      await page.getByText('Baton inspector', { exact: true }).waitFor();
      await page.getByText('Opening …').waitFor();
      await page.close();
    },
    async 'a text from right to left keeps its beginning'() {
      await open('هل يمكنك مساعدتي؟', 'INPUT_REQUIRED');
      const turned = (selector: string) =>
        app.page
          .locator(selector)
          .first()
          .evaluate((each) => getComputedStyle(each).direction);
      expect(await Promise.all(['.task-title', '.message-user .plain-text'].map(turned))).toEqual([
        'rtl',
        'rtl',
      ]);
      await app.go('#/agents/show/tasks');
      await expect.poll(() => turned('.cell-title')).toBe('rtl');
    },
    async 'an id is never cut in a digit'() {
      const { page, go, rows } = app;
      await page.setViewportSize({ width: 1024, height: 800 });
      await go('#/tasks');
      await rows('Tasks').first().waitFor();
      const cut = await page
        .locator('.task-row .cell-sub .mono')
        .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length);
      expect(cut).toBe(0);
      await page.setViewportSize({ width: 1440, height: 900 });
    },
    async 'agents of one letter have different signs'() {
      await app.go('#/fleet');
      await app.page.getByRole('link', { name: 'Old', exact: true }).waitFor();
      await expect.poll(() => textsOf('.fleet-page .agent-mark')).toEqual(['S1', 'S2', 'O']);
    },
    async 'a task that is not there leads to those that are'() {
      await app.go('#/agents/show/tasks/none');
      await app.page.getByText('The store has no task none').waitFor();
      await app.page.getByRole('link', { name: 'All tasks of the agent' }).click();
      await app.rows('Tasks').first().waitFor();
    },
    async 'headings of a text stand in the order of the page'() {
      await open('content', 'COMPLETED');
      await app.page.getByRole('heading', { name: /^Report/ }).waitFor();
      const levels = await app.page
        .getByRole('heading')
        .evaluateAll((all) => all.map(({ tagName }) => Number(tagName[1])));
      expect(levels.filter((level) => level === 1)).toHaveLength(1);
      expect(levels.filter((level, at) => level > (levels[at - 1] ?? 1) + 1)).toEqual([]);
    },
    async 'what is hidden is counted'() {
      const { go, page, start, served, rows } = app;
      for (const name of ['one', 'two'])
        await until(served.show, await start(`label schedule:${name}`), 'COMPLETED');
      await go('#/agents/show/tasks?q=-label:schedule:*');
      await page.getByText('2 scheduled are hidden. All').waitFor();
      await go('#/agents/show/tasks?q=-label:schedule:*%20draw');
      await page.getByText(/^All \d+ tasks were searched/).waitFor();
      await rows('Tasks').first().waitFor();
    },
    async 'the key End goes to the end of all tasks'() {
      const { go, page, rows, served } = app;
      for (let n = 0; n < 600; n += 1) await rpc(served.show, 'SendMessage', { message: say('fail') });
      await go('#/agents/show/tasks');
      await rows('Tasks').first().click({ button: 'right' });
      await page.getByRole('listbox', { name: 'Tasks' }).press('End');
      await rows('Tasks').filter({ hasText: 'chunks 3' }).first().waitFor();
    },
  };

  it.each(Object.keys(truths))('%s', (truth) => truths[truth]!());
});
