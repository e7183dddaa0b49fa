import { connect } from '@batonjs/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import { chromiumForTests } from '../../../test/support/chromium.ts';
import { type Action, actions } from '../src/api/agent.ts';
import { type OpenedApp, openApp } from './open-app.ts';

const executablePath = await chromiumForTests();

/** The animations that began, as the page noted them. */
type Noting = typeof globalThis & { begun: string[] };

describe.skipIf(!executablePath)('the lists of the inspector', () => {
  let app: OpenedApp;
  beforeAll(async () => {
    app = await openApp(executablePath!, Object.keys(actions) as Action[], { clientRequests: true });
  }, 300_000);
  afterAll(() => app.close());

  it.each(['no-preference', 'reduce'] as const)(
    '18 a row whose state changes moves, also to its new place, where motion is wanted: %s',
    async (reducedMotion) => {
      const { page, go, start, rows, served } = app;
      await page.emulateMedia({ reducedMotion });
      await go('#/agents/show/tasks');
      const held = await start('hold');
      const later = await start('ask');
      const states = () => rows('Tasks').locator('.state').allInnerTexts();
      await until(served.show, later, 'INPUT_REQUIRED');
      await expect.poll(async () => (await states()).slice(0, 2)).toEqual(['Input required', 'Working']);
      await page.evaluate(() => {
        const begun: string[] = [];
        (globalThis as Noting).begun = begun;
        addEventListener('animationstart', ({ animationName, target }) => {
          if (animationName === 'arrive') begun.push((target as Element).textContent);
        });
      });
      served.gate.release();
      await until(served.show, held, 'COMPLETED');
      await expect.poll(async () => (await states()).slice(0, 2)).toEqual(['Completed', 'Input required']);
      const begun = () =>
        page.evaluate(async () => {
          // An animation begins with the frame after the one that draws the row.
          for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
          return (globalThis as Noting).begun;
        });
      if (reducedMotion === 'reduce') expect(await begun()).toEqual([]);
      else await expect.poll(begun).toContain('Completed');
      await page.emulateMedia({ reducedMotion: 'reduce' });
    },
  );

  it('says in one place that there is no task to compare', async () => {
    const { page, go } = app;
    await go('#/compare');
    const [title, text] = await Promise.all(
      [/^No task to compare$/, /^Open a task that was run again/].map((words) =>
        page.getByText(words).first().boundingBox(),
      ),
    );
    expect(text!.y - title!.y).toBeLessThan(60);
  });

  describe('on a phone', () => {
    beforeAll(() => app.page.setViewportSize({ width: 390, height: 844 }));
    afterAll(() => app.page.setViewportSize({ width: 1440, height: 900 }));

    const boxOf = async (part: ReturnType<OpenedApp['page']['locator']>) => (await part.boundingBox())!;
    /** What is cut off within itself or does not fit the page. */
    const cutOff = (selector: string) =>
      app.page.locator(selector).evaluateAll((parts) =>
        parts.flatMap((part) => {
          const { right } = part.getBoundingClientRect();
          return part.scrollWidth > part.clientWidth || right > innerWidth ? [part.textContent] : [];
        }),
      );

    it('3 the choices of a list share its width, and the count has a line of its own', async () => {
      const { page, go, start, served } = app;
      await until(served.show, await start('throw'), 'FAILED');
      await go('#/tasks');
      const choices = page.locator('.filters select');
      await page.getByRole('option').filter({ hasText: 'throw' }).first().waitFor();
      const boxes = await Promise.all((await choices.all()).map(boxOf));
      expect(boxes).toHaveLength(2);
      for (const { width, x } of boxes) {
        expect(width).toBeGreaterThan(100);
        expect(x + width).toBeLessThanOrEqual(390);
      }
      const count = await boxOf(page.getByRole('status').filter({ hasText: /^\d+ tasks?$/ }));
      expect(count.x).toBeLessThan(40);
      expect(count.y).toBeGreaterThan(boxes[0]!.y + boxes[0]!.height);
      const [tick, title] = await Promise.all(
        ['.tick', '.cell-title'].map((part) => boxOf(page.locator(`.task-row ${part}`).first())),
      );
      expect(title!.x).toBeGreaterThanOrEqual(tick!.x + tick!.width);
      const search = await boxOf(page.getByRole('combobox', { name: /^Search/ }));
      expect(search.width).toBeGreaterThan(300);
    });

    it('3 all pages stand in one line', async () => {
      const { page, go, start } = app;
      await start('ask');
      await go('#/tasks');
      await page.getByRole('link', { name: /^Inbox \d+$/ }).waitFor();
      const places = await boxOf(page.getByRole('navigation', { name: 'All agents' }));
      expect(await page.getByRole('navigation', { name: 'All agents' }).getByRole('link').count()).toBe(6);
      const boxes = await Promise.all(
        (await page.getByRole('navigation', { name: 'All agents' }).getByRole('link').all()).map(boxOf),
      );
      expect(new Set(boxes.map(({ y }) => Math.round(y))).size).toBe(1);
      expect(places.x + places.width).toBeLessThanOrEqual(390);
    });

    it('3 the tab of the page that is shown is on the screen', async () => {
      const { page, go } = app;
      await go('#/agents/show/card');
      const tab = page.getByRole('navigation', { name: 'Pages of Show' }).locator('[aria-current=page]');
      await expect.poll(async () => (await boxOf(tab)).x + (await boxOf(tab)).width).toBeLessThanOrEqual(390);
    });

    it('3 a row has its title over its state, and both are whole', async () => {
      const { page, go, rows } = app;
      await go('#/tasks');
      const row = rows('Tasks').filter({ hasText: 'throw' });
      const code = await boxOf(row.locator('.chip-bad'));
      expect((await boxOf(row.locator('.cell-agent'))).width).toBeLessThan(20);
      expect(code.x + code.width).toBeLessThanOrEqual((await boxOf(row.locator('.cell-age'))).x);
      const [title, state, age] = await Promise.all(
        ['.cell-title', '.state', '.cell-age'].map((part) => boxOf(row.locator(part).first())),
      );
      expect(title!.y + title!.height).toBeLessThanOrEqual(state!.y + 1);
      expect(age!.x + age!.width).toBeLessThanOrEqual(390);
      expect(await cutOff('.task-row .state')).toEqual([]);
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBeLessThanOrEqual(390);
    });

    it('3 the head of a task fits, with all that can be done', async () => {
      const { page, go, start } = app;
      await go(`#/agents/show/tasks/${await start('hold')}`);
      await page.getByRole('button', { name: 'Cancel task' }).waitFor();
      expect(await cutOff('.task-head .button')).toEqual([]);
      const { height } = await boxOf(page.locator('.task-head-row'));
      expect(height).toBeLessThan(80);
    });

    it('3 the caller of a request is whole, its agent a mark', async () => {
      const { page, go, rows } = app;
      await (await connect(`${app.served.url}/show`)).send('ask');
      await go('#/requests');
      const row = rows('Requests').filter({ hasText: 'SendMessage' }).first();
      await row.getByText('anonymous').waitFor();
      expect(await cutOff('.request-row .cell-sub > span:not(.cell-agent)')).toEqual([]);
      expect((await boxOf(row.locator('.cell-agent'))).width).toBeLessThan(20);
      await app.checkAccess();
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBeLessThanOrEqual(390);
      expect(app.problems).toEqual([]);
    });
  });
});
