import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Command, node, run } from '../kit/processes.ts';
import { builtProgram } from '../support/built-program.ts';
import { chromiumForTests, openChromium } from '../support/chromium.ts';
import { type BrowserAgent, key, serveAgent, servePage } from './agent.ts';
import { clientBundle } from './bundle.ts';

const executablePath = await chromiumForTests();

describe.skipIf(!executablePath)('the client in Chromium', { timeout: 300_000 }, () => {
  const closing: (() => unknown)[] = [];
  let agent: BrowserAgent;
  let page: Page;
  let gallery: Command;
  /** A page of the gallery's own origin: it lists no other. */
  let galleryPage: Page;
  let galleryUrl: string;

  beforeAll(async () => {
    const data = mkdtempSync(join(tmpdir(), 'baton-browser-'));
    closing.push(() => rmSync(data, { recursive: true, force: true }));
    gallery = run(node, [await builtProgram(new URL('../../apps/gallery/src/main.ts', import.meta.url))], {
      env: { PORT: '0', BATON_DATA: data },
    });
    closing.push(() => gallery[Symbol.asyncDispose]());
    agent = await serveAgent();
    closing.push(() => agent.close());
    const script = await clientBundle();
    const served = await servePage(script);
    closing.push(() => served.close());
    const browser = await openChromium(executablePath!);
    closing.push(() => browser.close());
    page = await browser.context.newPage();
    await page.goto(served.url);
    await page.waitForFunction(() => 'baton' in globalThis);
    await gallery.until(/Ctrl-C/);
    galleryUrl = `${gallery.output.match(/^ *Agents +(http:\S+)\/agents\//m)![1]!}/agents/expense`;
    galleryPage = await browser.context.newPage();
    await galleryPage.goto(`${galleryUrl}/.well-known/agent-card.json`);
    await galleryPage.addScriptTag({ content: script, type: 'module' });
    await galleryPage.waitForFunction(() => 'baton' in globalThis);
  }, 300_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  it('knows no Node.js, and its page is of another origin than the agents', async () => {
    const [origin, hasProcess] = await page.evaluate(() => [location.origin, 'process' in globalThis]);
    expect(origin).not.toBe(agent.origin);
    expect(hasProcess).toBe(false);
  });

  it('of a page of another origin does not reach the gallery, which lists none', async () => {
    const sent = await page.evaluate(async (url) => {
      const client = await baton.connect(url, { retry: false });
      return client.send('100 USD').catch((error) => (error as { code?: string }).code);
    }, galleryUrl);
    expect(sent).toBe('NETWORK');
  });

  describe.each(['JSONRPC', 'HTTP+JSON'])('on %s', (binding) => {
    it('talks to the running gallery [R-CARD-07] [R-SEND-03]', async () => {
      const { name, states, used } = await galleryPage.evaluate(
        async ({ url, binding }) => {
          const client = await baton.connect(url, { binding });
          const expense = [{ data: { name: 'Taxi', amount: 100, currency: 'USD' } }];
          const states: (string | undefined)[] = [];
          const stream = client.stream(expense as Parameters<typeof client.stream>[0]);
          for await (const _ of stream) states.push(stream.task?.status.state);
          return { name: client.card.name, states, used: client.interface.protocolBinding };
        },
        { url: galleryUrl, binding },
      );
      expect(name).toMatch(/Expense/);
      expect(used).toBe(binding);
      expect(states.at(-1)).toMatch(/COMPLETED|FAILED|INPUT_REQUIRED|REJECTED/);
      expect(states.length).toBeGreaterThan(1);
    });

    it('sends, is asked and answers [R-SEND-03] [R-STATE-04]', async () => {
      const asked = await page.evaluate(
        async ({ url, binding }) => {
          const client = await baton.connect(url, { binding });
          const first = await client.send('Count');
          const second = await client.send('3', { task: first.task! });
          return { first: first.task?.status.state, task: second.task };
        },
        { url: `${agent.origin}/open`, binding },
      );
      expect(asked.first).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(asked.task?.status.state).toBe('TASK_STATE_COMPLETED');
    });

    it('streams [R-STR-01] [R-SSE-05]', async () => {
      const { texts, last } = await page.evaluate(
        async ({ url, binding }) => {
          const client = await baton.connect(url, { binding });
          const stream = client.stream('5');
          const texts: string[] = [];
          for await (const event of stream)
            if (event.artifactUpdate) texts.push(baton.textOf(event.artifactUpdate.artifact));
          return { texts, last: stream.task?.status.state };
        },
        { url: `${agent.origin}/open`, binding },
      );
      expect(texts).toEqual(['0', ' 1', ' 2', ' 3', ' 4', ' 5']);
      expect(last).toBe('TASK_STATE_COMPLETED');
    });

    it('follows a task through broken connections, and misses and doubles nothing [R-SSE-03]', async () => {
      const before = agent.cuts;
      const { texts, whole } = await page.evaluate(
        async ({ url, binding }) => {
          const client = await baton.connect(url, { binding, retry: { firstMs: 1, longestMs: 5 } });
          const stream = client.stream('20');
          const texts: string[] = [];
          let isFirst = true;
          for await (const event of stream) {
            if (isFirst)
              await fetch(`${url}/seen/${binding === 'JSONRPC' ? 'rpc' : 'http'}`, { mode: 'no-cors' });
            isFirst = false;
            if (event.artifactUpdate) texts.push(baton.textOf(event.artifactUpdate.artifact));
          }
          return { texts, whole: stream.task?.artifacts?.[0]?.parts.length };
        },
        { url: `${agent.origin}/broken`, binding },
      );
      expect(texts.join('')).toBe(Array.from({ length: 21 }, (_, number) => number).join(' '));
      expect(whole).toBe(21);
      expect(agent.cuts - before).toBe(4);
    });

    it('cancels what it follows [R-CAN-01] [R-SUB-04]', async () => {
      const { answered, states } = await page.evaluate(
        async ({ url, binding }) => {
          const client = await baton.connect(url, { binding });
          const { task } = await client.send('hold', { returnImmediately: true });
          const stream = client.follow(task!);
          const states: (string | undefined)[] = [];
          let answered: Promise<{ status: { state: string } }> | undefined;
          for await (const _ of stream) {
            states.push(stream.task?.status.state);
            answered ??= client.cancelTask({ id: task!.id });
          }
          return { answered: (await answered)?.status.state, states };
        },
        { url: `${agent.origin}/open`, binding },
      );
      expect(answered).toBe('TASK_STATE_CANCELED');
      expect(states.at(-1)).toBe('TASK_STATE_CANCELED');
    });

    it('says what went wrong [R-ERR-06] [R-ERR-08]', async () => {
      const said = await page.evaluate(
        async ({ origin, binding }) => {
          const failureOf = async (promise: Promise<unknown>) => {
            const error = (await promise.catch((reason) => reason)) as { reason?: string; code?: string };
            return error.reason ?? error.code;
          };
          const once = { binding, retry: false } as const;
          const open = await baton.connect(`${origin}/open`, once);
          const closed = await baton.connect(`${origin}/closed`, once);
          return {
            missing: await failureOf(open.getTask({ id: 'nobody' })),
            wrong: await failureOf(open.listTasks({ pageSize: 1_000 })),
            closed: await failureOf(closed.listTasks({})),
            nobody: await failureOf(baton.connect('http://127.0.0.1:9/', once)),
          };
        },
        { origin: agent.origin, binding },
      );
      expect(said).toEqual({
        missing: 'TASK_NOT_FOUND',
        wrong: 'INVALID_PARAMS',
        closed: 'UNAUTHENTICATED',
        nobody: 'NETWORK',
      });
    });

    it('sends credentials, reads the challenge, and gets the extended card [R-AUTH-02] [R-CARD-20] [R-CARD-23]', async () => {
      const { challenges, before, after, total } = await page.evaluate(
        async ({ url, binding, key }) => {
          const challenges: (string | undefined)[] = [];
          const client = await baton.connect(url, {
            binding,
            credentials({ challenge }): Record<string, string> {
              challenges.push(challenge);
              return challenge ? { 'X-API-Key': key } : {};
            },
          });
          const before = client.card.description;
          await client.getExtendedAgentCard();
          const after = client.card.description;
          return { challenges, before, after, total: (await client.listTasks({})).totalSize };
        },
        { url: `${agent.origin}/closed`, binding, key },
      );
      expect([before, after, total]).toEqual(['Counts', 'Counts for those it knows', 0]);
      expect(challenges.filter(Boolean)[0]).toMatch(/ApiKey .*X-API-Key/);
    });

    it('registers webhooks, reads, lists and removes them [R-PUSH-02] [R-PUSH-05..07]', async () => {
      const { created, read, listed, left } = await page.evaluate(
        async ({ url, binding }) => {
          const client = await baton.connect(url, { binding });
          const taskId = (await client.send('Ask me')).task!.id;
          const created = await client.createTaskPushNotificationConfig({
            taskId,
            id: 'w',
            url: 'http://127.0.0.1:9/hook',
          });
          const read = await client.getTaskPushNotificationConfig({ taskId, id: 'w' });
          const listed = await client.listTaskPushNotificationConfigs({ taskId });
          await client.deleteTaskPushNotificationConfig({ taskId, id: 'w' });
          const left = await client.listTaskPushNotificationConfigs({ taskId });
          return { created, read, listed: listed.configs?.length, left: left.configs?.length ?? 0 };
        },
        { url: `${agent.origin}/open`, binding },
      );
      expect(created).toMatchObject({ id: 'w', url: 'http://127.0.0.1:9/hook' });
      expect(read).toEqual(created);
      expect([listed, left]).toEqual([1, 0]);
    });
  });
});
