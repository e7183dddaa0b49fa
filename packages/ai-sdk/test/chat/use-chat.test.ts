import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { append, artifact, completed, createAgentServer, data, inputRequired, text } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { build } from 'tsup';
import { describe, expect, it, onTestFinished } from 'vitest';
import { servePage } from '../../../../test/browser/agent.ts';
import { chromiumForTests, openChromium } from '../../../../test/support/chromium.ts';

const executablePath = await chromiumForTests();

async function bundle(): Promise<string> {
  const folder = mkdtempSync(join(import.meta.dirname, '.bundle-'));
  try {
    await build({
      entry: { page: join(import.meta.dirname, 'use-chat-page.tsx') },
      outDir: folder,
      config: false,
      silent: true,
      format: 'esm',
      target: 'es2023',
      platform: 'browser',
      noExternal: [/./],
      esbuildOptions(options) {
        options.conditions = ['@batonjs/source'];
        options.define = { 'process.env.NODE_ENV': '"development"' };
      },
    });
    return await readFile(join(folder, 'page.js'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const toolCalls = [{ toolCallId: 'call-1', toolName: 'visit', input: {}, needs: 'approval' }];

describe.skipIf(!executablePath)('the real `useChat` in Chromium', { timeout: 300_000 }, () => {
  it('streams, goes on after a reload and a restart of the server, and approves a tool', async () => {
    const gate = Promise.withResolvers<void>();
    const store = memoryStore();
    const open = () =>
      createAgentServer({
        card: { name: 'Test', description: 'Answers' },
        async *agent({ messages }) {
          if (messages.length > 1 && messages.at(-1)?.role === 'ROLE_USER') {
            yield append('answer', 'Was there.');
            return yield completed();
          }
          yield artifact('answer', 'I go. ');
          await gate.promise;
          yield inputRequired([text('May I?'), data({ toolCalls })]);
        },
        store,
        cors: true,
        restart: 'rerun',
        timeouts: { leaseMs: 1_000 },
        messages: { idempotency: true },
        logger: () => {},
      });
    let listening = await listen(open());
    const { url } = listening;
    onTestFinished(async () => {
      gate.resolve();
      await listening.close({ graceMs: 0 });
    });
    const served = await servePage(await bundle());
    onTestFinished(() => served.close());
    const browser = await openChromium(executablePath!);
    onTestFinished(() => browser.close());
    const page = await browser.context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    const show = async () => {
      await page.goto(served.url);
      await page.waitForFunction(() => 'mount' in globalThis);
      await page.evaluate((to) => mount(to, 'chat-1'), url);
    };
    await show();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('assistant: I go. ').waitFor();
    await show();
    await page.getByText('assistant: I go. ').waitFor();
    await listening.close({ graceMs: 0 });
    listening = await listen(open(), { port: Number(new URL(url).port) });
    gate.resolve();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('assistant: I go. Was there.').waitFor();
    await page.getByRole('status').getByText('ready').waitFor();
    expect(await page.getByText('user: Go').count()).toBe(1);
    expect(problems).toEqual([]);
  });
});
