import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Command, freePort, node, run } from '../../../test/kit/processes.ts';
import { builtOnce } from '../../../test/support/built-once.ts';
import { builtProgram } from '../../../test/support/built-program.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';

const executablePath = await chromiumForTests();

/** A task that takes longer delays what a person does. */
const longTaskMs = 50;

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of CPU time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Records the tasks of the page's main thread. What it returns resolves to the milliseconds of CPU time of each. */
async function traceTasks(devtools: CDPSession): Promise<() => Promise<number[]>> {
  const events: TraceEvent[] = [];
  devtools.on('Tracing.dataCollected', ({ value }) =>
    events.push(...(value as readonly unknown[] as TraceEvent[])),
  );
  await devtools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline', 'toplevel', '__metadata'] },
  });
  return async () => {
    const complete = new Promise((resolve) => devtools.once('Tracing.tracingComplete', resolve));
    await devtools.send('Tracing.end');
    await complete;
    const main = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
    const threads = new Set(main.map(({ pid, tid }) => `${pid} ${tid}`));
    return events.flatMap(({ name, tdur, pid, tid }) =>
      name === 'RunTask' && tdur !== undefined && threads.has(`${pid} ${tid}`) ? tdur / 1_000 : [],
    );
  };
}

/** The page, built from the sources as they are now. */
function builtPage(): Promise<string> {
  const place = join(import.meta.dirname, '..');
  const sources = ['apps/chat/{src/**/*.*,*.*}', 'packages/*/src/**/*.*', 'packages/*/package.json'];
  return builtOnce('chat-page', sources, (outDir) =>
    build({
      configFile: join(place, 'vite.config.ts'),
      root: join(place, 'src/app'),
      logLevel: 'error',
      build: { outDir },
      // As people get it: vitest's own environment would give React's development build.
      define: { 'process.env.NODE_ENV': JSON.stringify('production') },
      oxc: { jsx: { development: false } },
    }),
  );
}

const firstSentence = 'A small boat left the harbour at dawn.';
const lastSentence = 'The letter arrived, and no line of it was missing.';

