import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import axe from 'axe-core';
import type { BrowserContext, CDPSession, Locator, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Command, freePort, node, run } from '../../../test/kit/processes.ts';
import { builtOnce } from '../../../test/support/built-once.ts';
import { builtProgram } from '../../../test/support/built-program.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';

const executablePath = await chromiumForTests();

/** A folder for pictures of each state, such as `CHAT_PICTURES=/tmp/chat pnpm test apps/chat`. Without it, none is taken. */
const pictures = process.env.CHAT_PICTURES;

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
    await page.getByRole('textbox', { name: /Message|Your answer/ }).fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  };
  /** Begins a story, and waits for its first sentence and for the address of the conversation. */
  const beginStory = async (page: Page) => {
    await send(page, 'Tell me a story');
    await go(1);
    await page.locator('article').getByText(firstSentence).waitFor();
    await page.waitForFunction(() => location.hash.length > 1);
  };
  const finished = async (page: Page) => {
    await page.locator('article[data-state=TASK_STATE_COMPLETED]').waitFor();
    const text = await page.locator('article').textContent();
    for (const sentence of [firstSentence, lastSentence]) expect(text?.split(sentence)).toHaveLength(2);
  };

  /** What axe finds, and what reaches beyond the page or stands below its fold. */
  const problemsOf = async (page: Page) => {
    await page.evaluate(axe.source);
    return page.evaluate(async () => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document);
      const log = document.querySelector('.baton-log')!;
      const field = document.querySelector('textarea')!.getBoundingClientRect();
      return [
        ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
        ...[document.documentElement, log].filter((each) => each.scrollWidth > each.clientWidth).map(String),
        ...(field.bottom > innerHeight || field.width < 200 ? [`the field is at ${field.bottom}`] : []),
        ...(log.scrollHeight - log.scrollTop - log.clientHeight > 1 ? [`the end is not in view`] : []),
      ];
    });
  };
  const isInView = (locator: Locator) =>
    locator.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });

  const sizes = [1440, 1024, 390].flatMap((width) => [[width, 'light'] as const, [width, 'dark'] as const]);
  it.each(sizes)(
    'is whole at %i px, %s: an answer, a failure and a question, in view',
    async (width, colorScheme) => {
      const page = await open();
      await page.setViewportSize({ width, height: 700 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const problems: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      const picture = async (state: string) => {
        const path = join(pictures ?? '', `${state}-${width}-${colorScheme}.png`);
        if (pictures) await page.screenshot({ path });
      };
      expect(await problemsOf(page)).toEqual([]);
      await picture('empty');
      await page.getByRole('log').getByRole('button', { name: 'How is the weather?' }).click();
      const weather = page.getByRole('article', { name: 'How is the weather?' });
      await weather.getByRole('cell', { name: 'rain, later sun' }).waitFor();
      await weather.getByText('weather', { exact: true }).first().click();
      await weather.getByText('"sky": "clear"').waitFor();
      await weather.locator('[data-token=keyword]', { hasText: 'const' }).waitFor();
      await picture('answer');
      await send(page, 'Draw a boat');
      await page.getByRole('img', { name: 'boat.svg' }).waitFor();
      await page.waitForFunction(() => document.querySelector('img')?.naturalWidth);
      await send(page, 'Please fail');
      await page.getByText('The printer is out of paper.').first().waitFor();
      await picture('failure');
      await send(page, 'Delete the draft');
      const allow = page.getByRole('button', { name: 'Allow' });
      await allow.waitFor();
      await expect.poll(() => problemsOf(page)).toEqual([]);
      expect(await isInView(allow)).toBe(true);
      expect(await isInView(page.getByText('"path": "draft.txt"'))).toBe(true);
      await picture('question');
      await page.reload();
      await allow.waitFor();
      await expect.poll(() => problemsOf(page)).toEqual([]);
      const files = ['a.png', 'large.png'].map((name, large) => ({
        ...{ name, mimeType: 'image/png', buffer: Buffer.alloc(3 + large * 1_048_576) },
      }));
      await page.locator('input[type=file]').setInputFiles(files);
      await page.getByText('is larger than 1 MB').waitFor();
      await expect.poll(() => problemsOf(page)).toEqual([]);
      await picture('files');
      if (width === 390) await page.getByRole('button', { name: 'Conversations' }).click();
      await page.getByRole('button', { name: 'Rename' }).waitFor();
      await picture('list');
      expect(await isInView(page.getByRole('button', { name: 'How is the weather?' }).first())).toBe(true);
      expect(problems).toEqual([]);
    },
  );

  it('follows the end, stays where a reader scrolled up, and leads back', async () => {
    const page = await open();
    const distance = () =>
      page.locator('.baton-log').evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
    const state = (name: string) =>
      page
        .locator('article')
        .last()
        .and(page.locator(`[data-state=${name}]`))
        .waitFor();
    await send(page, 'chunks 1200');
    await state('TASK_STATE_COMPLETED');
    await expect.poll(distance).toBeLessThan(2);
    await send(page, 'Tell me a story');
    await go(1);
    await page.locator('article').getByText(firstSentence).waitFor();
    await expect.poll(distance).toBeLessThan(2);
    await page.locator('.baton-log').hover();
    await page.mouse.wheel(0, -2_000);
    const newest = page.getByRole('button', { name: 'Jump to newest' });
    await newest.waitFor();
    const read = await page.locator('.baton-log').evaluate((log) => log.scrollTop);
    await go(7);
    await state('TASK_STATE_COMPLETED');
    expect(await page.locator('.baton-log').evaluate((log) => log.scrollTop)).toBe(read);
    await newest.click();
    await expect.poll(distance).toBeLessThan(2);
    expect(await newest.count()).toBe(0);
  });

  it('says why a task failed after a reload, sends again, edits and breaks lines', async () => {
    const page = await open();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('Please');
    await field.press('Shift+Enter');
    await field.pressSequentially('fail');
    await field.press('Enter');
    const why = page.locator('article').getByText('The printer is out of paper.');
    await why.waitFor();
    await page.getByRole('button', { name: 'Please fail' }).waitFor();
    await page.reload();
    await why.waitFor();
    expect(await page.locator('.baton-bubble').textContent()).toBe('Please\nfail');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => why.count()).toBe(2);
    await page.getByRole('button', { name: 'Edit' }).first().click();
    expect(await field.inputValue()).toBe('Please\nfail');
    await field.press('End');
    await field.pressSequentially('? No: draw');
    await field.press('Enter');
    await page.getByRole('img', { name: 'boat.svg' }).waitFor();
  });

  it('takes files that are chosen, pasted and dropped, and refuses what is too large', async () => {
    const page = await open();
    const field = page.getByRole('textbox', { name: 'Message' });
    const chips = page.locator('.baton-attached');
    const chosen = (name: string, size = 3) => ({ name, mimeType: 'image/png', buffer: Buffer.alloc(size) });
    const choose = (...files: ReturnType<typeof chosen>[]) =>
      page.locator('input[type=file]').setInputFiles(files);
    await choose(chosen('chosen.png'), chosen('large.png', 1_048_577));
    await chips.getByText('is larger than 1 MB').waitFor();
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove: large.png' }).click();
    await page.evaluate(() => {
      const given = (name: string) => {
        const data = new DataTransfer();
        data.items.add(new File(['1234'], name, { type: 'image/png' }));
        return data;
      };
      const how = { bubbles: true, cancelable: true };
      const paste = { ...how, clipboardData: given('pasted.png') };
      document.querySelector('textarea')!.dispatchEvent(new ClipboardEvent('paste', paste));
      const drop = { ...how, dataTransfer: given('dropped.png') };
      document.querySelector('.baton-log')!.dispatchEvent(new DragEvent('drop', drop));
    });
    expect(await chips.allTextContents()).toEqual(['chosen.png ×', 'pasted.png ×', 'dropped.png ×']);
    await field.press('Enter');
    const answer = page.locator('article[data-state$=COMPLETED]');
    await answer.getByText('dropped.png: 4 bytes of image/png').waitFor();
    await answer.getByText('chosen.png: 3 bytes of image/png').waitFor();
    expect(await page.locator('.baton-bubble img').count()).toBe(3);
    expect(await chips.count()).toBe(0);
  });

  it('finds conversations by their words, and keeps a name and a removal in this browser', async () => {
    const page = await open();
    await send(page, 'Please fail, one');
    await page.locator('article[data-state$=FAILED]').waitFor();
    await page.getByRole('button', { name: 'New chat' }).click();
    await send(page, 'Please fail, two');
    await page.locator('article[data-state$=FAILED]').waitFor();
    const list = page.getByRole('navigation').getByRole('listitem');
    const search = page.getByRole('searchbox', { name: 'Search' });
    await list.getByText('fail, two').waitFor();
    await search.fill(' FAIL, ');
    await expect.poll(() => list.count()).toBe(2);
    await search.fill('fail, one');
    expect(await list.count()).toBe(1);
    await search.fill('');
    const rename = async (name: string, key: string) => {
      await page.getByRole('button', { name: 'Rename' }).click();
      await page.getByRole('textbox', { name: 'Rename' }).fill(name);
      await page.keyboard.press(key);
    };
    await rename('Paper', 'Enter');
    await list.getByRole('button', { name: 'Paper' }).waitFor();
    await rename('Other', 'Escape');
    await page.reload();
    await list.getByRole('button', { name: 'Paper' }).waitFor();
    await rename(' ', 'Enter');
    await list.getByRole('button', { name: 'fail, two' }).waitFor();
    await page.getByRole('button', { name: 'Remove from the list' }).click();
    await list.getByRole('button', { name: 'fail, one' }).waitFor();
    await page.reload();
    await list.getByRole('button', { name: 'fail, one' }).waitFor();
    expect(await list.getByText('fail, two').count()).toBe(0);
    expect(await page.locator('article').count()).toBe(0);
  });

  it('looks the same in a page whose styles are for all headings, texts and code', async () => {
    const page = await open();
    await page.getByRole('log').getByRole('button', { name: 'How is the weather?' }).click();
    await page.getByRole('cell', { name: 'rain, later sun' }).waitFor();
    await page.locator('article[data-state=TASK_STATE_COMPLETED]').waitFor();
    const looks = () =>
      page.locator('.baton-chat :is(h1, h2, h3, p, code, td, pre, button)').evaluateAll((all) =>
        all.map((element) => {
          const { color, display, fontFamily, fontSize, letterSpacing, margin, textAlign } =
            getComputedStyle(element);
          return [element.tagName, color, display, fontFamily, fontSize, letterSpacing, margin, textAlign];
        }),
      );
    const alone = await looks();
    expect(new Set(alone.map(([tag]) => tag))).toContain('H1');
    // As a new project of Vite has it.
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`body { text-align: center; letter-spacing: 0.18px; font: 18px/145% serif }
h1 { font: 500 56px serif; letter-spacing: -1.68px; margin: 32px 0; color: red }
h2 { font: 500 24px serif; letter-spacing: -0.24px; margin: 0 0 8px; color: red }
p { margin: 0 } code { display: inline-flex; color: red; font-size: 15px; padding: 4px 8px }`);
      document.adoptedStyleSheets.unshift(sheet);
    });
    expect(await page.locator('body').evaluate((body) => getComputedStyle(body).textAlign)).toBe('center');
    expect(await looks()).toEqual(alone);
  });

  it('has its colours in a build for older browsers too, light and dark, and those of the page', async () => {
    const input = join(import.meta.dirname, '../../../packages/react/chat.css');
    const rollupOptions = { input };
    const built = await build({
      configFile: false,
      logLevel: 'error',
      build: { write: false, rollupOptions },
    });
    const sources = [built].flat().flatMap((each) => ('output' in each ? each.output : []));
    const css = sources.map((each) => ('source' in each ? String(each.source) : '')).join('');
    expect(css).not.toContain('light-dark(');
    const page = await open('about:blank');
    const grounds = async (style: string) => {
      await page.setContent(`<style>${css}${style}</style><div class="baton-chat"></div>`);
      const chat = page.locator('.baton-chat');
      const ground = () => chat.evaluate((each) => getComputedStyle(each).backgroundColor);
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await ground();
      await page.emulateMedia({ colorScheme: 'light' });
      return [await ground(), dark];
    };
    expect(await grounds('')).toEqual(['rgb(255, 255, 255)', 'rgb(28, 28, 30)']);
    // As a build writes `color-scheme: light` of a page.
    const light = ':root { --lightningcss-light: initial; --lightningcss-dark: ; color-scheme: light }';
    expect(await grounds(light)).toEqual(['rgb(255, 255, 255)', 'rgb(255, 255, 255)']);
  });

  it('speaks German to a reader of German', async () => {
    const german = await context.browser()!.newContext({ locale: 'de-DE' });
    onTestFinished(() => german.close());
    const page = await german.newPage();
    await page.goto(url);
    await page.getByRole('textbox', { name: 'Nachricht' }).waitFor();
    expect(await page.locator('.baton-chat').getAttribute('lang')).toBe('de');
    expect(await problemsOf(page)).toEqual([]);
  });

  it('opens 1,000 messages with the newest in the page, and tells a screen reader an answer once', async () => {
    const PORT = String(await freePort());
    await using fast = run(node, [program], { env: { ...env, PORT, DATABASE: '' } });
    await fast.until(/The chat is at/);
    const agent = await connect(`http://127.0.0.1:${PORT}/agents/chat`);
    const contextId = 'many';
    // Each has the message, three of what the agent did, and an artifact: 100 tasks are what a conversation reads.
    for (let n = 0; n < 200; n += 1) await agent.send('How is the weather?', { contextId });
    const page = await open(`http://127.0.0.1:${PORT}/chat/#chat=${contextId}`);
    const articles = page.locator('article');
    await page.getByRole('button', { name: 'Show earlier messages' }).waitFor();
    expect(await articles.count()).toBe(20);
    expect(await page.locator('*').count()).toBeLessThan(2_000);
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    expect(await articles.count()).toBe(40);
    // Colours come once.
    await expect.poll(() => page.locator('article:has([data-token])').count()).toBe(40);
    await page.evaluate(() => {
      const said = document.querySelector('.baton-hidden')!;
      const told: (string | null)[] = [];
      new MutationObserver(() => told.push(said.textContent)).observe(said, {
        characterData: true,
        subtree: true,
        childList: true,
      });
      const others = [...document.querySelectorAll('article')].slice(0, -1);
      const changed: MutationRecord[] = [];
      for (const each of others)
        new MutationObserver((all) => changed.push(...all)).observe(each, {
          subtree: true,
          childList: true,
          characterData: true,
        });
      Object.assign(globalThis, { told, changed });
    });
    await send(page, 'chunks 500');
    await page
      .locator('article', { hasText: 'word500 ' })
      .and(page.locator('[data-state$=COMPLETED]'))
      .waitFor();
    const seen = await page.evaluate(() => {
      const { told, changed } = globalThis as unknown as { told: string[]; changed: unknown[] };
      return { told: new Set(told).size, changed: changed.length };
    });
    // That it works, then the answer. No earlier task is touched.
    expect(seen).toEqual({ told: 2, changed: 0 });
  });

  it('goes on after a reload in the middle', async () => {
    const page = await open();
    await beginStory(page);
    await page.reload();
    await page.locator('article').getByText(firstSentence).waitFor();
    await go(7);
    await finished(page);
  });

  it('goes on after the red button has killed the server in the middle', async () => {
    const page = await open();
    await beginStory(page);
    await page.getByRole('button', { name: 'Kill the server' }).click();
    expect(await command.ended).toBe('SIGKILL');
    await page.getByText('Connection lost').waitFor();
    expect(await page.locator('article').textContent()).not.toContain(lastSentence);
    await start();
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await go(7);
    await finished(page);
  });

  it('goes on when the network is back', async () => {
    const page = await open();
    await beginStory(page);
    await context.setOffline(true);
    onTestFinished(() => context.setOffline(false));
    await command[Symbol.asyncDispose]();
    await page.getByText('Connection lost').waitFor();
    await start();
    await context.setOffline(false);
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await go(7);
    await finished(page);
  });

  it('shows the same in two tabs, and in both the message of one', async () => {
    const page = await open();
    await beginStory(page);
    const other = await open(page.url());
    await other.locator('article').getByText(firstSentence).waitFor();
    await go(7);
    await Promise.all([finished(page), finished(other)]);
    await send(other, 'Draw a boat');
    await page.getByRole('img', { name: 'boat.svg' }).waitFor();
  });

  it('takes an approval after a restart of the server', async () => {
    const page = await open();
    await send(page, 'Delete the draft');
    await page.locator('article').getByText('May I delete draft.txt?').waitFor();
    await restart();
    await page.reload();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('article').getByText('draft.txt is deleted.').waitFor();
    await page.locator('summary', { hasText: 'delete' }).click();
    await page.locator('details').getByText('done').waitFor();
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
      await page
        .locator('article', { hasText: `word${count} ` })
        .and(page.locator('[data-state$=COMPLETED]'))
        .waitFor();
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
