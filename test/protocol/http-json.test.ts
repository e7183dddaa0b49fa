import { artifact, completed, inputRequired, reply, working } from '@batonjs/server';
import { expect, it } from 'vitest';
import { say } from '../kit/rpc.ts';
import { onEveryAdapter, type Peer } from './peer.ts';

const version = { 'a2a-version': '1.0' };
const post = ({ fetch }: Peer, path: string, body?: object, more: Record<string, string> = {}) =>
  fetch(path, {
    method: 'POST',
    headers: { ...version, ...(body && { 'content-type': 'application/a2a+json' }), ...more },
    ...(body && { body: JSON.stringify(body) }),
  });
const get = ({ fetch }: Peer, path: string, more: Record<string, string> = {}) =>
  fetch(path, { headers: { ...version, ...more } });

onEveryAdapter('HTTP+JSON', (serve) => {
  const card = { name: 'Row', description: 'For tests', capabilities: { pushNotifications: false } };
  const worker = () =>
    serve(
      async function* ({ text }) {
        yield working();
        yield artifact('a', 'x');
        yield text === 'ask' ? inputRequired('Well?') : completed();
      },
      { card },
    );
  const taskOf = async (peer: Peer, text: string, path = '/message:send') =>
    (await (await post(peer, path, { message: say(text) })).json()).task;

  it.each([
    ['application/a2a+json', undefined, 'application/a2a+json'],
    ['application/json', undefined, 'application/a2a+json'],
    ['application/json; charset=utf-8', '*/*', 'application/a2a+json'],
    ['application/json', 'application/json', 'application/json'],
    ['application/a2a+json', 'application/json, application/a2a+json', 'application/a2a+json'],
  ])('takes %s and answers, where %s is accepted, %s [R-REST-01]', async (type, accept, answered) => {
    const peer = await worker();
    const more = { 'content-type': type, ...(accept && { accept }) };
    const response = await post(peer, '/message:send', { message: say('go') }, more);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(answered);
  });

  it('has the paths of the specification below the URL of the interface [R-REST-02] [R-REST-10]', async () => {
    const peer = await worker();
    const task = await taskOf(peer, 'ask');
    const id = task.id;
    for (const [method, path] of [
      ['GET', `/tasks/${id}`],
      ['GET', `/tasks/${id}/`],
      ['GET', '/tasks'],
      ['POST', `/tasks/${id}:cancel`],
    ] as const) {
      const response = await peer.fetch(path, { method, headers: version });
      expect([path, response.status]).toEqual([path, 200]);
    }
    for (const [method, path] of [
      ['POST', `/tasks/${id}/pushNotificationConfigs`],
      ['GET', `/tasks/${id}/pushNotificationConfigs`],
      ['GET', `/tasks/${id}/pushNotificationConfigs/c`],
      ['DELETE', `/tasks/${id}/pushNotificationConfigs/c`],
      ['GET', '/extendedAgentCard'],
    ] as const) {
      const response = await peer.fetch(path, { method, headers: version });
      expect([path, response.status]).toEqual([path, 400]);
    }
    expect((await get(peer, '/v1/message:send')).status).toBe(405);
    expect((await get(peer, '/v1/v1/tasks')).status).toBe(404);
  });

  it.each(['GET', 'POST'])('subscribes with %s [R-REST-03]', async (method) => {
    const peer = await worker();
    const { id } = await taskOf(peer, 'ask');
    const response = await peer.fetch(`/tasks/${id}:subscribe`, { method, headers: version });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    await response.body?.cancel();
  });

  it('takes a tenant in the path, the query or the body [R-REST-04] [R-REST-06] [R-REST-12] [R-OP-10]', async () => {
    const peer = await worker();
    const { id } = await taskOf(peer, 'go', '/a%20b/message:send');
    const status = async (path: string) => (await get(peer, path)).status;
    expect(await status(`/a%20b/tasks/${id}`)).toBe(200);
    expect(await status(`/tasks/${id}?tenant=a%20b`)).toBe(200);
    expect(await status(`/tasks/${id}?tenant=a+b`)).toBe(200);
    expect(await status(`/tasks/${id}`)).toBe(404);
    expect(await status(`/ab/tasks/${id}`)).toBe(404);
    expect(await status(`/a%20b/tasks/${id}?tenant=ab`)).toBe(400);
    const inBody = await post(peer, '/message:send', { tenant: 'a b', message: say('go') });
    const sent = (await inBody.json()).task.id;
    expect(await status(`/a%20b/tasks/${sent}`)).toBe(200);
  });

  it('prefers a path without tenant [R-REST-12]', async () => {
    const peer = await worker();
    const response = await get(peer, '/tasks/tasks');
    expect((await response.json()).error.details[0].metadata).toEqual({ taskId: 'tasks' });
  });

  it('reads parameters from the query, in camelCase and snake_case [R-REST-05]', async () => {
    const peer = await worker();
    const task = await taskOf(peer, 'go');
    const { contextId } = task;
    const list = async (query: string) => (await get(peer, `/tasks?${query}`)).json();
    const since = encodeURIComponent(task.status.timestamp);
    const all = `contextId=${contextId}&status=TASK_STATE_COMPLETED&pageSize=5&historyLength=1&statusTimestampAfter=${since}&includeArtifacts=true`;
    expect(await list(all)).toMatchObject({
      pageSize: 5,
      totalSize: 1,
      tasks: [{ artifacts: [{}], history: [{}] }],
    });
    expect(await list(`context_id=${contextId}&page_size=7`)).toMatchObject({ pageSize: 7, totalSize: 1 });
    expect(await list('includeArtifacts=false')).not.toHaveProperty('tasks[0].artifacts');
  });

  it('lets the path decide, and refuses a body that says otherwise [R-REST-06]', async () => {
    const peer = await worker();
    const { id } = await taskOf(peer, 'ask');
    const other = await post(peer, `/tasks/${id}:cancel`, { id: 'other' });
    expect(other.status).toBe(400);
    expect((await other.json()).error.details[1].fieldViolations[0].field).toBe('id');
    expect((await post(peer, `/tasks/${id}:cancel`, { id, metadata: {} })).status).toBe(200);
  });

  it('answers errors in the shape of google.rpc.Status [R-REST-07] [R-ERR-01] [R-ERR-02] [R-ERR-03]', async () => {
    const peer = await worker();
    const response = await get(peer, '/tasks/t-1');
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/a2a+json');
    expect(await response.json()).toEqual({
      error: {
        code: 404,
        status: 'NOT_FOUND',
        message: 'Task not found',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'TASK_NOT_FOUND',
            domain: 'a2a-protocol.org',
            metadata: { taskId: 't-1' },
          },
        ],
      },
    });
  });

  it('streams events without an envelope [R-REST-08] [R-SSE-01] [R-SSE-02] [R-SSE-04]', async () => {
    const peer = await worker();
    const response = await post(peer, '/message:stream', { message: say('go') });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = (await response.text())
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => Object.keys(JSON.parse(line.slice(6))).join());
    expect(events).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
  });

  it('answers an error before a stream with plain JSON', async () => {
    const response = await post(await worker(), '/tasks/nobody:subscribe');
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/a2a+json']);
  });

  it.each([
    ['GET', '/nowhere', 404, null],
    ['POST', '/tasks', 405, 'GET'],
    ['GET', '/message:send', 405, 'POST'],
    ['DELETE', '/tasks/x', 405, 'GET'],
    ['DELETE', '/tasks/x:subscribe', 405, 'POST, GET'],
    ['PUT', '/tasks/x/pushNotificationConfigs', 405, 'POST, GET'],
    ['POST', '/tasks/x/pushNotificationConfigs/c', 405, 'GET, DELETE'],
  ])('answers %s %s with %i, allowing %s [R-REST-11]', async (method, path, status, allow) => {
    const peer = await serve(() => reply('Hi'));
    const response = await peer.fetch(path, { method, headers: version });
    expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
    expect(await response.json()).toMatchObject({ error: { code: status, status: 'UNIMPLEMENTED' } });
  });

  it('answers a HEAD without a body', async () => {
    const response = await (await worker()).fetch('/tasks', { method: 'HEAD', headers: version });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
  });
});
