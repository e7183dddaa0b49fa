import { connect } from '@batonjs/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumForTests } from '../../../test/support/chromium.ts';
import { type OpenedApp, openApp } from './open-app.ts';

const executablePath = await chromiumForTests();

describe.skipIf(!executablePath)('the requests of all clients', { timeout: 120_000 }, () => {
  let app: OpenedApp;
  beforeAll(async () => {
    app = await openApp(executablePath!, ['send', 'read-requests'], { clientRequests: true });
  }, 300_000);
  afterAll(() => app.close());

  const secret = 'a-secret-of-the-client';
  const clientOf = (agent: 'show' | 'far') =>
    connect(`${app.served.url}/${agent}`, { headers: { 'x-key': secret, cookie: `s=${secret}` } });
  const row = (text: RegExp) => app.rows('Requests').filter({ hasText: text });

  it('17 are shown as they come, with how they were answered, and copied without credentials', async () => {
    const { page } = app;
    await page.getByRole('link', { name: 'All requests' }).click();
    await page.getByText('No request yet').waitFor();
    const client = await clientOf('show');
    await client.send('ask');
    await row(/SendMessage.*Show.*anonymous.*JSONRPC.*200/s).click();
    const shown = page.getByRole('region', { name: 'The request and its response' });
    await shown.getByText('contextId').first().waitFor();
    const line = await shown.locator('.shell-line').textContent();
    expect(line).toContain('$X_KEY');
    expect(line).toContain('$COOKIE');
    expect(line).toContain(`${app.served.url}/show`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await shown.getByRole('button', { name: 'Copy as curl' }).click();
    await shown.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(line);
    expect(await page.content()).not.toContain(secret);
    // Live: a stream that is open, and its end.
    const stream = client.stream('hold');
    void stream.result().catch(() => {});
    await row(/SendStreamingMessage.*…/s).waitFor();
    app.served.gate.release();
    await row(/SendStreamingMessage.*200.* m?s$/s).waitFor();
    await app.checkAccess();
    await app.picture('17-requests');
  });

  it('17 are chosen by agent, caller and operation, in the address, on any width', async () => {
    const { page, go } = app;
    await go('#/requests');
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('agent card');
    await expect.poll(() => app.rows('Requests').count()).toBe(1);
    expect(page.url()).toContain('operation=agent+card');
    await page.getByRole('combobox', { name: 'Caller' }).selectOption('anonymous');
    await page.getByText('No request fits').waitFor();
    await page.goBack();
    await go('#/requests?operation=SendMessage&agent=show&caller=anonymous');
    await row(/SendMessage/).waitFor();
    expect(await page.getByRole('combobox', { name: 'Agent', exact: true }).inputValue()).toBe('show');
    await page.reload();
    await row(/SendMessage/).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await row(/SendMessage/).click();
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
    ).toBe(0);
    await app.checkAccess();
    await app.picture('17-requests-phone');
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(app.problems).toEqual([]);
  });
});
