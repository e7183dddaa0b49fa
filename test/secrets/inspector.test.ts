import { createServer } from 'node:http';
import { inspector } from '@batonjs/inspector';
import { completed, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { webhook } from '../../packages/server/test/webhooks/kit/webhook.ts';
import { listen } from '../kit/listen.ts';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { eventually } from '../kit/until.ts';
import { canaries } from './canaries.ts';
import { type Failure, serveEchoing } from './echoing-agent.ts';

/** Reads a feed until a text stands in it, or to its end. */
async function readFeed(url: string, headers: Record<string, string>, until?: string): Promise<string> {
  const gone = new AbortController();
  const { body } = await fetch(url, { headers, signal: gone.signal });
  let text = '';
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (until === undefined ? text.trim() !== '' : text.includes(until)) break;
  }
  gone.abort();
  return text;
}

describe('no secret leaves the inspector', () => {
  it('of the agents that it calls, of webhooks and of its own', async () => {
    const secrets = canaries();
    const token = secrets.plant('its own token');
    const headers = {
      authorization: `Bearer ${secrets.plant('bearer token')}`,
      'x-key': secrets.plant('API key'),
      cookie: `session=${secrets.plant('cookie')}`,
    };
    const hook = await webhook((_got, before) => (before < 2 ? 500 : 200));
    const taskPushNotificationConfig = {
      url: `${hook.url()}?signature=${encodeURIComponent(secrets.plant('signed URL'))}`,
      token: secrets.plant('webhook token'),
      authentication: { scheme: 'Bearer', credentials: secrets.plant('webhook credentials') },
    };
    const server = serve(
      async function* () {
        yield working('At it');
        yield completed();
      },
      { name: 'near', push: { allow: ['127.0.0.1'], updates: 'all', retry: { baseDelayMs: 1 } } },
    );
    const far = await listen((request, response) => {
      secrets.arrive(JSON.stringify(request.headers));
      nodeHandler(server)(request, response);
    });
    const echoing = await serveEchoing(canaries(), 'bearer', { inBase64: false });
    const handler = inspector({
      token,
      allow: ['send', 'cancel', 'redeliver', 'fetch-file'],
      agents: [
        { name: 'near', server },
        { name: 'far', url: far, connect: { headers } },
        { name: 'echo', url: echoing.url, connect: { headers, retry: false } },
        { name: 'gone', url: 'http://127.0.0.1:1', connect: { headers, retry: false } },
      ],
    });
    onTestFinished(() => handler.close());
    const url = `${await listen(createServer(handler))}/api`;
    const access = { authorization: `Bearer ${token}` };
    const read = async (path: string, body?: object) => {
      const response = await fetch(`${url}${path}`, {
        headers: { ...access, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.ok) secrets.arrive(token);
      secrets.leave(`${body ? 'POST' : 'GET'} ${path.replace(task.id, ':task')}`, [
        ...response.headers,
        text,
      ]);
    };
    const configuration = { taskPushNotificationConfig, returnImmediately: true };
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
    for (const { headers, path } of hook.received) secrets.arrive(`${JSON.stringify(headers)} ${path}`);
    await read('/session');
    const failures: readonly Failure[] = ['refuses', 'breaks', 'says an error', 'talks nonsense'];
    for (const agent of ['near', 'far', 'echo', 'gone']) {
      for (const page of ['card', 'tasks']) await read(`/agents/${agent}/${page}`);
      for (const fail of agent === 'echo' ? failures : failures.slice(0, 1)) {
        echoing.fail = fail;
        const parts = [{ text: 'Hello' }];
        await read(`/agents/${agent}/messages`, { parts });
        await read(`/agents/${agent}/messages`, { parts, taskId: 'none' });
        await read(`/agents/${agent}/tasks/none/cancel`, {});
      }
      for (const feed of [`feed?agent=${agent}`, `agents/${agent}/wire`])
        secrets.leave(`the feed at ${feed}`, await readFeed(`${url}/${feed}`, access, '{'));
    }
    for (const agent of ['near', 'far']) {
      const path = `${url}/agents/${agent}/tasks/${task.id}/timeline`;
      secrets.leave(`the timeline at ${agent}`, await readFeed(path, access, 'COMPLETED'));
    }
    secrets.check();
  });
});
