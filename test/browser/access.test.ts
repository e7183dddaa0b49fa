import { createServer } from 'node:http';
import { join } from 'node:path';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agents } from '../../apps/gallery/src/agents.ts';
import { openGallery } from '../../apps/gallery/src/gallery.ts';
import { readSettings } from '../../apps/gallery/src/settings.ts';
import { askingAgent } from '../../packages/server/test/callbacks/asking-agent.ts';
import { freePort } from '../kit/processes.ts';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { faultsOf, hindrances } from '../support/access.ts';
import { chromiumForTests, openChromium } from '../support/chromium.ts';

/** Pages that a server answers with to a browser. */

const executablePath = await chromiumForTests();

describe.skipIf(!executablePath)('nothing hinders people', () => {
  const open = async (urls: readonly string[]) => {
    const { context, close } = await openChromium(executablePath!);
    onTestFinished(close);
    return hindrances(context, urls);
  };

  it('at the first page of the gallery', async () => {
    const data = join(temporaryFolder(), 'data');
    const gallery = await openGallery(agents, readSettings({ PORT: '0', BATON_DATA: data }));
    onTestFinished(() => gallery.close());
    expect(await open([gallery.localUrl])).toEqual([]);
  });

  it('at the page of an agent, a question with a form and a fault, the list of questions, and thanks', async () => {
    const { agent, links } = askingAgent({ form: true });
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const skills = [{ id: 'pay', name: 'Pay', description: 'Pays a bill', tags: [], examples: ['Pay Tom'] }];
    const card = { name: 'Payer', description: 'Pays bills that a person has approved', skills };
    const server = serve(agent, { publicUrl, callbacks: true, card });
    const http = createServer(nodeHandler(server));
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    onTestFinished(() => void http.close());
    for (const _ of [1, 2]) await rpc(server, 'SendMessage', { message: say('Pay') });
    const [question = ''] = await links;
    const inbox = await server.inboxLink({ answeredBy: 'Ana', expiresMs: 3_600_000 });
    expect(await open([publicUrl, question, inbox.url])).toEqual([]);
    const { context, close } = await openChromium(executablePath!);
    onTestFinished(close);
    const page = await context.newPage();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(question);
    // The browser refuses an empty form by itself.
    const loaded = page.waitForEvent('load');
    await page.locator('form').evaluate((form) => (form as HTMLFormElement).submit());
    await loaded;
    expect(await page.title()).toContain('One thing needs a look');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('FIELDSET');
    expect(await faultsOf(page)).toEqual([]);
  });
});
