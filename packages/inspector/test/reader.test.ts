import { connect } from '@batonjs/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import { chromiumForTests } from '../../../test/support/chromium.ts';
import { type Action, actions } from '../src/api/agent.ts';
import { type OpenedApp, openApp } from './open-app.ts';

const executablePath = await chromiumForTests();

describe.skipIf(!executablePath)('a reader of the inspector', () => {
  let app: OpenedApp;
  beforeAll(async () => {
    app = await openApp(executablePath!, Object.keys(actions) as Action[]);
  }, 300_000);
  afterAll(() => app.close());

  const size = (width: number, height: number) => app.page.setViewportSize({ width, height });
  const entry = (text: string | RegExp) => app.rows('Timeline').filter({ hasText: text }).first();
  const state = () => app.page.getByRole('region', { name: 'The task', exact: true });

  it('sees one task as one', async () => {
    const { page, go, start, served } = app;
    await until(served.show, await start('fail'), 'FAILED');
    await go('#/agents/show/tasks');
    await page.getByText('1 task', { exact: true }).waitFor();
  });

  it('reads a conversation in the order in which it was held', async () => {
    const { go, start, served } = app;
    const id = await start('ask');
    await (await connect(`${served.url}/show`)).send('blue', { task: id });
    await go(`#/agents/show/tasks/${id}`);
    await entry('You said blue').waitFor();
    const texts = await state().getByRole('list', { name: 'Messages' }).locator('.content').allInnerTexts();
    expect(texts).toEqual(['ask', 'Which colour?', 'blue', 'You said blue']);
  });

  it('sees the same history at each opening, in the order of its times', async () => {
    const { page, go, start, served } = app;
    const id = await start('hold');
    const read = async () => {
      await go('#/agents/show/tasks');
      await app.rows('Tasks').first().waitFor();
      await go(`#/agents/show/tasks/${id}`);
      // What the inspector noticed stands beside the history.
      await page.getByText(/Lease 1, held by/).waitFor();
      return app.rows('Timeline').allInnerTexts();
    };
    const first = await read();
    expect(first.join('\n')).not.toMatch(/lease|deadline/i);
    expect(await read()).toEqual(first);
    const times = first.flatMap((text) => /\d\d:\d\d:\d\d\.\d{3}/.exec(text) ?? []);
    expect(times.length).toBe(first.length);
    expect(times).toEqual([...times].sort());
    served.gate.release();
    await until(served.show, id, 'COMPLETED');
  });

  it('sees time, state and duration of each request at every width', async () => {
    const { page, go, rows, picture } = app;
    await go('#/agents/show/send');
    await page.getByRole('textbox', { name: 'Your message' }).fill('fail');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await entry('The printer is on fire').waitFor();
    for (const width of [1440, 1024, 390]) {
      await size(width, 900);
      await go('#/agents/show/wire');
      const sent = rows('Requests').filter({ hasText: 'SendMessage' }).first();
      await sent.waitFor();
      for (const place of ['.cell-sub > .mono', '.wire-status', '.number']) {
        const cell = sent.locator(place);
        expect(await cell.isVisible()).toBe(true);
        expect(await cell.evaluate((each) => each.scrollWidth - each.clientWidth)).toBeLessThanOrEqual(0);
      }
      await picture(`reader-wire-${width}`);
    }
    await size(1440, 900);
  });

  it('is told once that there is no such task, and that nothing was lost', async () => {
    const { page, go, start, problems } = app;
    const known = problems.length;
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/timeline')) asked.push(request.url());
    });
    await go('#/agents/show/tasks/no-such-task');
    await page.getByText('The store has no task no-such-task').waitFor();
    await go(`#/agents/show/tasks/${await start('chunks 3')}`);
    await entry('Written').waitFor();
    expect(asked.filter((url) => url.includes('no-such-task')).length).toBe(1);
    expect(await page.locator('.banner').count()).toBe(0);
    expect(problems.splice(known).join('\n')).toContain('404');
  });

  it('can do nothing while the connection is lost, and all when it is back', async () => {
    const { page, go, problems } = app;
    const known = problems.length;
    const act = page.getByRole('button', { name: 'Act on all …' });
    await go('#/agents/show/tasks');
    await expect.poll(() => act.isEnabled()).toBe(true);
    await page.route('**/api/**', (route) => route.abort());
    await go('#/tasks');
    await go('#/agents/show/tasks');
    await page.getByText('The connection to the inspector is lost.').waitFor();
    expect(await act.isDisabled()).toBe(true);
    await go('#/agents/show/card');
    await page.getByText('The inspector cannot be reached').waitFor();
    await page.unroute('**/api/**');
    // This page has no feed that would see it.
    await page.getByText(/Back after [\d.]+ s/).waitFor();
    await go('#/agents/show/tasks');
    await expect.poll(() => act.isEnabled()).toBe(true);
    problems.splice(known);
  });

  it('adds an agent by an address without a scheme, and removes it', async () => {
    const { page, served, go } = app;
    await go('#/fleet');
    await page.getByRole('textbox', { name: 'Address of an agent' }).fill(`${new URL(served.url).host}/old/`);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.url()).toContain('old-at-');
    await go('#/fleet');
    await page.getByRole('button', { name: 'Remove Old' }).click();
    await page.getByRole('button', { name: 'Remove Old' }).waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('old-at-');
  });

  it('finds a task of any agent by what it is about, what it said and its labels', async () => {
    const { page, go, start, rows, served, checkAccess, picture } = app;
    const far = await start('fail', 'far');
    const journey = await until(served.show, await start('label me'), 'COMPLETED');
    await go('#/tasks');
    const search = page.getByRole('combobox', { name: /^Search/ });
    const found = (text: string) => rows('Tasks').filter({ hasText: text });
    await found('Journey of Ada').waitFor();
    await rows('Tasks').filter({ hasText: 'Show far' }).first().waitFor();
    await checkAccess();
    for (const width of [1440, 1024, 390]) {
      await size(width, 900);
      await picture(`reader-all-${width}`);
      expect(await found('Journey of Ada').locator('.cell-title').isVisible()).toBe(true);
    }
    await size(1440, 900);
    for (const typed of ['journey OF', 'label:vip', journey.id.slice(-9)]) {
      await search.fill(typed);
      await expect.poll(() => rows('Tasks').count()).toBe(1);
      await found('Journey of Ada').waitFor();
      await expect.poll(() => new URLSearchParams(page.url().split('?')[1]).get('q')).toBe(typed);
    }
    // No store here has an index of texts, and the page says so where a text is searched.
    const onlyNewest = page.getByText(/^All \d+ tasks were searched: ids, titles, labels and answers\.$/);
    await onlyNewest.waitFor();
    await search.fill('label:vip');
    await onlyNewest.waitFor({ state: 'detached' });
    await search.fill('printer is on fire');
    await expect.poll(() => rows('Tasks').filter({ hasNotText: 'printer' }).count()).toBe(0);
    expect(await rows('Tasks').last().getAttribute('href')).toContain('#/agents/');
    await found('Show far').first().click();
    await expect.poll(() => page.url()).toContain(`#/agents/far/tasks/${far}`);
  });

  it('has the filter in the address, and comes back to it', async () => {
    const { page, go, rows } = app;
    await go('#/tasks');
    await page.getByRole('button', { name: /^Failed/ }).click();
    await expect.poll(() => page.url()).toContain('state=failed');
    const address = page.url();
    await page.reload();
    await expect.poll(() => rows('Tasks').filter({ hasNotText: 'Failed' }).count()).toBe(0);
    await rows('Tasks').first().click();
    await page.getByRole('heading', { name: 'fail', exact: true }).waitFor();
    await page
      .getByRole('banner')
      .or(page.locator('.task-head'))
      .getByRole('link', { name: 'Tasks' })
      .click();
    await expect.poll(() => page.url()).toBe(address);
  });

  it('sees what a task is about, its state once, who works on it, and its place in the address', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    const id = await start('label me');
    await until(served.show, id, 'COMPLETED');
    await go(`#/agents/show/tasks/${id}?at=2`);
    await page.getByRole('heading', { name: 'Journey of Ada' }).waitFor();
    await page.getByText('The task as it was at entry 2').waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    await expect.poll(() => page.url()).not.toContain('at=');
    expect(await page.locator('.state').allTextContents()).toEqual(['Completed']);
    await page.getByRole('link', { name: 'vip' }).waitFor();
    await page.getByText(/^took \d/).waitFor();
    await checkAccess();
    await picture('reader-task');
    await page.getByRole('slider').fill('3');
    await expect.poll(() => page.url()).toContain('at=3');
  });

  it('sees how all agents are on the first page, and each number leads to its tasks', async () => {
    const { page, go, start, served, rows, checkAccess, picture } = app;
    await until(served.show, await start('fail'), 'FAILED');
    const taskId = await start('ask');
    await until(served.show, taskId, 'INPUT_REQUIRED');
    await until(served.show, await start('hold'), 'WORKING');
    await go('#/');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Show', exact: true }) });
    const cells = () => row.getByRole('cell').allInnerTexts();
    await expect.poll(async () => (await cells())[1]).toBe('1');
    await expect.poll(async () => (await cells())[5]).not.toBe('–');
    const [, working, waiting, questions, failed] = await cells();
    expect([working, waiting, failed]).toEqual(['1', '–', expect.stringMatching(/^[1-9]\d* · \d+ %$/)]);
    // Of an agent without a store, no number is known.
    expect(await page.getByRole('row', { name: 'Show far' }).getByRole('cell').allInnerTexts()).toEqual([
      'S2\nShow far',
      ...Array(5).fill('–'),
      ...Array(4).fill(''),
    ]);
    const [ended, within] = (await cells()).slice(5);
    expect([ended, within]).toEqual([
      expect.stringMatching(/^\d+$/),
      expect.stringMatching(/^[\d.]+ (ms|s)$/),
    ]);
    await row.getByRole('img', { name: /^at most \d+ tasks? in an hour$/ }).waitFor();
    await checkAccess();
    await picture('reader-fleet');
    await size(390, 844);
    await checkAccess();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await size(1440, 900);
    for (const [column, count] of [
      [1, working],
      [3, questions],
      [4, failed?.split(' ')[0]],
    ] as const) {
      await go('#/fleet');
      await row.getByRole('cell').nth(column).getByRole('link').click();
      await expect.poll(() => rows(column === 3 ? 'Questions' : 'Tasks').count()).toBe(Number(count));
    }
    served.gate.release();
    await go('#/agents/show/card');
    await page.getByRole('combobox', { name: 'Switch to' }).selectOption('Show far');
    await expect.poll(() => page.url()).toContain('#/agents/far/card');
  });

  it('sees why a task failed, with the stack and its cause, which no client gets', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    const task = await until(served.show, await start('throw it'), 'FAILED');
    expect(JSON.stringify(task)).not.toMatch(/oven|gas|show-agent/i);
    await go(`#/agents/show/tasks/${task.id}`);
    await page.getByText('The oven is cold', { exact: true }).waitFor();
    await state().getByText('Caused by: Error: No gas', { exact: true }).waitFor();
    const own = await state().locator('.failure-own').textContent();
    expect(own).toMatch(/^at .*test\/show-agent\.ts:\d+/);
    expect(own).not.toMatch(/node_modules|node:|src\/turns|file:/);
    await state().getByText('Whole stack').click();
    const stack = await state().locator('.failure details pre').textContent();
    expect(stack).toMatch(/The oven is cold[\s\S]*show-agent[\s\S]*Caused by: Error: No gas/);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await state().getByRole('button', { name: 'Copy for an issue' }).click();
    await state().getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^\*\*The oven is cold\*\*\n\nTurn 1, `OVEN`, not tried again\n\n- caused by: Error: No gas\n\n```\nat /,
    );
    await state().getByText('OVEN', { exact: true }).waitFor();
    await checkAccess();
    await picture('reader-failure');
    await state().getByRole('button', { name: 'Turn 1', exact: true }).click();
    await page.getByText(/The task as it was at entry \d+/).waitFor();
    const selected = app.rows('Timeline').and(page.locator('[aria-selected=true]'));
    await expect.poll(() => selected.textContent()).toContain('Turn 1 failed');
    // The list says what was thrown, too.
    await go('#/agents/show/tasks?state=failed');
    await app.rows('Tasks').locator('.cell-text', { hasText: 'The oven is cold' }).first().waitFor();
    // Of a task that ended without a word, it says what was made.
    await until(served.show, await start('draw a cat'), 'COMPLETED');
    await go('#/agents/show/tasks?state=completed');
    await app.rows('Tasks').locator('.cell-text', { hasText: 'A drawing: a cat' }).first().waitFor();
    await go('#/agents/show/tasks?state=failed');
    await page.getByRole('button', { name: 'Act on all …' }).click();
    await page.getByRole('button', { name: /^Run again \(\d+\)$/ }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('sees turns, steps and waits as bars', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    const id = await start('steps');
    await until(served.show, id, 'COMPLETED');
    await go(`#/agents/show/tasks/${id}`);
    const bars = page.getByRole('region', { name: 'Waterfall' }).locator('.bar');
    const names = () => bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label')!));
    await expect
      .poll(names)
      .toEqual([
        expect.stringMatching(/^Turn 1, [\d.]+ \w+$/),
        expect.stringMatching(/^measure, \d/),
        expect.stringMatching(/^cut, \d/),
      ]);
    const [turn, step] = await Promise.all([bars.nth(0).boundingBox(), bars.nth(2).boundingBox()]);
    expect(step!.x).toBeGreaterThanOrEqual(turn!.x);
    await checkAccess();
    await picture('reader-waterfall');
    await bars.nth(0).click();
    await page.getByText(/The task as it was at entry \d+/).waitFor();
  });

  it('answers the open questions of all agents in one place, the oldest first', async () => {
    const { page, go, start, served, rows, checkAccess, picture } = app;
    const before = (
      await (await connect(`${served.url}/show`)).listTasks({ status: 'TASK_STATE_INPUT_REQUIRED' })
    ).totalSize!;
    const ana = 'ana@finance.shop.example';
    const [one, two] = [await start('ask one'), await start('ask two')];
    for (const id of [one, two]) await until(served.show, id, 'INPUT_REQUIRED');
    await go('#/inbox');
    await expect.poll(() => rows('Questions').count()).toBe(before + 2);
    const titles = await rows('Questions').locator('.cell-title').allTextContents();
    expect(titles.indexOf('ask one')).toBeLessThan(titles.indexOf('ask two'));
    await rows('Questions').filter({ hasText: 'ask one' }).click();
    const question = page.getByRole('region', { name: 'The question' });
    await question.getByText('Which colour?').waitFor();
    await expect.poll(() => page.url()).toContain(one);
    for (const width of [1440, 390]) {
      await size(width, 844);
      await checkAccess();
      await picture(`reader-inbox-${width}`);
    }
    await size(1440, 900);
    await question.getByRole('textbox', { name: 'Your answer' }).fill('green');
    await question.getByRole('button', { name: 'Send', exact: true }).click();
    await until(served.show, one, 'COMPLETED');
    await expect.poll(() => rows('Questions').count()).toBe(before + 1);
    await rows('Questions').filter({ hasText: 'ask two' }).click();
    await question.getByRole('textbox', { name: 'Assign to' }).fill(ana);
    await question.getByRole('button', { name: 'Make a link' }).click();
    const link = await question.getByRole('textbox', { name: /^Send this link to ana@/ }).inputValue();
    await question.getByText(`${ana} was asked by inspector`).waitFor();
    await rows('Questions')
      .filter({ hasText: 'ask two' })
      .getByText(`with ${ana}`, { exact: true })
      .waitFor();
    await checkAccess();
    await picture('reader-assigned');
    const person = await page.context().newPage();
    await person.goto(link);
    await person.getByText('Which colour?').waitFor();
    await checkAccess(person);
    await person.getByRole('textbox', { name: 'Your answer' }).fill('blue');
    await person.getByRole('button', { name: 'Send the answer' }).click();
    await person.getByRole('heading', { name: 'Thank you' }).waitFor();
    await person.close();
    await until(served.show, two, 'COMPLETED');
    await go(`#/agents/show/tasks/${two}`);
    const who = page.getByText(`${ana}, by link`);
    await who.waitFor();
    expect(await who.evaluate((name) => name.scrollWidth - name.clientWidth)).toBe(0);
    await page.getByRole('link', { name: /^Inbox/ }).waitFor();
  });

  it('runs a task again, from its beginning and from a position of it, and sees who did what', async () => {
    const { page, go, start, served, checkAccess } = app;
    const id = await start('steps');
    await until(served.show, id, 'COMPLETED');
    await go(`#/agents/show/tasks/${id}`);
    const newTask = async () => {
      await expect.poll(() => /tasks\/([\w-]+)/.exec(page.url())?.[1]).not.toBe(id);
      return /tasks\/([\w-]+)/.exec(page.url())![1]!;
    };
    await page.getByRole('button', { name: 'Run again', exact: true }).click();
    const again = await until(served.show, await newTask(), 'COMPLETED');
    expect(again.history?.[0]?.referenceTaskIds).toContain(id);
    await page.getByText(/^Run again of/).waitFor();
    await page.getByRole('link', { name: 'compare' }).click();
    await page
      .getByRole('region', { name: 'Right task' })
      .getByRole('button', { name: /^measure, / })
      .waitFor();
    await go(`#/agents/show/tasks/${id}`);
    await page.getByRole('button', { name: 'with other words …' }).click();
    await page.getByRole('textbox', { name: 'The first message' }).fill('steps again');
    await checkAccess();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const other = await newTask();
    await expect
      .poll(async () => (await until(served.show, other, 'COMPLETED')).history?.[0]?.parts)
      .toEqual([{ text: 'steps again' }]);
    await go(`#/agents/show/tasks/${id}`);
    await entry('Step measure').click();
    await page.getByRole('button', { name: /^Fork from entry \d+$/ }).click();
    const forked = await newTask();
    await until(served.show, forked, 'COMPLETED');
    await entry('Step cut').waitFor();
    await go(`#/agents/show/tasks/${id}`);
    await entry('Step measure').click();
    await page.getByRole('button', { name: 'Change the result of measure …' }).click();
    const result = page.getByRole('textbox', { name: 'The result of measure' });
    await result.fill('{');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('This is no JSON.').waitFor();
    await result.fill('{"metres":4}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await until(served.show, await newTask(), 'COMPLETED');
    await entry(/Step measure\s*\{"metres":4\}/).waitFor();
    await go('#/activity');
    const row = page.getByRole('row', { name: 'Ran again' });
    await expect.poll(() => row.count()).toBe(4);
    expect(await row.first().textContent()).toContain('holder of the token');
    await checkAccess();
  });

  it('compares two tasks: how long each part took, and what was said', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    const ids = [await start('steps'), await start('throw it')];
    await until(served.show, ids[0]!, 'COMPLETED');
    await until(served.show, ids[1]!, 'FAILED');
    await go(`#/compare?a=show/${ids[0]}&b=show/${ids[1]}`);
    const [left, right] = ['Left task', 'Right task'].map((name) => page.getByRole('region', { name }));
    await left!.getByRole('button', { name: /^measure, / }).waitFor();
    await right!.getByText('The oven is cold', { exact: true }).waitFor();
    await checkAccess();
    await picture('reader-compare');
    await left!.getByRole('link', { name: 'steps' }).click();
    await expect.poll(() => page.url()).toContain(ids[0]);
  });

  it('cancels all tasks of a list after it was told how many, and stops in the middle', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    const ids = await Promise.all(Array.from({ length: 6 }, () => start('ask for many')));
    await go('#/agents/show/tasks?q=ask+for+many&state=input-required');
    await page.getByText('6 tasks', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Act on all …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Cancel: 6 tasks of 6 that are listed.').waitFor();
    await checkAccess();
    await picture('reader-many');
    // The first four are held at the inspector; no other begins after the stop.
    const held = Promise.withResolvers<void>();
    await page.route('**/cancel', async (route) => {
      await held.promise;
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Cancel (6)' }).click();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    held.resolve();
    await dialog.getByText('4 done, 0 failed, of 6').waitFor();
    await page.unroute('**/cancel');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 tasks', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Act on all …' }).click();
    await dialog.getByRole('button', { name: 'Cancel (2)' }).click();
    await dialog.getByText('2 done, 0 failed, of 2').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    for (const id of ids) await until(served.show, id, 'CANCELED');
  });

  it('on a phone sees the filter, the chosen agent, and the form before the history', async () => {
    const { page, go, served, checkAccess, picture } = app;
    for (const name of ['one', 'two', 'three']) {
      await go('#/fleet');
      await page.getByRole('textbox', { name: 'Address of an agent' }).fill(`${served.url}/far/${name}`);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await expect.poll(() => page.url()).toContain(`#/agents/${name}-at-`);
    }
    await size(390, 844);
    await go('#/agents/show/tasks');
    const tabs = page.getByRole('group', { name: 'State' });
    expect((await tabs.boundingBox())!.height).toBeGreaterThan(30);
    await go(`#/agents/three-at-${new URL(served.url).host.replace(/\W+/g, '-')}/send`);
    const chosen = page.getByRole('combobox', { name: 'Switch to' });
    await expect.poll(async () => (await chosen.boundingBox())!.x).toBeLessThan(390);
    await go('#/agents/show/send');
    await page.getByRole('textbox', { name: 'Your message' }).fill('convert something');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const answer = page.getByRole('button', { name: 'Answer', exact: true });
    await answer.waitFor();
    await expect.poll(async () => (await answer.boundingBox())!.y).toBeLessThan(844);
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
      .toBeLessThanOrEqual(390);
    await checkAccess();
    await picture('reader-phone');
    await size(1440, 900);
    await go('#/fleet');
    for (const name of ['one', 'two', 'three'])
      await page.getByRole('button', { name: new RegExp(`^Remove ${name}`) }).click();
  });
});
