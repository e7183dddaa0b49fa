import { connect } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { until } from '../../../../test/kit/until.ts';
import type { ActionRecord } from '../../src/api/agent.ts';
import type { InspectorOptions } from '../../src/options.ts';
import { showAgent } from '../show-agent.ts';
import { type Json, serve } from './inspector-api.ts';

const dayMs = 86_400_000;

/** An inspector that shows the tasks of anonymous callers, and those of Bob at the tenant `acme`: a task of him asks. */
async function scoped(options: Partial<InspectorOptions>) {
  const server = closedAfterTest(
    createAgentServer({
      ...showAgent(async () => {}),
      name: 'show',
      publicUrl: 'http://show.localhost',
      callbacks: true,
      store: memoryStore(),
      logger: () => {},
      authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'nameless' }),
    }),
  );
  const scopes = [{}, { caller: 'bob', tenant: 'acme' }];
  const api = await serve({ agents: [{ server, callers: scopes }], ...options });
  const bob = await connect('http://show.localhost', {
    fetch: (request) => server.fetch(request),
    headers: { 'X-Caller': 'bob' },
  });
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'ask' }] };
  const { task } = (await bob.sendMessage({ tenant: 'acme', message })) as { task: { id: string } };
  /** The log of a task as the page gets it. */
  const logOf = async (id: string) =>
    JSON.stringify(
      await api.feed(`/agents/show/tasks/${id}/timeline?scope=1`, ({ type }) => type === 'live'),
    );
  return { ...api, id: task.id, at: `/agents/show/tasks/${task.id}`, logOf };
}

describe('a task of a caller at a tenant', () => {
  it('is run again for the same caller, by whom the program knows', async () => {
    const { call, at, logOf } = await scoped({ authenticate: () => ({ name: 'Ada', may: ['fork'] }) });
    const { json } = await call(`${at}/fork`, { scope: 1 });
    expect((await call(`/agents/show/tasks/${json.taskId}/timeline?scope=0`)).status).toBe(404);
    expect(await logOf(String(json.taskId))).toContain('"by":"Ada"');
    expect(await call(`${at}/fork`, {})).toMatchObject({ status: 502 });
    expect(await call(`${at}/fork`, { scope: 2 })).toMatchObject({ status: 404 });
  });

  it('is run again from the position that was chosen, and by the inspector without a name', async () => {
    const { call, at, logOf } = await scoped({ allow: ['fork'] });
    expect(await call(`${at}/fork`, { scope: 1, position: 9_999 })).toMatchObject({ status: 502 });
    const { json } = await call(`${at}/fork`, { scope: 1, position: 1 });
    expect(await logOf(String(json.taskId))).toContain('"by":"inspector"');
    expect(await call(`${at}/fork`, { scope: 1, position: '1' })).toMatchObject({
      status: 400,
      message: 'position must be a whole number',
    });
  });

  it('is run again with another message, and what is no result of a step is refused', async () => {
    const { call, at, logOf } = await scoped({ allow: ['fork'] });
    for (const message of ['steps', [{ text: 'steps' }]]) {
      const { json } = await call(`${at}/fork`, { scope: 1, message });
      expect(await logOf(String(json.taskId))).toContain('"parts":[{"text":"steps"}]');
    }
    expect(await call(`${at}/fork`, { scope: 1, result: null })).toMatchObject({ status: 502 });
    expect(await call(`${at}/fork`, { scope: 1, message: 7 })).toMatchObject({ status: 400 });
  });

  it('is erased with all of its person, which is said before and stands in the activity', async () => {
    const { call, id, at, logOf } = await scoped({ allow: ['erase'] });
    const erase = (body: object) => call('/erase', body);
    expect(await erase({})).toMatchObject({ status: 400, message: 'caller is missing' });
    const counts = (left: readonly string[]) => ({
      erased: [
        { agent: 'show', tasks: 0, left: [] },
        { agent: 'show', tasks: 1, schedules: 0, left },
      ],
    });
    expect((await erase({ caller: 'bob', dryRun: true })).json).toMatchObject(counts([id]));
    expect(await logOf(id)).toContain('Which colour?');
    expect((await erase({ caller: 'bob' })).json).toMatchObject(counts([]));
    expect((await call(`${at}/timeline?scope=1`)).status).toBe(404);
    const { records } = (await call('/activity')).json as unknown as { records: ActionRecord[] };
    // The look is none of them, and no name of a person stays.
    expect(records.map(({ action }) => action)).toEqual(['erase', 'erase']);
    expect(JSON.stringify(records)).not.toContain('bob');
  });

  it('is given to a person for at most a year, by whom the program knows', async () => {
    const { call, at, logOf, id } = await scoped({ authenticate: () => ({ name: 'Ada', may: ['assign'] }) });
    const to = 'x'.repeat(200);
    const assign = (body: object) => call(`${at}/assign`, { scope: 1, to, expiresMs: 60_000, ...body });
    expect(await assign({ expiresMs: 366 * dayMs })).toMatchObject({ status: 200 });
    expect(await logOf(id)).toContain('"assignedBy":"Ada"');
    expect(await assign({ scope: 0 })).toMatchObject({ status: 502 });
    for (const expiresMs of [366 * dayMs + 1, -1, '60000', undefined])
      expect(await call(`${at}/assign`, { scope: 1, to, expiresMs })).toMatchObject({
        status: 400,
        message: 'expiresMs must be a number of milliseconds, at most a year',
      });
    expect(await assign({ to: '  ' })).toMatchObject({
      status: 400,
      message: 'to must be a text of 1 to 200 characters',
    });
  });

  it('has its webhooks in its own scope', async () => {
    const { call, at } = await scoped({ allow: ['redeliver'] });
    expect(await call(`${at}/redeliver`, { scope: 1 })).toMatchObject({ status: 200, json: { revived: 0 } });
    expect(await call(`${at}/redeliver`, { scope: 2 })).toMatchObject({ status: 404 });
  });
});

