import { completed, createAgentServer, failed, inputRequired } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import express from 'express';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';
import { createInspector } from '../src/inspector.ts';
import { builtApp } from './built-app.ts';
import { closed } from './inspected-servers.ts';
import { checkAccess } from './open-app.ts';

const executablePath = await chromiumForTests();

/** A store with more tasks than a search looks at in one go, of which the oldest is the invoice. */
async function archive() {
  const store = memoryStore();
  const server = createAgentServer({
    name: 'archive',
    card: { name: 'Archive', description: 'For tests' },
    store,
    logger: () => {},
    async *agent() {
      yield completed();
    },
  });
  for (let n = 0; n < 2_050; n++)
    await rpc(server, 'SendMessage', { message: say(n === 0 ? 'Invoice 7' : `Letter ${n}`) });
  await server.close();
  return store;
}

/** Two agents whose callers say who they are, each with tasks of Ada and Bob. */
async function serveTwo() {
  const store = memoryStore();
  const agentServer = (name: string) =>
    createAgentServer({
      name,
      card: { name: `The ${name}`, description: 'For tests' },
      store,
      logger: () => {},
      authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'ada' }),
      async *agent({ text }) {
        if (text.startsWith('ask')) yield inputRequired('Well?');
        else yield failed({ code: text.includes('late') ? 'TOO_LATE' : 'NO_MONEY', message: 'No' });
      },
    });
  const [baker, tailor] = [agentServer('baker'), agentServer('tailor')];
  for (const [server, texts] of [
    [baker, ['late bread', 'ask for rolls']],
    [tailor, ['late trousers', 'poor hat']],
  ] as const)
    for (const text of texts)
      for (const caller of ['ada', 'bob'])
        await rpc(server, 'SendMessage', { message: say(`${text} of ${caller}`) }, { 'x-caller': caller });
  const scopes = ['ada', 'bob'].map((caller) => ({ caller }));
  const inspector = createInspector(
    {
      token: 'a-token-for-the-tests',
      agents: [
        { server: baker, callers: scopes },
        // In another order: a caller is found by its name.
        { server: tailor, callers: scopes.toReversed() },
        // Its tasks are those of its second caller, whom no list shows at first.
        { name: 'archive', store: await archive(), callers: [{ caller: 'eva' }, {}] },
      ],
    },
    await builtApp(),
  );
  const http = express().use('/inspector', inspector).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  const { port } = http.address() as { port: number };
  return {
    address: inspector.addressAt(`http://127.0.0.1:${port}/inspector`),
    async close() {
      inspector.close();
      await Promise.all([baker, tailor].map((server) => server.close({ graceMs: 0 })));
      await closed(http);
    },
  };
}

