import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { listen } from '../../../test/kit/listen.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { AgentLink } from '../src/agents/agent-link.ts';
import { operationOf } from '../src/wire/operation-of.ts';
import { curlOf, grpcurlOf } from '../src/wire/shell-line.ts';
import { showAgent } from './show-agent.ts';

const secret = 'a-secret-of-the-caller';

/** An agent behind HTTP that knows its callers, and the link of an inspector that has their credentials. */
async function linked() {
  const server = closedAfterTest(
    createAgentServer({
      ...showAgent(async () => {}),
      store: memoryStore(),
      logger: () => {},
      push: { allow: ['127.0.0.1:*'], redactSecrets: false },
      authenticate: ({ headers }) => (headers['x-key'] === secret ? { scope: 'ada' } : undefined),
    }),
  );
  const url = await listen(nodeHandler(server));
  return { url, link: new AgentLink(url, { connect: { headers: { 'X-Key': secret } } }) };
}

describe('the wire', () => {
  it('has each request with its operation, status and time, but no credentials and no secrets of webhooks', async () => {
    const { url, link } = await linked();
    const client = await link.client();
    const { task } = await client.send('ask');
    const hook = { taskId: task!.id, id: 'w', url: `${url}/hook`, token: 'hidden-1' };
    const authentication = { scheme: 'Bearer', credentials: 'hidden-2' };
    await client.createTaskPushNotificationConfig({ ...hook, authentication });
    const { exchanges } = link.wire;
    expect(exchanges.map(({ operation, binding }) => [operation, binding])).toEqual([
      ['agent card', undefined],
      ['SendMessage', 'JSONRPC'],
      ['CreateTaskPushNotificationConfig', 'JSONRPC'],
    ]);
    for (const { status, endMs, requestHeaders } of exchanges) {
      expect(status).toMatch(/^200/);
      expect(endMs).toBeGreaterThan(0);
      expect(requestHeaders['x-key']).toBe('…');
    }
    expect(exchanges.at(-1)!.responseBody).toContain('/hook');
    expect(JSON.stringify(exchanges)).not.toMatch(/hidden-|a-secret/);
  });

  it('has a line for each that can be run, with the credentials in variables', async () => {
    const { link } = await linked();
    await (await link.client()).send("it's fail");
    const { shell } = link.wire.exchanges.at(-1)!;
    expect(shell).toContain(`-H 'x-key: '"$X_KEY"`);
    const { stdout } = await promisify(execFile)('sh', ['-c', shell], {
      env: { ...process.env, X_KEY: secret },
    });
    expect(JSON.parse(stdout)).toHaveProperty('result.task');
  });

  it('has requests that got no answer, and says why', async () => {
    const link = new AgentLink(`http://127.0.0.1:${await freePort()}`, { connect: { retry: false } });
    await expect(link.client()).rejects.toThrow();
    expect(link.wire.exchanges[0]).toMatchObject({ isError: true, status: 'no answer: ECONNREFUSED' });
  });

  it('keeps the latest 300 exchanges, and 64 kB of each body', async () => {
    const { wire } = new AgentLink('http://127.0.0.1:9', {});
    const draft = { operation: 'x', method: 'GET', url: 'http://a', requestHeaders: {}, shell: '' };
    for (let n = 0; n < 301; n += 1) wire.add(draft);
    expect(wire.exchanges.length).toBe(300);
    expect(wire.exchanges[0]!.number).toBe(2);
    const last = wire.add({ ...draft, requestBody: 'x'.repeat(70_000) });
    wire.receive(last, 'y'.repeat(70_000));
    expect(last).toMatchObject({
      isCut: true,
      requestBody: 'x'.repeat(65_536),
      responseBody: 'y'.repeat(65_536),
    });
  });
});

it.each([
  ['POST', 'http://a/agents/x/message:send', undefined, 'SendMessage'],
  ['GET', 'http://a/tasks/1', undefined, 'GetTask'],
  ['GET', 'http://a/tasks/1:subscribe', undefined, 'SubscribeToTask'],
  ['POST', 'http://a/tasks/1:cancel', undefined, 'CancelTask'],
  ['GET', 'http://a/tasks?pageSize=1', undefined, 'ListTasks'],
  ['DELETE', 'http://a/tasks/1/pushNotificationConfigs/2', undefined, 'DeleteTaskPushNotificationConfig'],
  ['GET', 'http://a/.well-known/agent-card.json', undefined, 'agent card'],
  ['POST', 'http://a/x', '{"jsonrpc":"2.0","method":"message/send"}', 'message/send'],
  ['GET', 'http://a/x/y', undefined, 'GET x/y'],
])('%s %s is named %s %s', (method, url, body, operation) => {
  expect(operationOf(method, url, body).operation).toBe(operation);
});

it('quotes what the shell would read', () => {
  const request = { method: 'POST', url: 'http://a/b', headers: {}, body: `{"text":"it's $HOME"}` };
  expect(curlOf(request)).toBe(`curl -s -X POST http://a/b -d '{"text":"it'\\''s $HOME"}'`);
  expect(grpcurlOf({ ...request, method: 'S/M', url: 'grpcs://a:1' })).toBe(
    `grpcurl -d '{"text":"it'\\''s $HOME"}' a:1 S/M`,
  );
});

it.each([
  'grpc://$(attack):1',
  'grpc://`attack`:1',
  "grpc://a';attack;'b:1",
  'a;attack;$(attack)b:1',
  'http://a$(attack)/x',
  'http://a/$(attack)?`attack`#;attack',
  'http://a/\'"$(attack)',
])('lets a shell run nothing of the address %s', async (url) => {
  const folder = temporaryFolder();
  const programs = { attack: 'echo > ran', curl: 'printf "%s\\n" "$@"', grpcurl: 'printf "%s\\n" "$@"' };
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const headers = { '$(attack)': '…', '2`attack`': '…', plain: '$(attack) `attack`' };
  const request = { method: 'S/$(attack)', url, headers, body: '$(attack)' };
  const lines = [grpcurlOf(request), ...(url.startsWith('http') ? [curlOf(request)] : [])];
  for (const line of lines) {
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: folder, env });
    expect(readdirSync(folder)).toEqual(['attack', 'curl', 'grpcurl']);
    expect(stdout).toContain('S/$(attack)');
  }
});
