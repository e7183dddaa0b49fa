import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { mcpClient, programClient, serveMcp } from '../../packages/mcp/test/clients.ts';
import { rawClient } from '../kit/http/raw-mcp-client.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { canaries } from './canaries.ts';
import { type Failure, serveEchoing } from './echoing-agent.ts';

const failures: readonly Failure[] = ['refuses', 'breaks', 'says an error', 'talks nonsense'];

describe('no secret leaves an MCP server whose agent repeats what it was sent', () => {
  it.each(failures)('in this process, and %s', async (fail) => {
    const secrets = canaries();
    const echoing = await serveEchoing(secrets, 'bearer');
    echoing.fail = fail;
    const authorization = `Bearer ${secrets.plant('the token for the agent')}`;
    const agent = await connect(echoing.url, { headers: { authorization }, retry: false });
    const caller = { 'x-caller': secrets.plant('the token of the caller') };
    secrets.arrive(caller['x-caller']);
    const { url, errors } = await serveMcp(agent);
    const client = await mcpClient(url, '2026-07-28', undefined, { requestInit: { headers: caller } });
    secrets.leave('the tools', await client.listTools());
    const result = await client.callTool({ name: 'one', arguments: { message: 'Hello' } });
    expect(result.isError).toBe(true);
    secrets.leave('a result', result);
    const error = await client.callTool({ name: 'get_task', arguments: { taskId: 't' } }).catch((why) => why);
    secrets.leave('another result', error);
    secrets.leave('what the operator sees', errors);
    // The operator's own log has what the agent said.
    const isNoted = fail === 'breaks' || fail === 'says an error';
    secrets.check(isNoted ? ['the token for the agent in what the operator sees'] : []);
  });

  it.each(failures)('to a client that asks for its tasks, and %s', async (fail) => {
    const secrets = canaries();
    const echoing = await serveEchoing(secrets, 'bearer');
    echoing.fail = fail;
    const authorization = `Bearer ${secrets.plant('the token for the agent')}`;
    const agent = await connect(echoing.url, { headers: { authorization }, retry: false });
    const { url, errors } = await serveMcp(agent);
    const client = rawClient(url);
    const handle = '0190f6d0-0000-7000-8000-000000000000';
    const answers = {
      'tools/call': await client.tool('one', { message: 'Hello' }),
      'tasks/get': await client.get(handle),
      'tasks/update': await client.update(handle, { x: { action: 'accept' } }),
      'tasks/cancel': await client.cancel(handle),
    };
    for (const [method, answer] of Object.entries(answers)) {
      expect(answer.error ?? answer.result.isError, method).toBeTruthy();
      secrets.leave(method, answer);
    }
    const { messages } = await client.listen([handle]);
    for await (const message of messages) secrets.leave('subscriptions/listen', message);
    secrets.leave('what the operator sees', errors);
    const isNoted = fail === 'breaks' || fail === 'says an error';
    secrets.check(isNoted ? ['the token for the agent in what the operator sees'] : []);
  });

  it.each(failures)('as a program, and %s', async (fail) => {
    const secrets = canaries();
    const echoing = await serveEchoing(secrets, 'bearer', { inBase64: false });
    echoing.fail = fail;
    const token = secrets.plant('the token for the agent');
    const data = join(temporaryFolder(), 'tasks.db');
    const client = await programClient(['-a', echoing.url, '--data', data], {
      env: { A2ACLI_BEARER: token },
      onError: (text) => secrets.leave('standard error', text),
    });
    secrets.leave('the tools', await client.listTools());
    secrets.leave('a result', await client.callTool({ name: 'one', arguments: { message: 'Hello' } }));
    await client.close();
    secrets.check();
  });
});
