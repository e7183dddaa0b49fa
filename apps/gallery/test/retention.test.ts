import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { inputRequired } from '@batonjs/server';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openGallery } from '../src/gallery.ts';

const day = 24 * 60 * 60 * 1_000;

it('a question without an answer fails after a week, so that it can be pruned', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-retention-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  let later = 0;
  const now = () => Date.now() + later;
  const asking = {
    name: 'asking',
    card: { name: 'Asking', description: 'Asks' },
    clock: { now },
    async *agent() {
      yield inputRequired('Well?');
    },
  };
  const gallery = await openGallery([asking], {
    host: '127.0.0.1',
    port: 0,
    store: `sqlite:${join(folder, 'tasks.db')}`,
  });
  onTestFinished(() => gallery.close());
  const [{ url, server }] = gallery.exhibits;
  const agent = await connect(url);
  const { task } = await agent.send('Hello');
  const prune = () => server.prune({ closedBefore: now() + day });

  later = 6 * day;
  expect((await agent.getTask({ id: task!.id })).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  expect(await prune()).toBe(0);
  later = 8 * day;
  // The store claims by its own clock, so a message of the client makes the server read the task now.
  await agent.send('Sorry, I am late', { task: task! }).catch(() => {});
  await vi.waitFor(
    async () => expect((await agent.getTask({ id: task!.id })).status.state).toBe('TASK_STATE_FAILED'),
    { timeout: 20_000, interval: 50 },
  );
  expect(await prune()).toBe(1);
});
