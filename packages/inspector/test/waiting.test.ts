import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from '@batonjs/client';
import { type AgentServer, completed, createAgentServer, reply, working } from '@batonjs/server';
import { recurring } from '@batonjs/server/schedules';
import { memoryStore } from '@batonjs/store-memory';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';
import { createInspector } from '../src/inspector.ts';
import { builtApp } from './built-app.ts';
import { closed, token } from './inspected-servers.ts';
import { checkAccess } from './open-app.ts';

const executablePath = await chromiumForTests();
const card = { name: 'The baker', description: 'Bakes' };
const store = memoryStore();

/** A version of an agent whose turns go on in processes of the same version only. */
const version = (name: string): AgentServer =>
  createAgentServer({
    card,
    name: 'baker',
    store,
    version: { name, deploys: 'pinned' },
    restart: 'rerun',
    logger: () => {},
    async *agent({ signal }) {
      yield working('Kneading');
      if (name === '1.4') await untilAborted(signal);
      yield completed(`by ${name}`);
    },
  });

/** Leaves a task of version 1.4 behind, and a schedule that no server has. Resolves to the id of the task. */
async function leaveBehind(): Promise<string> {
  const old = version('1.4');
  const client = await connect('http://localhost', { fetch: (request) => old.fetch(request) });
  const { task } = await client.send('Bread', { returnImmediately: true });
  await eventually(() => expect(old.load.turns).toBe(1));
  await old.close({ graceMs: 0 });
  // Its clock is behind by two minutes: the store remembers its schedules, and none of their times is over.
  const server = createAgentServer({
    card,
    name: 'baker',
    store,
    clock: { now: () => Date.now() - 120_000 },
    logger: () => {},
    agent: () => reply('Hello'),
    schedules: recurring([{ name: 'hourly-rolls', cron: '* * * * *', message: 'Rolls' }]),
  });
  const { schedulesIn } = await import('@batonjs/server/schedules');
  await eventually(async () => expect(await schedulesIn(store, 'baker')).toHaveLength(1));
  await server.close({ graceMs: 0 });
  return task!.id;
}

describe.skipIf(!executablePath)('work that waits', { timeout: 120_000 }, () => {
  let page: Page;
  let id: string;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    id = await leaveBehind();
    const server = version('1.5');
    const clockwork = createAgentServer({
      card: { name: 'The clock', description: 'Ticks' },
      name: 'clock',
      store: memoryStore(),
      logger: () => {},
      async *agent() {
        yield completed('Tick');
      },
      schedules: recurring([
        { name: 'tick', cron: '* * * * * *', message: 'Tick' },
        { name: 'new-year', cron: '@yearly', timezone: 'Europe/Paris', message: 'Bang', missed: 'skip' },
      ]),
    });
    const inspect = createInspector(
      {
        agents: [{ server }, { server: clockwork }],
        token,
        allow: ['send', 'cancel'],
      },
      await builtApp(),
    );
    const http = createServer(inspect).listen(0, '127.0.0.1');
    await once(http, 'listening');
    closing.push(async () => {
      inspect.close();
      await Promise.all([server.close({ graceMs: 0 }), clockwork.close({ graceMs: 0 })]);
      await closed(http);
    });
    const browser = await openChromium(executablePath!);
    closing.push(() => browser.close());
    page = await browser.context.newPage();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(inspect.addressAt(`http://127.0.0.1:${(http.address() as AddressInfo).port}`));
  }, 300_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  const go = (hash: string) =>
    page.evaluate((to) => {
      location.hash = to;
    }, hash);
  const line = 'baton tasks --store … --agent baker release --of 1.4';

  it('tasks of a version that no process runs are a state of the list, with what to do', async () => {
    await page.getByRole('link', { name: 'All tasks' }).click();
    await page.getByText('1 task waits for a version that no process runs.').waitFor();
    await page.getByRole('option').filter({ hasText: 'waits for version 1.4' }).waitFor();
    await page.getByRole('button', { name: 'Show it' }).click();
    await page.getByText('1 task of The baker waits for version 1.4, which no process runs.').waitFor();
    await page.getByText(line).waitFor();
    expect(page.url()).toContain('state=unserved');
    const rows = page.getByRole('listbox', { name: 'Tasks' }).getByRole('option');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: /^Unserved/, pressed: true }).waitFor();
    await checkAccess(page);
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBeLessThanOrEqual(width);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('the page of such a task says so, until any version may go on with it', async () => {
    await page.getByRole('listbox', { name: 'Tasks' }).getByRole('option').first().click();
    const note = page.getByText('Its turn waits for version 1.4, which no process runs.');
    await note.waitFor();
    expect(page.url()).toContain(id);
    await page.getByText(line).waitFor();
    await checkAccess(page);
    await store.unpin!('baker', '1.4', 100);
    await page.getByRole('option').filter({ hasText: 'by 1.5' }).first().waitFor();
    await note.waitFor({ state: 'detached' });
    await go('#/tasks?state=unserved');
    await page.getByText('No task fits').waitFor();
  });

  it('schedules have a page: when they come next, what became of them, and which are overdue', async () => {
    await page.getByRole('link', { name: 'Schedules' }).click();
    const clock = page.getByRole('region', { name: 'The clock' });
    const tick = clock.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'tick' }) });
    await tick.getByText(/^Next: \d\d:\d\d:\d\d, (now|in \d s)$/).waitFor();
    await tick.getByText('Completed').first().waitFor();
    const year = clock.getByRole('listitem').filter({ hasText: 'new-year' });
    await year.getByText('@yearly Europe/Paris').waitFor();
    await year.getByText('Missed times are passed over').waitFor();
    await year.getByText('Not started yet').waitFor();
    await checkAccess(page);
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBeLessThanOrEqual(width);
    }
    await checkAccess(page);
    await page.setViewportSize({ width: 1440, height: 900 });
    await tick.getByRole('link', { name: 'All its tasks' }).click();
    await page.getByRole('listbox', { name: 'Tasks' }).getByRole('option').first().waitFor();
    expect(new URLSearchParams(page.url().split('?')[1]).get('q')).toBe('label:"schedule:tick"');
  });

  it('a schedule that no server has is overdue, and the page says how it is forgotten', async () => {
    await go('#/schedules');
    const baker = page.getByRole('region', { name: 'The baker' });
    await baker.getByText(/^Overdue since/).waitFor();
    await baker.getByText(/No server has this schedule/).waitFor();
    await baker.getByText(/^baton schedules forget /).waitFor();
  });
});
