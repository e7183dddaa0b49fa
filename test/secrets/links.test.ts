import { createServer } from 'node:http';
import { inspector } from '@batonjs/inspector';
import { type Agent, authRequired, completed, inputRequired } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../kit/listen.ts';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { until } from '../kit/until.ts';
import { canaries } from './canaries.ts';

it('a colleague who looks by a link reads no secret, no prompt and no answer link, wherever an agent writes one', async () => {
  const secrets = canaries();
  const plant = (place: string) => {
    const secret = secrets.plant(place);
    secrets.arrive(secret);
    return secret;
  };
  const query = (place: string) =>
    `https://files.example/report?signature=${encodeURIComponent(plant(place))}`;
  const links: string[] = [];
  const agent: Agent = async function* ({ text, callback, memory, step, log, metadata }) {
    if (text !== 'go') return yield completed();
    links.push(
      (await callback({ expiresMs: 60_000, answeredBy: 'Bea' })).url,
      (await callback({ expiresMs: 60_000 })).url,
    );
    const [answer = '', value = ''] = links;
    await step('mail', async () => ({ body: `Answer at ${answer}`, apiKey: plant('result of a step') }));
    await step('model', async () => ({
      modelCall: {
        provider: 'p',
        modelId: 'm',
        ms: 1,
        prompt: { messages: [{ role: 'user', text: plant('prompt') }] },
      },
    }));
    await memory.set('held', { value, session: { refresh_token: plant('memory') } });
    log.info(`Sent ${value}`, { authorization: `Bearer ${plant('log')}`, metadata });
    yield {
      ...inputRequired(`Answer at ${answer} or with Bearer ${plant('words')}`),
      metadata: { link: answer },
    };
  };
  const server = serve(agent, {
    name: 'near',
    publicUrl: 'http://near.localhost',
    callbacks: true,
    push: { allow: ['127.0.0.1'] },
  });
  const login = serve(
    async function* () {
      yield authRequired(`Log in at ${query('login')}`);
    },
    { name: 'login' },
  );
  const far = await listen(nodeHandler(server));
  const token = secrets.plant('token of the inspector');
  const handler = inspector({
    token,
    allow: ['share', 'send'],
    clientRequests: true,
    agents: [
      { name: 'near', server },
      { name: 'login', server: login },
      {
        name: 'far',
        url: far,
        connect: { headers: { authorization: `Bearer ${plant('credentials of an agent')}` } },
      },
      { name: 'gone', url: `http://127.0.0.1:1/?key=${encodeURIComponent(plant('address of an agent'))}` },
    ],
  });
  onTestFinished(() => handler.close());
  const url = `${await listen(createServer(handler))}/api`;
  const ask = async (path: string, headers: Record<string, string>, body?: object) => {
    const signal = AbortSignal.timeout(1_500);
    const response = await fetch(`${url}${path}`, {
      signal,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    let text = '';
    try {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
    } catch {
      // A feed has no end.
    }
    return { headers: response.headers, status: response.status, text };
  };

  const taskPushNotificationConfig = {
    url: `http://127.0.0.1:1/${encodeURIComponent(plant('path of a webhook'))}?s=${encodeURIComponent(plant('query of a webhook'))}`,
    token: plant('token of a webhook'),
    authentication: { scheme: 'Bearer', credentials: plant('credentials of a webhook') },
  };
  const configuration = { taskPushNotificationConfig, returnImmediately: true };
  const parts = [
    { text: 'go' },
    { url: query('file'), filename: 'report' },
    { data: { password: plant('data') } },
  ];
  const { task } = await rpc(server, 'SendMessage', { message: { ...say('go'), parts }, configuration });
  await until(server, task.id, 'INPUT_REQUIRED');
  const { task: other } = await rpc(login, 'SendMessage', {
    message: say('go'),
    configuration: { returnImmediately: true },
  });
  await until(login, other.id, 'AUTH_REQUIRED');

  const own = { authorization: `Bearer ${token}` };
  secrets.arrive(token);
  const made = async (name: string) =>
    String(JSON.parse((await ask('/links', own, { name, expiresMs: 60_000 })).text).secret);
  const [secret, unopened] = [await made('Ana'), await made('Bea')];
  await ask('/agents/gone/messages', own, { parts: [{ text: 'go' }] });
  const opened = await ask('/look', {}, { secret });
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
  const tasks = [`near/tasks/${task.id}`, `far/tasks/${task.id}`, `login/tasks/${other.id}`];
  const read = new Map<string, string>();
  for (const path of [
    ...['/session', '/activity', '/overview', '/schedules', '/feed', '/links', '/requests', '/nothing'],
    ...['near', 'login', 'far', 'gone'].flatMap((name) =>
      ['card', 'tasks', 'wire'].map((page) => `/agents/${name}/${page}`),
    ),
    ...tasks.map((each) => `/agents/${each}/timeline`),
  ]) {
    const { text, status, headers } = await ask(path, { cookie });
    read.set(path, text);
    secrets.leave(path, [...headers, text]);
    expect([path, status]).toEqual([path, /wire|links|requests/.test(path) ? 403 : expect.any(Number)]);
    for (const each of [secret, unopened, cookie.slice(11), ...links.map((link) => link.split('/').at(-1)!)])
      expect([path, text.includes(each)]).toEqual([path, false]);
  }
  secrets.check();
  // It looked where they were.
  const shown = [...read.values()].join('');
  for (const text of [
    'Answer at http://near.localhost/callbacks/…',
    'report?signature=…',
    '"refresh_token":"…"',
    '"Bea"',
    'Bearer …',
  ])
    expect([text, shown.includes(text)]).toEqual([text, true]);
});
