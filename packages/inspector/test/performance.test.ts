import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FACT_FORMAT, type Fact, type Head, headOf } from '@batonjs/lifecycle';
import { scopeOf } from '@batonjs/server/internals';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumForTests, startChromium } from '../../../test/support/chromium.ts';
import { createInspector } from '../src/inspector.ts';
import { builtApp } from './built-app.ts';
import { closed, token } from './inspected-servers.ts';

const executablePath = await chromiumForTests();
const manyTasks = 10_000;
const manyEvents = 5_000;
/** A screen has some 30 rows; a list draws a few more. */
const mostRows = 80;

describe.skipIf(!executablePath)('long lists', { timeout: 300_000 }, () => {
  const closing: (() => unknown)[] = [];
  let page: Page;
  beforeAll(async () => {
    const app = await builtApp();
    closing.push(app.remove);
    const store = memoryStore({ closedBytes: Number.POSITIVE_INFINITY });
    await fill(store);
    const inspector = createInspector({ store, name: 'many', token }, app.folder);
    const http = createServer(inspector).listen(0, '127.0.0.1');
    await once(http, 'listening');
    closing.push(
      () => closed(http),
      () => inspector.close(),
    );
    const browser = await startChromium(executablePath!);
    closing.push(() => browser.close());
    page = await browser.context.newPage();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(inspector.addressAt(`http://127.0.0.1:${(http.address() as AddressInfo).port}`));
  }, 300_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  it(`draw only the visible ones of ${manyTasks} tasks, from the first to the last`, async () => {
    const list = page.getByRole('listbox', { name: 'Tasks' });
    await list.getByRole('option').first().waitFor();
    await list.focus();
    const loaded = () => page.getByText(/^[\d,]+( of 10,000)? tasks$/).innerText();
    await expect
      .poll(
        async () => {
          await page.keyboard.press('End');
          return loaded();
        },
        { timeout: 90_000, interval: 10 },
      )
      .toBe('10,000 tasks');
    await page.keyboard.press('End');
    const last = list.locator(`[aria-posinset="${manyTasks}"]`);
    await last.waitFor();
    expect(await last.getAttribute('aria-setsize')).toBe(String(manyTasks));
    expect(await last.textContent()).toContain('task-00000'.slice(0, 8));
    const scrolled = await scrollThrough(page, list);
    expect(scrolled.most).toBeLessThan(mostRows);
    process.stdout.write(`10,000 tasks: ${report(scrolled)}\n`);
    await page.keyboard.press('Home');
    await list.locator('[aria-posinset="1"]').waitFor();
  });

  it(`draw only the visible ones of ${manyEvents} events, and go back to any of them`, async () => {
    await page.evaluate(() => {
      location.hash = '#/agents/many/tasks/long';
    });
    const list = page.getByRole('listbox', { name: 'Timeline' });
    await page.getByText(`${manyEvents + 3} entries`).waitFor();
    await list.locator(`[aria-posinset="${manyEvents + 3}"]`).waitFor();
    await page.getByRole('slider').fill('100');
    await page.getByText('The task as it was at entry 100').waitFor();
    const scrolled = await scrollThrough(page, list);
    expect(scrolled.most).toBeLessThan(mostRows);
    process.stdout.write(`5,000 events: ${report(scrolled)}\n`);
  });
});

/** A trace of Chromium, as far as it is read: `tdur` is the time of the processor in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly tid: number;
  readonly pid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * Scrolls a list from its beginning to its end, a part in each frame. `most`: the most rows that existed at once. The
 * times are those of the tasks of the page's main thread in milliseconds: of the processor, and by the clock.
 */
async function scrollThrough(page: Page, list: Locator) {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    traceConfig: { includedCategories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] },
  });
  const scrolled = await list.evaluate(async (element) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    element.scrollTop = 0;
    await frame();
    const step = element.scrollHeight / 150;
    let most = 0;
    let frames = 0;
    while (element.scrollTop + element.clientHeight < element.scrollHeight - 1) {
      element.scrollTop += step;
      await frame();
      frames += 1;
      most = Math.max(most, element.querySelectorAll('[role=option]').length);
    }
    return { most, frames };
  });
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  const isMain = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  const tasks = events.filter((event) => /RunTask$/.test(event.name) && isMain.has(threadOf(event)));
  const longest = (times: readonly (number | undefined)[]) =>
    Math.round(Math.max(...times.map((time) => time ?? 0)) / 100) / 10;
  return {
    ...scrolled,
    processorMs: longest(tasks.map(({ tdur }) => tdur)),
    clockMs: longest(tasks.map(({ dur }) => dur)),
    over50: tasks.filter(({ tdur = 0 }) => tdur > 50_000).length,
  };
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;

const report = ({
  frames,
  processorMs,
  clockMs,
  over50,
}: Awaited<ReturnType<typeof scrollThrough>>): string =>
  `${frames} frames, the longest task ${processorMs} ms of the processor, ${clockMs} ms by the clock, ${over50} over 50 ms`;

const scope = scopeOf('many');
const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();

/** Ten thousand tasks, and one with five thousand events. */
async function fill(store: TaskStore): Promise<void> {
  const commit = async (taskId: string, facts: readonly Fact[], before?: Head): Promise<Head> => {
    const head = facts.reduce<Head | undefined>(headOf, before)!;
    const expectedVersion = before?.version ?? 0;
    await store.commit({ scope, taskId, commitId: crypto.randomUUID(), expectedVersion, facts, head });
    return head;
  };
  for (let n = 0; n < manyTasks - 1; n += 1) {
    const taskId = `task-${String(n).padStart(5, '0')}`;
    await commit(taskId, [...beginning(taskId, n), status(n, 'TASK_STATE_COMPLETED')]);
  }
  let head = await commit('long', [...beginning('long', manyTasks), status(manyTasks, 'TASK_STATE_WORKING')]);
  for (let n = 0; n < manyEvents; n += 500)
    head = await commit(
      'long',
      Array.from({ length: 500 }, (_, i) => chunk(n + i)),
      head,
    );
}

const written = (n: number) => ({ format: FACT_FORMAT, at: at(n) }) as const;

const beginning = (taskId: string, n: number): Fact[] => [
  {
    ...written(n),
    type: 'message-received',
    message: {
      messageId: `m-${taskId}`,
      role: 'ROLE_USER',
      contextId: `c-${n % 500}`,
      parts: [{ text: 'Begin' }],
    },
  },
  { ...written(n), type: 'task-created', taskId, contextId: `c-${n % 500}` },
];

const status = (n: number, state: 'TASK_STATE_COMPLETED' | 'TASK_STATE_WORKING'): Fact => ({
  ...written(n),
  type: 'status-changed',
  status: {
    state,
    timestamp: at(n),
    message: { messageId: `s-${n}`, role: 'ROLE_AGENT', parts: [{ text: `Status of number ${n}` }] },
  },
});

const chunk = (n: number): Fact => ({
  ...written(manyTasks + n),
  type: 'artifact-updated',
  artifact: { artifactId: 'story', name: 'story', parts: [{ text: `word ${n} ` }] },
  append: n > 0,
  lastChunk: false,
});
