import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';

const widths = [1440, 1024, 390];

/** What axe finds on a page, and what is wider than the page. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document);
    const { scrollWidth, clientWidth } = document.documentElement;
    return [
      ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
      ...(scrollWidth > clientWidth ? [`${scrollWidth} px wide`] : []),
    ];
  });
}

/** What hinders people on the pages at these addresses: at the widths of a desk, a tablet and a phone, light and dark. */
export async function hindrances(context: BrowserContext, urls: readonly string[]): Promise<string[]> {
  const page = await context.newPage();
  const found: string[] = [];
  for (const url of urls)
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.goto(url);
        const faults = await faultsOf(page);
        found.push(...faults.map((fault) => `${url}, ${colorScheme}, ${width}: ${fault}`));
      }
  return found;
}