describe.skipIf(!executablePath)('the list of all tasks', { timeout: 120_000 }, () => {
  let page: Page;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    const served = await serveTwo();
    closing.push(() => served.close());
    const browser = await openChromium(executablePath!);
    closing.push(() => browser.close());
    page = await browser.context.newPage();
    await page.goto(served.address);
    await page.getByRole('link', { name: 'All tasks' }).click();
  }, 300_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  const titles = () => page.getByRole('listbox', { name: 'Tasks' }).locator('.cell-title').allTextContents();
  const shows = (...wanted: readonly string[]) =>
    expect.poll(async () => (await titles()).sort()).toEqual([...wanted].sort());
  const choose = (name: string, value: string) =>
    page.getByRole('combobox', { name, exact: true }).selectOption(value);
  const inAddress = (name: string) => new URLSearchParams(page.url().split('?')[1]).get(name);

  it('11 is chosen by agent, caller and error code, with how many tasks fit, and all stands in the address', async () => {
    await page.getByText('The baker (4)').waitFor({ state: 'attached' });
    // All callers of all agents.
    await expect.poll(async () => (await titles()).join()).toContain('Letter 20');
    await choose('Caller', 'bob');
    await shows('late bread of bob', 'ask for rolls of bob', 'late trousers of bob', 'poor hat of bob');
    await page.getByRole('combobox', { name: /^Search/ }).fill('code:TOO_LATE');
    await shows('late bread of bob', 'late trousers of bob');
    await page.getByText('The baker (1)').waitFor({ state: 'attached' });
    await choose('Agent', 'tailor');
    await shows('late trousers of bob');
    expect([inAddress('agent'), inAddress('caller'), inAddress('q')]).toEqual([
      'tailor',
      'bob',
      'code:TOO_LATE',
    ]);
    await page.reload();
    await shows('late trousers of bob');
    await choose('Agent', '');
    await choose('Caller', 'ada');
    await page.getByRole('combobox', { name: /^Search/ }).fill('');
    await shows('late bread of ada', 'ask for rolls of ada', 'late trousers of ada', 'poor hat of ada');
    await page.getByRole('combobox', { name: /^Search/ }).fill('code:NO_MONEY');
    await shows('poor hat of ada');
    // A task of a caller who is not the first one of its agent is opened in its scope.
    await page.getByRole('listbox', { name: 'Tasks' }).getByRole('option').click();
    await page.getByRole('heading', { name: 'poor hat of ada' }).waitFor();
    expect(inAddress('scope')).toBe('1');
  });

  it('says how far a search went, goes on from there, and claims no more than it read', async () => {
    await page.evaluate(() => {
      location.hash = '#/agents/archive/tasks?scope=1&q=Invoice%207';
    });
    await page.getByText('of the newest 2,000 of 2,050 tasks').waitFor();
    await page.getByText('None found so far', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Search older' }).click();
    await shows('Invoice 7');
    await page.getByText('All 2,050 tasks were searched').waitFor();
    await page.evaluate(() => {
      location.hash = '#/agents/archive/tasks?scope=1&q=no-such-word';
    });
    await page.getByRole('button', { name: 'Search older' }).click();
    await page.getByText('No task fits', { exact: true }).waitFor();
    await page.evaluate(() => {
      location.hash = '#/tasks?q=&caller=ada';
    });
    await page.getByLabel('Hide scheduled').check();
    await expect.poll(() => inAddress('q')).toBe('-label:schedule:*');
    await page.getByLabel('Hide scheduled').uncheck();
    await expect.poll(() => inAddress('q')).toBeNull();
  });

  it('offers filters while they are typed, by the keyboard, and says what is none', async () => {
    await page.evaluate(() => {
      location.hash = '#/tasks?caller=bob';
    });
    await shows('late bread of bob', 'ask for rolls of bob', 'late trousers of bob', 'poor hat of bob');
    const box = page.getByRole('combobox', { name: /^Search/ });
    const options = () =>
      page.getByRole('listbox', { name: 'Filters' }).getByRole('option').allTextContents();
    // A letter that is typed just when the address has those before it stays.
    await box.evaluate((element) =>
      addEventListener(
        'hashchange',
        () => {
          (element as HTMLInputElement).value = 'breads';
          element.dispatchEvent(new Event('input', { bubbles: true }));
        },
        { capture: true, once: true },
      ),
    );
    await box.fill('bread');
    await expect.poll(() => inAddress('q')).toBe('breads');
    await box.fill('');
    await box.pressSequentially('bread c');
    await expect.poll(options).toEqual(['code:', 'caller:', 'cost:']);
    await checkAccess(page);
    await page.keyboard.press('ArrowUp');
    expect(await page.locator('.offers [aria-selected=true]').textContent()).toBe('cost:');
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    // Its codes are offered next, and nothing else hears of these keys.
    await expect.poll(async () => (await options()).length).toBe(2);
    await box.pressSequentially('T');
    for (const key of ['ArrowDown', 'Tab']) await page.keyboard.press(key);
    expect([await box.inputValue(), await options()]).toEqual(['bread code:TOO_LATE', []]);
    await shows('late bread of bob');
    await box.pressSequentially(' la');
    await page.keyboard.press('Escape');
    expect([await options(), await box.inputValue()]).toEqual([[], 'bread code:TOO_LATE la']);
    // With none chosen, Tab leads on as ever.
    await box.fill('co');
    await page.keyboard.press('Tab');
    expect(await box.evaluate((element) => element === document.activeElement)).toBe(false);
    // A caller in the box and the one that is chosen beside it are the same.
    await box.fill('caller:a');
    await page.getByRole('option', { name: 'caller:ada' }).hover();
    await page.mouse.down();
    await page.mouse.up();
    expect(await box.inputValue()).toBe('caller:ada');
    await shows('late bread of ada', 'ask for rolls of ada', 'late trousers of ada', 'poor hat of ada');
    const caller = page.getByRole('combobox', { name: 'Caller', exact: true });
    await expect.poll(() => caller.inputValue()).toBe('ada');
    await choose('Caller', 'bob');
    await expect.poll(() => box.inputValue()).toBe('');
    await box.fill('lable:vip took:10');
    await page.getByText('Searched as a word: lable:vip took:10 is no filter: they are label:vip').waitFor();
  });

  it('11 says that nobody is called so', async () => {
    await page.evaluate(() => {
      location.hash = '#/tasks?caller=eve';
    });
    await page.getByText('The inspector has no store with tasks of eve').waitFor();
  });
});
