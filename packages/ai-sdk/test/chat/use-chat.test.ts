import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inputRequired as ask, extend, formInput } from '@batonjs/extensions';
import {
  type Agent,
  append,
  artifact,
  completed,
  createAgentServer,
  data,
  failed,
  inputRequired,
  type TaskUpdate,
  text,
  working,
} from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { build } from 'tsup';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { servePage } from '../../../../test/browser/agent.ts';
import { chromiumForTests, openChromium } from '../../../../test/support/chromium.ts';

const executablePath = await chromiumForTests();

async function bundle(page: string): Promise<string> {
  const folder = mkdtempSync(join(import.meta.dirname, '.bundle-'));
  try {
    await build({
      entry: { page: join(import.meta.dirname, page) },
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

/** A page in a browser of its own, and what it throws. */
async function openPage(name: string) {
  const served = await servePage(await bundle(name));
  onTestFinished(() => served.close());
  const browser = await openChromium(executablePath!);
  onTestFinished(() => browser.close());
  const page = await browser.context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  return { page, problems, url: served.url };
}

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
    const { page, problems, url: address } = await openPage('use-chat-page.tsx');
    const show = async () => {
      await page.goto(address);
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

  it('is a conversation for the chat: form, approval, failure, reload, an agent that is gone', async () => {
    const gate = Promise.withResolvers<void>();
    const form = z.object({ nights: z.number() });
    const agent: Agent = async function* ({ text: words, values, messages }): AsyncGenerator<TaskUpdate> {
      if (words === 'fail') return yield failed('No paper');
      if (words === 'plan') return yield ask('How long?', { form });
      if (messages.some(({ parts }) => JSON.stringify(parts).includes('approved')))
        return yield completed('Booked.');
      if ('nights' in values) {
        const about = { toolCallId: 'call-0', toolName: 'map', state: 'done', input: {}, output: 'near' };
        yield working([data(about)]);
        return yield inputRequired([text('May I?'), data({ toolCalls })]);
      }
      yield working('Walks');
      yield artifact('answer', 'I go, ');
      await gate.promise;
      yield append('answer', words);
      yield completed();
    };
    const store = memoryStore();
    const open = () =>
      createAgentServer({
        ...extend({ card: { name: 'Test', description: 'Answers' }, agent }, formInput),
        ...{ store, cors: true, restart: 'rerun', timeouts: { leaseMs: 1_000 }, logger: () => {} },
        messages: { idempotency: true },
      });
    let listening = await listen(open());
    const { url } = listening;
    onTestFinished(async () => {
      gate.resolve();
      await listening.close({ graceMs: 0 });
    });
    const { page, problems, url: address } = await openPage('chat-page.tsx');
    page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
    const show = async () => {
      await page.waitForFunction(() => 'mount' in globalThis);
      await page.evaluate((to) => mount(to, ''), url);
    };
    const say = async (words: string) => {
      await page.getByRole('textbox').fill(words);
      await page.getByRole('textbox').press('Enter');
    };
    await page.goto(address);
    await show();
    await page.getByRole('heading', { name: 'Test' }).first().waitFor();
    await say('fail');
    await page.getByRole('article').getByText('No paper').waitFor();
    await say('plan');
    await page.getByLabel('Nights').fill('3');
    await page.locator('form').getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText('nights: 3').waitFor();
    await page.getByRole('region', { name: 'May I?' }).waitFor();
    await page.getByText('map', { exact: true }).first().waitFor();
    await page.reload();
    await show();
    expect(await page.getByRole('article').getByText('No paper').count()).toBe(1);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('article').getByText('Booked.').waitFor();
    await say('far');
    await page.getByRole('article').getByText('I go,').waitFor();
    expect(problems).toEqual([]);
    await listening.close({ graceMs: 0 });
    await page.getByRole('status').getByText('Connection lost.').waitFor();
    listening = await listen(open(), { port: Number(new URL(url).port) });
    await page.getByText('Connection lost.').waitFor({ state: 'detached' });
    await page.reload();
    await show();
    await page.getByRole('article').getByText('I go,').waitFor();
    gate.resolve();
    await page.getByRole('article').getByText('I go, far').waitFor();
    expect(await page.getByText('far', { exact: true }).count()).toBe(1);
    expect(await page.getByRole('article').count()).toBe(4);
  });
});