it('all webhooks of a task are tried again that were given up, and no others', async () => {
  const { call, feed, near, outside, show, hooks } = await serve({ allow: ['redeliver'] });
  const { task } = await near.send('ask');
  for (const [id, path] of [
    ['up', 'file'],
    ['down', 'hook'],
    ['gone', 'hook'],
  ])
    await near.createTaskPushNotificationConfig({ taskId: task!.id, id: id!, url: `${outside}/${path}` });
  await near.send('blue', { task: task! });
  await until(show, task!.id, 'COMPLETED');
  const dead = async () => {
    const place = `/agents/show/tasks/${task!.id}/timeline`;
    const lines = await feed(place, ({ type }) => type === 'live');
    const [beside] = lines.flatMap((line) => (line.type === 'beside' ? [line.beside as never] : []));
    const { deliveries } = beside as unknown as { deliveries: Json[] };
    return deliveries.filter((row) => row.dead).length;
  };
  await expect.poll(dead).toBe(2);
  const before = hooks.length;
  const path = `/agents/show/tasks/${task!.id}/redeliver`;
  expect((await call(path, {})).json).toEqual({ revived: 2 });
  await expect.poll(() => hooks.length).toBe(before + 2);
  expect(hooks.slice(before)).toEqual(['/hook', '/hook']);
  expect(await call('/agents/far/tasks/t/redeliver', {})).toMatchObject({ status: 404 });
});

it('what is done is kept with its agent and the task that it made, and what is only looked at is not', async () => {
  const { call, outside } = await serve({ allow: ['send', 'add-agent'] });
  expect((await call('/activity')).json).toEqual({ records: [], searched: 0, isKept: true });
  const { json } = await call('/agents/show/messages', { parts: [{ text: 'ask' }] });
  await call('/agents', { url: outside });
  await call('/agents/show/messages', { parts: [{ text: 'blue' }], taskId: json.taskId });
  await call('/agents/none/tasks');
  await call('/agents/show/messages', { parts: [] });
  const { records } = (await call('/activity')).json;
  const at = expect.stringMatching(/^20.*Z$/);
  const send = { at, action: 'send', agent: 'show' };
  expect(records).toEqual([
    { ...send, problem: 'A message needs at least one part' },
    { ...send, taskId: json.taskId },
    { at, action: 'add-agent' },
    { ...send, taskId: json.taskId },
  ]);
});
