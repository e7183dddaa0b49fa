import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectTasks, type TaskClient } from '@batonjs/task-gateway/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agents } from '../src/agents.ts';
import { type Gallery, openGallery } from '../src/gallery.ts';
import { readSettings } from '../src/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-gallery-'));
let gallery: Gallery;
let tasks: TaskClient;
beforeAll(async () => {
  gallery = await openGallery(agents, readSettings({ PORT: '0', BATON_DATA: folder }));
  tasks = connectTasks(gallery.localUrl);
});
afterAll(async () => {
  tasks.close();
  await gallery.close();
  rmSync(folder, { recursive: true });
});

it('sends updates over a WebSocket at its origin', async () => {
  const socket = new WebSocket(`${gallery.localUrl.replace('http', 'ws')}/task/updates`);
  const answer = new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => resolve(JSON.parse(String(data))));
    socket.addEventListener('error', () => reject(new Error('No WebSocket')));
  });
  socket.addEventListener('open', () => socket.send('{"event":"subscribe","taskId":"none"}'));
  expect(await answer).toMatchObject({ event: 'error', error: { code: 'TASK_NOT_FOUND' } });
  socket.close();
});

it('serves tasks at its origin, whose types are its agents', async () => {
  const task = { taskId: 'task-001', type: 'expense', data: { amount: 100, currency: 'USD' } };
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ ...task, status: 'created' });
  const response = await fetch(`${gallery.localUrl}/task`, { method: 'POST', headers, body });
  expect(response.status).toBe(202);
  expect(response.headers.get('location')).toBe(`${gallery.localUrl}/task/task-001`);
  const statuses: string[] = [];
  for await (const { status } of tasks.watch('task-001', { after: 0 })) statuses.push(status);
  expect([...new Set(statuses)]).toEqual(['created', 'in_progress', 'completed']);
  const { sequence, ...completed } = await tasks.get('task-001');
  expect(completed).toEqual({
    ...task,
    status: 'completed',
    result: { status: 'approved', message: 'Processed 100 USD' },
  });
});

it('answers a path below /task that is none with an error of the task service', async () => {
  const response = await fetch(`${gallery.localUrl}/task/a/b/c`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
});
