import { createServer } from 'node:http';
import { connect, textOf } from '@batonjs/client';
import { completed, working } from '@batonjs/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../../../test/kit/listen.ts';
import { node, run } from '../../../../../test/kit/processes.ts';
import { repetitions } from '../../../../../test/kit/repetitions.ts';
import { temporaryFolder } from '../../../../../test/kit/temporary-folder.ts';
import { builtProgram } from '../../../../../test/support/built-program.ts';
import { mcpHandler } from '../../../src/index.ts';
import { serveAgent } from '../../clients.ts';

const program = await builtProgram(new URL('./agent-process.ts', import.meta.url));

it('an agent that is killed in the middle of a task of a tool goes on with it, and calls the tool once', async () => {
  const gate = Promise.withResolvers<void>();
  const far = await serveAgent({
    card: { name: 'Far', description: 'Works' },
    async *agent({ text }) {
      yield working('On it');
      await gate.promise;
      yield completed(`Done: ${text}`);
    },
  });
  const handler = mcpHandler(far.agent, { tasks: { pollIntervalMs: 50 } });
  onTestFinished(() => handler.close());
  const methods: string[] = [];
  const fetched = {
    fetch: (request: Request) => {
      methods.push(request.headers.get('mcp-method') ?? '');
      return handler.fetch(request);
    },
  };
  const url = `${await listen(createServer(toNodeHandler(fetched)))}/mcp`;
  const folder = temporaryFolder();
  let port = '0';
  const startAgent = async () => {
    const command = run(node, [program, folder, port, url]);
    onTestFinished(() => command[Symbol.asyncDispose]());
    port = /listening at (\d+)/.exec(await command.until(/listening at \d+/))?.[1] ?? '';
    return command;
  };
  let command = await startAgent();
  const agent = await connect(`http://127.0.0.1:${port}`, { retry: { firstMs: 10, longestMs: 200 } });
  const { task } = await agent.send('Go', { returnImmediately: true });
  const id = task?.id ?? '';
  for (let kills = 0; kills < repetitions(1, 5); kills += 1) {
    const reads = methods.filter((method) => method === 'tasks/get').length;
    await expect.poll(() => methods.filter((method) => method === 'tasks/get').length).toBeGreaterThan(reads);
    command.signal('SIGKILL');
    await command.ended;
    command = await startAgent();
  }
  gate.resolve();
  await expect.poll(async () => (await agent.getTask({ id })).status.state).toBe('TASK_STATE_COMPLETED');
  expect(textOf((await agent.getTask({ id })).status.message)).toBe('Done: Go');
  expect(methods.filter((method) => method === 'tools/call')).toHaveLength(1);
  expect((await far.agent.listTasks({})).tasks).toHaveLength(1);
});
