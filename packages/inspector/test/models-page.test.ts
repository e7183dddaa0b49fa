import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import { chromiumForTests } from '../../../test/support/chromium.ts';
import { type Action, actions } from '../src/api/agent.ts';
import { type OpenedApp, openApp } from './open-app.ts';

const executablePath = await chromiumForTests();

const modelPrices = {
  currency: 'USD',
  models: { 'openai/gpt-5-mini': { input: 0.25, output: 2, cachedInput: 0.025 } },
};

describe.skipIf(!executablePath)('an operator of agents on models', () => {
  let app: OpenedApp;
  let id: string;
  beforeAll(async () => {
    app = await openApp(executablePath!, Object.keys(actions) as Action[], { modelPrices });
    id = await app.start('models gpt-5-mini');
    await until(app.served.show, id, 'COMPLETED');
  }, 300_000);
  afterAll(() => app.close());
  const section = () =>
    app.page.locator('.section', { has: app.page.getByRole('heading', { name: 'Models' }) });
  const calls = () => section().getByRole('list', { name: 'Calls of models and tools' }).locator('.call');
  const figures = async () =>
    (await section().locator('.call-totals > div').allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, ' '),
    );

  it('sees the calls of models and tools with tokens and costs, and what they are in all', async () => {
    const { go } = app;
    await go(`#/agents/show/tasks/${id}`);
    await calls().first().waitFor();
    expect(await figures()).toEqual([
      'Model calls 2 2 tool calls',
      'Tokens in 2,514 2,200 cached',
      'Tokens out 136 20 reasoning',
      'Cost $0.00041',
    ]);
    const rows = (await calls().allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
    expect(rows).toEqual([
      expect.stringMatching(
        /^gpt-5-mini openai\.responses \d+ ms \$0\.00019 1,204 in \(1,000 cached\) · 56 out \(20 reasoning\) · tool-calls · first words after \d+ ms · answered by gpt-5-mini-2026-08-07 Prompt and answer$/,
      ),
      expect.stringMatching(/^oven tool \d+ ms$/),
      expect.stringMatching(/^scale tool \d+ ms failed$/),
      expect.stringMatching(
        /^gpt-5-mini openai\.responses \d+ ms \$0\.00022 1,310 in \(1,200 cached\) · 80 out · first words after \d+ ms Prompt and answer$/,
      ),
    ]);
    await section().getByText('1 tool call failed.').waitFor();
  });

  it('sees them as bars over time, each of which leads to its entry', async () => {
    const { page } = app;
    const bars = page.getByRole('region', { name: 'Waterfall' }).getByRole('button');
    const names = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label') ?? ''));
    const [first, ...others] = names.filter((name) => /^(Model|Tool) /.test(name));
    const last = others.pop();
    expect(first).toMatch(/^Model gpt-5-mini, \d+ ms, 1,204 in · 56 out · \$0\.00019$/);
    // The two tools ran at once: either may have begun first.
    expect(others.sort()).toEqual([
      expect.stringMatching(/^Tool oven, \d+ ms$/),
      expect.stringMatching(/^Tool scale, \d+ ms, failed$/),
    ]);
    expect(last).toMatch(/^Model gpt-5-mini, \d+ ms, 1,310 in · 80 out · \$0\.00022$/);
    await page.getByRole('button', { name: /^Tool oven/ }).click();
    await page.getByText(/The task as it was at entry/).waitFor();
    await expect
      .poll(figures)
      .toEqual([
        'Model calls 1 1 tool call',
        'Tokens in 1,204 1,000 cached',
        'Tokens out 56 20 reasoning',
        'Cost $0.00019',
      ]);
    await calls().first().getByRole('button', { name: 'gpt-5-mini' }).click();
    await expect.poll(() => calls().count()).toBe(1);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await expect.poll(() => calls().count()).toBe(4);
  });

  it('reads what a model was asked and said, at each width, in light and dark', async () => {
    const { page, checkAccess, picture } = app;
    await section().getByText('Prompt and answer').first().click();
    const shown = section().locator('.call-messages[open]');
    const texts = (await shown.locator('.call-message').allInnerTexts()).map((text) =>
      text.replaceAll('\n', ' ').trim(),
    );
    expect(texts.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      'system You bake bread. The secret is rye.',
      'user models gpt-5-mini',
      'answer The oven first. [oven] {"degrees":220} [scale] {"grams":500}',
    ]);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await section().scrollIntoViewIfNeeded();
        await expect
          .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
          .toBeLessThanOrEqual(width);
        await checkAccess();
        await picture(`models-${scheme}-${width}`);
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1440, height: 900 });
    await section().getByText('Prompt and answer').first().click();
  });

  it('sees no cost of a model without a price, no section where none was called, and what children used', async () => {
    const { go, start, served, page, problems } = app;
    const other = await start('models gpt-6');
    await until(served.show, other, 'COMPLETED');
    await go(`#/agents/show/tasks/${other}`);
    await section().getByText('2 calls of models without a price: not in the cost.').waitFor();
    expect((await figures()).map((text) => text.split(' ')[0])).toEqual(['Model', 'Tokens', 'Tokens']);
    expect(await section().textContent()).not.toContain('$');
    const steps = await start('steps');
    await until(served.show, steps, 'COMPLETED');
    await go(`#/agents/show/tasks/${steps}`);
    await page.getByRole('region', { name: 'Waterfall' }).waitFor();
    // The waterfall of the task before is there, too.
    await section().waitFor({ state: 'detached' });
    const parent = await start(`parent ${steps} far`);
    await until(served.show, parent, 'COMPLETED');
    await go(`#/agents/show/tasks/${parent}`);
    await section().getByText('Besides, the agents of its children report 1,200 tokens, $0.012.').waitFor();
    expect(problems).toEqual([]);
  });
});
