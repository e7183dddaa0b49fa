import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '@batonjs/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../../packages/inspector/test/built-app.ts';
import { type Command, node, run } from '../../../test/kit/processes.ts';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { builtProgram } from '../../../test/support/built-program.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';

const executablePath = await chromiumForTests();
const program = await builtProgram(new URL('../src/main.ts', import.meta.url));
const pictures = join(import.meta.dirname, '../../../.reports/inspector');

describe.skipIf(!executablePath)('the inspector of the gallery', { timeout: 300_000 }, () => {
  const data = mkdtempSync(join(tmpdir(), 'baton-gallery-inspector-'));
  const closing: (() => unknown)[] = [() => rmSync(data, { recursive: true, force: true })];
  let gallery: Command;
  let page: Page;
  const start = (env: Record<string, string> = {}) =>
    run(node, [program], {
      env: { PORT: '0', BATON_DATA: data, ...env },
    });

  /** Long runs show what they saw. */
  const picture = async (name: string) => {
    if (repetitions(0, 1)) await page.screenshot({ path: join(pictures, `${name}.png`) });
  };

  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true });
    // Where the gallery looks for it: the build is otherwise that of the last `turbo run build`, or missing.
    await buildApp();
    const receiver = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    closing.push(() => receiver.close().closeAllConnections());
    gallery = start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
      TRACE_URL: 'http://traces.example/trace/{traceId}?from=inspector',
    });
    closing.push(() => gallery[Symbol.asyncDispose]());
    const browser = await openChromium(executablePath!);
    closing.push(() => browser.close());
    page = await browser.context.newPage();
    await page.setViewportSize({ width: 1440, height: 900 });
    const output = await gallery.until(/Ctrl-C stops/);
    await page.goto(/^ *Inspector +(\S+)$/m.exec(output)![1]!);
  }, 300_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  const entry = (text: string | RegExp) =>
    page.getByRole('listbox', { name: 'Timeline' }).getByRole('option').filter({ hasText: text }).first();

  it('has every agent, at the printed address', async () => {
    for (const name of ['Expense agent', 'Boat designer', 'Counter', 'Concierge'])
      await page.getByRole('link', { name, exact: true }).waitFor();
  });

  it('shows whose question waits since when and until when, in full at each width', async () => {
    const url = /^ *Agents +(http:\S+)\/agents\//m.exec(gallery.output)![1]!;
    await (await connect(`${url}/agents/expense`)).send('Dinner with the team');
    await page.getByRole('link', { name: /^Inbox/ }).click();
    const about = page.getByRole('listbox', { name: 'Questions' }).locator('.cell-sub').first();
    await about.getByText(/^due in \d+ d$/).waitFor();
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await expect.poll(() => about.evaluate((row) => row.scrollWidth - row.clientWidth)).toBeLessThan(1);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('9 kills the process, which is started again, and the same task goes on', async () => {
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('link', { name: 'Counter', exact: true }).click();
    await page.getByRole('link', { name: 'Send', exact: true }).click();
    await page.getByRole('textbox', { name: 'Your message' }).fill('Count to 12');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('combobox', { name: 'Entries' }).selectOption('Everything');
    await entry('Step count 3').waitFor();
    const trace = page.getByRole('link', { name: 'Trace' });
    expect(await trace.getAttribute('href')).toMatch(
      /^http:\/\/traces\.example\/trace\/[\da-f]{32}\?from=inspector$/,
    );
    expect(await trace.getAttribute('rel')).toBe('noreferrer');
    const address = page.url();
    await page.getByRole('button', { name: 'Kill the process' }).click();
    await page.getByText('The connection to the inspector is lost.').waitFor();
    await entry('Connection lost').waitFor();
    await gallery.until(/Started again at/);
    await entry(/Resumed.*after position \d+/).waitFor();
    await page.getByText(/Back after [\d.]+ s/).waitFor();
    await entry(/Turn 1 again\s*attempt 2/).waitFor();
    await picture('9-killed');
    await entry('Counted to 12').waitFor();
    await page.getByText('1 2 3 4 5 6 7 8 9 10 11 12', { exact: true }).waitFor();
    await picture('9-resumed');
    expect(page.url()).toBe(address);
    // Each number was counted once: the steps of the first attempt were not run again.
    await page.getByRole('combobox', { name: 'Entries' }).selectOption('Turns, steps, memory');
    const steps = await page
      .getByRole('option')
      .filter({ hasText: /^\d+.*Step count / })
      .allInnerTexts();
    const names = steps.map((text) => /Step count \d+/.exec(text)![0]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('keeps its port and its token for the address that was printed', async () => {
    const other = await page.context().newPage();
    await other.goto(/^ *Inspector +(\S+)$/m.exec(gallery.output)![1]!);
    await other.getByRole('link', { name: 'Counter', exact: true }).waitFor();
    await other.close();
  });

  it('opens in a second tab without asking for its token', async () => {
    const other = await page.context().newPage();
    await other.goto(`${/^ *Agents +(http:\S+)\/agents\//m.exec(gallery.output)![1]!}/inspector/`);
    await other.getByRole('link', { name: 'Counter', exact: true }).waitFor();
    await other.close();
  });

  it('is started again after a kill by hand, and keeps its token in the data folder', async () => {
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(gallery.pid)]);
    const starts = () => gallery.output.match(/Started again at/g)?.length ?? 0;
    const before = starts();
    process.kill(Number(stdout.trim().split('\n')[0]), 'SIGKILL');
    await expect.poll(starts).toBe(before + 1);
    expect(gallery.output).toContain('The server was ended by SIGKILL. It is started again …');
    const token = readFileSync(join(data, 'inspector-token'), 'utf8').trim();
    expect(/^ *Inspector +\S+#token=(\S+)$/m.exec(gallery.output)![1]).toBe(token);
    expect(statSync(join(data, 'inspector-token')).mode & 0o777).toBe(0o600);
  });

  it('has no button to kill where the gallery serves other machines too', async () => {
    await using open = start({ HOST: '0.0.0.0', BATON_DATA: join(data, 'open') });
    const output = await open.until(/Ctrl-C stops/);
    const [, address, token] = /^ *Inspector +(http:\S+)#token=(\S+)$/m.exec(output)!;
    const session = await fetch(`${address}api/session`, { headers: { authorization: `Bearer ${token}` } });
    expect((await session.json()).may).not.toContain('kill');
    open.signal('SIGTERM');
    expect(await open.ended).toBe(0);
  });

  it('ends with its parent, whatever ends that', async () => {
    await using ended = start({ BATON_DATA: join(data, 'ended') });
    await ended.until(/Ctrl-C stops/);
    const url = /^ *Agents +(http:\S+)\/agents\//m.exec(ended.output)![1]!;
    process.kill(ended.pid, 'SIGKILL');
    await ended.ended;
    await expect
      .poll(() =>
        fetch(url).then(
          () => 'up',
          () => 'gone',
        ),
      )
      .toBe('gone');
  });
});
