/**
 * `pnpm pictures`: takes the pictures of the inspector in `docs/images` anew, from a gallery of its own: its tasks, and a
 * task that went on after its process was killed. Needs Chromium, as the tests do.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { run } from '../test/kit/processes.ts';
import { chromiumForTests, startChromium } from '../test/support/chromium.ts';

const images = join(import.meta.dirname, '../docs/images');
const executablePath = await chromiumForTests();
if (!executablePath) process.exit(1);
const data = mkdtempSync(join(tmpdir(), 'baton-pictures-'));
const browser = await startChromium(executablePath);
try {
  await using gallery = run('node', ['scripts/start.mjs'], { env: { PORT: '0', BATON_DATA: data } });
  const output = await gallery.until(/Ctrl-C stops/);
  const url = /^ *Agents +(http:\S+)\/agents\//m.exec(output)![1]!;
  const page = await browser.context.newPage();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(/^ *Inspector +(\S+)$/m.exec(output)![1]!);

  const expenses = await connect(`${url}/agents/expense`);
  for (const text of ['100 USD', '12.50 EUR', 'A taxi', '2000 EUR', '80 USD']) await expenses.send(text);
  await page.getByRole('link', { name: 'Expense agent', exact: true }).click();
  await page.getByRole('listbox', { name: 'Tasks' }).getByRole('option').nth(4).waitFor();
  await page.screenshot({ path: join(images, 'inspector-tasks.png') });

  await page.getByRole('link', { name: 'Counter', exact: true }).click();
  await page.getByRole('link', { name: 'Send', exact: true }).click();
  await page.getByRole('textbox', { name: 'Your message' }).fill('Count to 12');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const timeline = page.getByRole('listbox', { name: 'Timeline' }).getByRole('option');
  await timeline.filter({ hasText: 'Step count 3' }).first().waitFor();
  await page.getByRole('button', { name: 'Kill the process' }).click();
  await page.getByText(/Back after [\d.]+ s/).waitFor();
  await timeline
    .filter({ hasText: /Turn 1 again/ })
    .first()
    .waitFor();
  await timeline.filter({ hasText: 'Step count 4' }).first().waitFor();
  await page.screenshot({ path: join(images, 'inspector-kill-and-resume.png') });
} finally {
  await browser.close();
  rmSync(data, { recursive: true, force: true });
}
