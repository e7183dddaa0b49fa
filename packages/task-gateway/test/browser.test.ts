import { join } from 'node:path';
import { completed, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import type * as Client from '@batonjs/task-gateway/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientBundle } from '../../../test/browser/bundle.ts';
import { serve } from '../../../test/kit/serve.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';
import { serveTasks } from './service.ts';

const executablePath = await chromiumForTests();

describe.skipIf(!executablePath)('the client in Chromium', { timeout: 300_000 }, () => {
  it.each([true, false])(
    'submits a task and watches it to its end; over a WebSocket: %s',
    async (overSocket) => {
      const bundle = await clientBundle(join(import.meta.dirname, '../src/client.ts'));
      const work = serve(async function* () {
        yield working('Reading');
        yield completed('Done');
      });
      let upgrades = 0;
      const service = await serveTasks({ types: { work } }, (gateway) => {
        const tasks = nodeHandler(gateway);
        return (request, response) => {
          if (request.url?.startsWith('/task')) return tasks(request, response);
          response
            .setHeader('content-type', 'text/html')
            .end(`<!doctype html><script type="module">${bundle}</script>`);
        };
      });
      service.listener.on('upgrade', () => {
        upgrades += 1;
      });
      const browser = await openChromium(executablePath!);
      onTestFinished(() => browser.close());
      const page = await browser.context.newPage();
      await page.goto(service.url);
      await page.waitForFunction(() => 'baton' in globalThis);
      const shown = await page.evaluate(async (useSocket) => {
        const { connectTasks } = (globalThis as unknown as { baton: typeof Client }).baton;
        const tasks = connectTasks(location.origin, useSocket ? {} : { openSocket: false });
        const { taskId } = await tasks.submit({ type: 'work', data: { n: 1 } });
        const updates: Client.TaskUpdate[] = [];
        for await (const update of tasks.watch(taskId, { after: 0 })) updates.push(update);
        tasks.close();
        return { last: updates.at(-1), task: await tasks.get(taskId) };
      }, overSocket);
      expect(shown.last).toMatchObject({ status: 'completed', result: { text: 'Done' } });
      expect(shown.task).toMatchObject({ type: 'work', data: { n: 1 }, status: 'completed' });
      expect(upgrades).toBe(overSocket ? 1 : 0);
    },
  );
});
