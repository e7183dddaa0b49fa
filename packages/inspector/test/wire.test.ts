import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listenGrpc } from '@batonjs/bindings-grpc';
import { createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { listen } from '../../../test/kit/listen.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { say } from '../../../test/kit/rpc.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { AgentLink } from '../src/agents/inspected.ts';
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
  return { server, url, link: new AgentLink(url, { connect: { headers: { 'X-Key': secret } } }) };
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

  it('has calls and streams of gRPC with their results, their ends and a line of grpcurl', async () => {
    const { server } = await linked();
    const { address, close } = await listenGrpc(server, { port: 0 });
    onTestFinished(() => close({ graceMs: 0 }));
    const supportedInterfaces = [{ url: address!, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
    const card = { name: 'Show', capabilities: { streaming: true }, supportedInterfaces };
    const url = await listen(createServer((_, response) => response.end(JSON.stringify(card))));
    const given = { headers: { 'X-Key': secret }, trustedOrigins: [`http://${address}`] };
    const link = new AgentLink(url, { connect: given });
    const tapped: unknown[] = [];
    const client = await link.connect({
      onRequest: ({ operation, isStream }) => tapped.push([operation, isStream]),
      onOpen: () => tapped.push('open'),
      onClose: (why) => tapped.push(['close', why]),
    });
    const { task } = await client.send('ask');
    const message = say('blue', { taskId: task!.id });
    for await (const _ of client.sendStreamingMessage({ message }));
    await expect(client.getTask({ id: 'none' })).rejects.toThrow('Task not found');
    const gone = client.subscribeToTask({ id: 'none' })[Symbol.asyncIterator]();
    await expect(gone.next()).rejects.toThrow('Task not found');
    const calls = link.wire.exchanges.slice(1);
    const shown = calls.map(({ operation, status, isError }) => [operation, status, isError]);
    expect(shown).toEqual([
      ['SendMessage', 'OK', false],
      ['SendStreamingMessage', 'OK', false],
      ['GetTask', 'TASK_NOT_FOUND', true],
      ['SubscribeToTask', 'TASK_NOT_FOUND', true],
    ]);
    for (const { url, binding, requestHeaders, endMs } of calls)
      expect([url, binding, requestHeaders['x-key'], endMs! > 0]).toEqual([address, 'GRPC', '…', true]);
    expect(calls[0]!.responseBody).toContain(task!.id);
    expect(calls[1]!.firstMs).toBeLessThanOrEqual(calls[1]!.endMs!);
    expect(calls[1]!.responseBody.trim().split('\n').length).toBeGreaterThan(1);
    expect(calls[2]).toMatchObject({ method: 'lf.a2a.v1.A2AService/GetTask', requestBody: '{"id":"none"}' });
    expect(calls[2]!.shell).toMatch(/^grpcurl -plaintext .*-H 'x-key: '"\$X_KEY" -d '\{"id":"none"\}' /);
    expect(tapped).toEqual([
      ['agent card', false],
      ['SendMessage', false],
      ['SendStreamingMessage', true],
      'open',
      ['close', undefined],
      ['GetTask', false],
      ['SubscribeToTask', true],
      ['close', 'Task not found'],
    ]);
  });

  it('has requests that got no answer, and says why', async () => {
    const link = new AgentLink(`http://127.0.0.1:${await freePort()}`, { connect: { retry: false } });
    await expect(link.client()).rejects.toThrow();
    expect(link.wire.exchanges[0]).toMatchObject({ isError: true, status: 'no answer: ECONNREFUSED' });
  });
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
