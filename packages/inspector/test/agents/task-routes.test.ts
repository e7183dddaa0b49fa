import { describe, expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { fetchFile } from '../../src/routes/act-routes.ts';
import { type Json, serve } from './inspector-api.ts';

describe('a message', () => {
  it.each(['show', 'far'])('is sent to %s, to its task and in its context', async (agent) => {
    const { call, near, away } = await serve({ allow: ['send'] });
    const client = agent === 'show' ? near : away;
    const send = (body: object) => call(`/agents/${agent}/messages`, body);
    const { json: first } = await send({
      parts: [{ text: 'ask' }],
      contextId: 'mine',
      references: [7],
      metadata: { a: 1 },
    });
    const task = await client.getTask({ id: first.taskId! });
    expect([task.contextId, task.history?.[0]]).toMatchObject([
      'mine',
      { referenceTaskIds: ['7'], parts: [{ text: 'ask' }] },
    ]);
    expect((await send({ parts: [{ text: 'blue' }], taskId: first.taskId })).json).toEqual({
      taskId: first.taskId,
    });
    const { json } = await send({ parts: [{ text: 'hello' }], contextId: 'mine' });
    expect(json).toMatchObject({ message: { contextId: 'mine', parts: [{ text: 'Hello to you' }] } });
  });

  it('has no metadata that is no object', async () => {
    const { call } = await serve({ allow: ['send'] });
    for (const metadata of ['x', 7, null])
      expect(await call('/agents/show/messages', { parts: [{ text: 'hello' }], metadata })).toMatchObject({
        status: 200,
        json: { message: { parts: [{ text: 'Hello to you' }] } },
      });
  });

  it('has the metadata that is one', async () => {
    const { call, feed } = await serve({ allow: ['send'] });
    await call('/agents/far/messages', { parts: [{ text: 'hello' }], metadata: { a: 1 } });
    const wire = await feed('/agents/far/wire', ({ exchanges }) =>
      JSON.stringify(exchanges).includes('hello'),
    );
    expect(JSON.stringify(wire).replaceAll('\\', '')).toContain('"metadata":{"a":1}');
  });

  it('needs a part, and texts', async () => {
    const { call } = await serve({ allow: ['send'] });
    for (const body of [{}, { parts: [] }, { parts: 'x' }])
      expect(await call('/agents/show/messages', body)).toMatchObject({
        status: 400,
        message: 'A message needs at least one part',
      });
    expect(await call('/agents/show/messages', { parts: [{ text: 'x' }], taskId: 7 })).toMatchObject({
      message: 'taskId must be text',
    });
    expect(await call('/agents/show/messages', { parts: [{ text: 'x' }], contextId: 7 })).toMatchObject({
      message: 'contextId must be text',
    });
    expect(await call('/agents/show/messages', { parts: [{ text: 'x' }], taskId: 'none' })).toMatchObject({
      status: 502,
      json: { problem: { code: 'TASK_NOT_FOUND' } },
    });
    expect(await call('/agents/far/messages', { parts: [{ text: 'x' }], taskId: 'none' })).toMatchObject({
      status: 502,
    });
  });
});

describe('a task', () => {
  it.each(['show', 'far'])('of %s is listed, followed and canceled', async (agent) => {
    const { call, feed, near, away } = await serve({ allow: ['cancel'] });
    const { task } = await (agent === 'show' ? near : away).send('ask');
    const at = `/agents/${agent}/tasks`;
    const listed = (await call(`${at}?q=${task!.id}`)).json as unknown as { tasks: Json[] };
    expect(listed.tasks.map(({ id }) => id)).toEqual([task!.id]);
    expect((await call(`${at}?state=TASK_STATE_FAILED`)).json.tasks).toEqual([]);
    const lines = await feed(`/feed?agent=${agent}`, ({ type }) => type === 'counts');
    expect(lines).toMatchObject([
      { type: 'list' },
      { type: 'counts', counts: { TASK_STATE_INPUT_REQUIRED: 1 } },
    ]);
    const timeline = await feed(`${at}/${task!.id}/timeline`, ({ type }) => type === 'live');
    expect(timeline[0]).toMatchObject({
      type: 'open',
      kind: agent === 'show' ? 'log' : 'recording',
      isRestart: false,
    });
    const again = await feed(
      `${at}/${task!.id}/timeline?after=2&source=other`,
      ({ type }) => type === 'open',
    );
    expect(again[0]).toMatchObject({ isRestart: true });
    expect((await call(`${at}/${task!.id}/cancel`, {})).json).toEqual({ state: 'TASK_STATE_CANCELED' });
    expect((await call(`${at}/${task!.id}/timeline?after=x`)).message).toBe('after must be a whole number');
    if (agent === 'show')
      expect((await call(`${at}/${task!.id}/timeline?scope=7`)).message).toBe('There is no scope 7');
  });

  it('is woken where its server runs', async () => {
    const { call, near } = await serve({ allow: ['wake'] });
    const { task } = await near.send('ask');
    expect(await call(`/agents/show/tasks/${task!.id}/wake`, {})).toMatchObject({ status: 200, json: {} });
    for (const [path, body, message] of [
      ['/agents/show/tasks/t/wake', { scope: 7 }, 'The inspector does not have this scope of the store'],
      ['/agents/far/tasks/t/wake', {}, 'The inspector does not have this scope of the store'],
      ['/agents/kept/tasks/t/wake', {}, 'The server of kept does not run in this process'],
    ] as const)
      expect(await call(path, body)).toMatchObject({ status: 404, message });
  });

  it('that asks is given to a person, whose link answers it once, and the log says who chose the person', async () => {
    const { call, feed, near, show } = await serve({ allow: ['assign'] });
    const { task } = await near.send('ask');
    const path = `/agents/show/tasks/${task!.id}/assign`;
    const assigned = await call(path, { to: ' Ana ', expiresMs: 60_000 });
    const { url } = assigned.json as unknown as { url: string };
    expect(assigned).toMatchObject({ status: 200, json: { expiresAt: expect.stringMatching(/Z$/) } });
    const lines = await feed(`/agents/show/tasks/${task!.id}/timeline`, ({ type }) => type === 'live');
    expect(JSON.stringify(lines)).toContain('"by":"Ana"');
    expect(JSON.stringify(lines)).toContain('"assignedBy":"inspector"');
    expect(JSON.stringify(lines)).not.toContain(url.split('/').at(-1));
    const page = await show.fetch(new Request(url, { headers: { accept: 'text/html' } }));
    expect(await page.text()).toContain('asks Ana');
    for (const [body, message] of [
      [{ to: '', expiresMs: 1 }, 'to is missing'],
      [{ to: 'x'.repeat(201), expiresMs: 1 }, 'to must be a text of 1 to 200 characters'],
      [{ to: 'Ana', expiresMs: 0 }, 'expiresMs must be a number of milliseconds, at most a year'],
    ] as const)
      expect(await call(path, body)).toMatchObject({ status: 400, message });
    expect(await call('/agents/far/tasks/t/assign', { to: 'Ana', expiresMs: 1 })).toMatchObject({
      status: 404,
    });
  });
});

describe('a file', () => {
  it('is fetched from the address of the agent, and from no other inside of this network', async () => {
    const { call, outside, farUrl } = await serve({ allow: ['fetch-file', 'add-agent'] });
    const { id } = (await call('/agents', { url: outside })).json;
    expect((await call('/file', { agent: id, url: `${outside}/file` })).json).toEqual({
      mediaType: 'text/csv',
      base64: btoa('a,b'),
    });
    expect((await call('/file', { agent: id, url: farUrl })).status).toBe(502);
    expect((await call('/file', { agent: 'kept', url: `${outside}/file` })).status).toBe(502);
    expect((await call('/file', { url: outside })).message).toBe('agent is missing');
  });

  it('is fetched from the port of the scheme where the address of the agent has none', async () => {
    const refusal = async (agent: string | undefined, url: string) => {
      const link = agent === undefined ? undefined : ({ url: agent } as never);
      return String(await fetchFile(link, url).catch((error: unknown) => error));
    };
    const isRefused = /cannot be fetched: its URL/;
    expect(await refusal('http://127.0.0.1/agent', 'http://127.0.0.1:80/x')).not.toMatch(isRefused);
    expect(await refusal('https://127.0.0.1/agent', 'https://127.0.0.1:443/x')).not.toMatch(isRefused);
    expect(await refusal('http://127.0.0.1/agent', 'http://127.0.0.1:443/x')).toMatch(isRefused);
    expect(await refusal('https://127.0.0.1/agent', 'http://127.0.0.1:80/x')).toMatch(isRefused);
    expect(await refusal(undefined, 'http://127.0.0.1:80/x')).toMatch(isRefused);
  });

  it('has at most 20 MiB, and a type in any case', async () => {
    const most = 20 * 1024 * 1024;
    const url = await listen((request, response) => {
      response.end(Buffer.alloc(request.url === '/most' ? most : most + 1));
    });
    const { mediaType, base64 } = await fetchFile({ url } as never, `${url}/most`);
    expect([mediaType, base64.length]).toEqual(['application/octet-stream', Math.ceil(most / 3) * 4]);
    await expect(fetchFile({ url } as never, `${url}/more`)).rejects.toThrow('cannot be fetched');
  });
});
