import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agUiHandler } from '@batonjs/ag-ui';
import { chatHandler } from '@batonjs/ai-sdk/chat-handler';
import { connect, isTerminal } from '@batonjs/client';
import { artifact, completed, inputRequired, working } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cli } from '../../packages/cli/test/cli.ts';
import { mcpClient, serveMcp } from '../../packages/mcp/test/clients.ts';
import { agentFeeds } from '../../packages/react/src/feeds/agent-feeds.ts';
import { watch } from '../../packages/react/test/watch.ts';
import { serveTasks } from '../../packages/task-gateway/test/service.ts';
import { openSocket } from '../../packages/task-gateway/test/socket.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { canaries } from './canaries.ts';

/** An agent with secrets in all that it keeps for itself: it completes, asks or throws, as its message says. */
function serveKeeping() {
  const secrets = canaries();
  const insides = {
    memory: secrets.plant('memory'),
    riding: secrets.plant('memory of an update'),
    kept: secrets.plant('kept step'),
    step: secrets.plant('step'),
    failure: secrets.plant('failure of a step'),
    thrown: secrets.plant('failure of the agent'),
    logged: secrets.plant('logged line'),
    field: secrets.plant('field of a logged line'),
  };
  const server = serve(
    async function* ({ text, memory, step, log }) {
      log.info(insides.logged, { field: insides.field });
      yield working('At it');
      await memory.set('kept', insides.memory);
      await step('kept', { keep: 'task' }, () => insides.kept);
      await step('one', () => insides.step);
      await step('tried', { retries: 1, backoff: { initialMs: 0 } }, ({ attempt }) => {
        if (attempt === 1) throw new Error(insides.failure);
      });
      for (const secret of Object.values(insides)) secrets.arrive(secret);
      if (text.includes('throw')) throw new Error(insides.thrown);
      yield { ...artifact('answer', text), memory: { riding: insides.riding } };
      if (text.includes('ask')) return yield inputRequired('Well?');
      yield completed();
    },
    {
      card: {
        name: 'Keeper',
        description: 'Keeps',
        skills: [{ id: 'keep', name: 'Keep', description: 'Keeps', tags: ['keep'] }],
      },
      retry: { retries: 1, backoff: { initialMs: 0 } },
    },
  );
  return { secrets, server };
}

const words = ['go', 'ask', 'throw'];

describe('what an agent keeps for itself does not leave', () => {
  it('a gateway', async () => {
    const { secrets, server } = serveKeeping();
    const agent = await connect('http://localhost', { fetch: server.fetch });
    const service = await serveTasks({ types: { keeper: agent } });
    const socket = await openSocket(service.url);
    for (const taskId of words) {
      await service.post('/task', { taskId, type: 'keeper', data: { text: taskId } });
      socket.send({ event: 'subscribe', taskId });
      secrets.leave('a task', await service.ended(taskId));
      for (const path of [`/task/${taskId}`, `/task/${taskId}/history`])
        secrets.leave(path, (await service.get(path)).body);
    }
    secrets.leave('the list', (await service.get('/task')).body);
    secrets.leave('the socket', socket.frames);
    secrets.check();
  });

  it('an MCP server', async () => {
    const { secrets, server } = serveKeeping();
    const { url, errors } = await serveMcp(await connect('http://localhost', { fetch: server.fetch }));
    const client = await mcpClient(url, '2026-07-28');
    for (const message of words) {
      const answer = client.callTool({ name: 'keep', arguments: { message } });
      secrets.leave(message, await answer.catch((error: unknown) => error));
    }
    secrets.leave('what the operator of the MCP server sees', errors);
    secrets.check();
  });

  it('the command line, and the files that it saves of a task', async () => {
    const { secrets, server } = serveKeeping();
    const { url, close } = await listen(server);
    onTestFinished(() => close({ graceMs: 0 }));
    const cwd = temporaryFolder();
    const run = async (line: string) => {
      const { stdout, stderr } = await cli(`${line} -a ${url}`, { cwd });
      secrets.leave(line, [stdout, stderr]);
      return stdout;
    };
    for (const text of words) {
      const { task } = JSON.parse(await run(`send -o json ${text}`));
      for (const output of ['text', 'json']) {
        await run(`task get -o ${output} ${task.id}`);
        await run(`task list -o ${output}`);
        await run(`task download -o ${output} --force --dir ${text} ${task.id}`);
      }
      const saved = readdirSync(join(cwd, text));
      expect(saved).toEqual(text === 'throw' ? [] : ['answer.txt']);
      for (const name of saved) secrets.leave(`a saved ${name}`, readFileSync(join(cwd, text, name)));
    }
    secrets.check();
  });

  it('what the hooks of React show', async () => {
    const { secrets, server } = serveKeeping();
    const feeds = agentFeeds(await connect('http://localhost', { fetch: server.fetch }));
    const list = watch(feeds.list({}));
    for (const text of words) {
      const feed = feeds.conversation(text);
      const talk = watch(feed);
      const { task } = await feed.send(text);
      const followed = watch(feeds.task(task!.id));
      await followed.until(
        ({ task }) => task && (isTerminal(task) || task.status.state === 'TASK_STATE_INPUT_REQUIRED'),
      );
      await talk.until(({ tasks }) => tasks.length === 1);
      secrets.leave(text, [talk.values, followed.values]);
    }
    await list.until(({ tasks }) => tasks.length === words.length);
    secrets.leave('the list', list.values);
    secrets.check();
  });

  it.each([
    ['AG-UI', agUiHandler],
    ['the UI message stream of the AI SDK', chatHandler],
  ])('a handler of %s', async (name, handlerOf) => {
    const { secrets, server } = serveKeeping();
    const handler = handlerOf(server);
    for (const text of words) {
      const message = { id: text, role: 'user', content: text, parts: [{ type: 'text', text }] };
      const body = JSON.stringify({ id: text, threadId: text, runId: text, messages: [message] });
      const headers = { 'content-type': 'application/json' };
      const request = new Request('http://localhost/', { method: 'POST', headers, body });
      const response = await handler.fetch(request);
      const said = await response.text();
      expect(response.status, said).toBe(200);
      secrets.leave(name, [said, ...response.headers]);
    }
    secrets.check();
  });
});