describe.skipIf(!executablePath)('the chat in Chromium', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-chat-'));
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  let context: BrowserContext;
  let program: string;
  let command: Command;
  let url: string;
  let env: Record<string, string>;

  const start = async () => {
    command = run(node, [program], { env });
    await command.until(/The chat is at/);
  };
  const restart = async () => {
    await command[Symbol.asyncDispose]();
    await start();
  };
  /** Lets the agent write so many sentences. */
  const go = async (count: number) => {
    for (let n = 0; n < count; n += 1) await fetch(new URL('/go', url));
  };

  beforeAll(async () => {
    const FOLDER = await builtPage();
    program = await builtProgram(new URL('./chat-process.ts', import.meta.url));
    const PORT = String(await freePort());
    env = { PORT, FOLDER, DATABASE: join(folder, 'tasks.db') };
    url = `http://127.0.0.1:${PORT}/chat/`;
    closing.push(() => command?.[Symbol.asyncDispose]());
    await start();
    const browser = await openChromium(executablePath!);
    closing.push(() => browser.close());
    context = browser.context;
  }, 300_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  async function open(address = url): Promise<Page> {
    const page = await context.newPage();
    onTestFinished(() => page.close());
    await page.goto(address);
    return page;
  }
  const send = async (page: Page, text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  };
  /** Begins a story, and waits for its first sentence and for the address of the conversation. */
  const beginStory = async (page: Page) => {
    await send(page, 'Tell me a story');
    await go(1);
    await page.getByText(firstSentence).waitFor();
    await page.waitForFunction(() => location.hash.length > 1);
  };
  const finished = async (page: Page) => {
    await page.locator('[data-state=TASK_STATE_COMPLETED]').waitFor();
    const text = await page.locator('.answer').textContent();
    for (const sentence of [firstSentence, lastSentence]) expect(text?.split(sentence)).toHaveLength(2);
  };

  it('shows tools, a picture and the conversations, and people can use it', async () => {
    const page = await open();
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.getByRole('button', { name: 'How is the weather?' }).click();
    const tool = page.getByRole('region', { name: 'Tool weather' });
    await tool.getByText('done').waitFor();
    expect(await tool.textContent()).toContain('{"degrees":7,"sky":"clear"}');
    await send(page, 'Draw a boat');
    const picture = page.getByRole('img', { name: 'boat.svg' });
    await picture.waitFor();
    await page.waitForFunction(() => document.querySelector('img')?.naturalWidth);
    await page.getByRole('button', { name: /2 tasks · completed/ }).waitFor();
    await page.evaluate(axe.source);
    const found = await page.evaluate(async () => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('goes on after a reload in the middle', async () => {
    const page = await open();
    await beginStory(page);
    await page.reload();
    await page.getByText(firstSentence).waitFor();
    await go(7);
    await finished(page);
  });

  it('goes on after the red button has killed the server in the middle', async () => {
    const page = await open();
    await beginStory(page);
    await page.getByRole('button', { name: 'Kill the server' }).click();
    expect(await command.ended).toBe('SIGKILL');
    await page.getByRole('status').getByText('Offline').waitFor();
    expect(await page.locator('.answer').textContent()).not.toContain(lastSentence);
    await start();
    await page.getByRole('status').getByText('Online').waitFor();
    await go(7);
    await finished(page);
  });

  it('goes on when the network is back', async () => {
    const page = await open();
    await beginStory(page);
    await context.setOffline(true);
    onTestFinished(() => context.setOffline(false));
    await command[Symbol.asyncDispose]();
    await page.getByRole('status').getByText('Offline').waitFor();
    await start();
    await context.setOffline(false);
    await page.getByRole('status').getByText('Online').waitFor();
    await go(7);
    await finished(page);
  });

  it('shows the same in two tabs, and in both the message of one', async () => {
    const page = await open();
    await beginStory(page);
    const other = await open(page.url());
    await other.getByText(firstSentence).waitFor();
    await go(7);
    await Promise.all([finished(page), finished(other)]);
    await send(other, 'Draw a boat');
    await page.getByRole('img', { name: 'boat.svg' }).waitFor();
  });

  it('takes an approval after a restart of the server', async () => {
    const page = await open();
    await send(page, 'Delete the draft');
    await page.getByText('May I delete draft.txt?').waitFor();
    await restart();
    await page.reload();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('draft.txt is deleted.').waitFor();
    await page.getByRole('region', { name: 'Tool delete' }).getByText('done').waitFor();
  });

  it('shows 5,000 chunks without a long task, at a cost for each that does not grow with their number', async () => {
    // Many commits of a file take longer than the page.
    const PORT = String(await freePort());
    await using fast = run(node, [program], { env: { ...env, PORT, DATABASE: '' } });
    await fast.until(/The chat is at/);
    const page = await open(`http://127.0.0.1:${PORT}/chat/`);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    const cpu = async () => {
      const { metrics } = await devtools.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration')!.value;
    };
    const costOf = async (count: number) => {
      const before = await cpu();
      await send(page, `chunks ${count}`);
      await page.getByText(`word${count} `).waitFor();
      await page.locator('[data-state=TASK_STATE_COMPLETED]').last().waitFor();
      return (await cpu()) - before;
    };
    await costOf(500);
    const few = (await costOf(1_000)) / 1_000;
    const tasks = await traceTasks(devtools);
    const many = (await costOf(5_000)) / 5_000;
    expect(many).toBeLessThan(few * 3);
    const cpuMs = await tasks();
    expect(cpuMs.length).toBeGreaterThan(50);
    expect(cpuMs.filter((ms) => ms > longTaskMs)).toEqual([]);
  });
});
