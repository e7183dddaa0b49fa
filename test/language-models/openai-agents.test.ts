import { connect, textOf } from '@batonjs/client';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { serveModel } from '../../packages/ai-sdk/test/openai-server.ts';
import { serve } from '../kit/serve.ts';
import { runAgent } from './openai-agents.ts';

it.each([
  ['Yes', ['a.txt']],
  ['No', []],
])(
  'an agent of the OpenAI Agents SDK asks before a tool runs, and goes on after %s',
  async (answer, expected) => {
    const calls = [{ id: 'call-1', name: 'remove', input: { path: 'a.txt' } }];
    const models = await serveModel((_, n) => (n === 1 ? { calls } : { text: ['All ', 'done'] }));
    onTestFinished(() => models[Symbol.asyncDispose]());
    const removed: string[] = [];
    const remove = tool({
      name: 'remove',
      description: 'Deletes a file',
      parameters: z.object({ path: z.string() }),
      needsApproval: true,
      execute: async ({ path }) => void removed.push(path),
    });
    const modelProvider = new OpenAIProvider({ baseURL: models.url, apiKey: 'none', useResponses: false });
    const runner = new Runner({ modelProvider, model: 'local', tracingDisabled: true });
    const server = serve(runAgent(new Agent({ name: 'Files', tools: [remove] }), runner));
    const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
    const { task } = await client.send('Delete a.txt');
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(task?.status.message)).toBe('May remove run with {"path":"a.txt"}?');
    expect(JSON.stringify(task)).not.toContain('modelResponses');
    expect(removed).toEqual([]);
    const { task: done } = await client.send(answer, { task: task! });
    expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(done?.artifacts?.[0])).toBe('All done');
    expect(removed).toEqual(expected);
  },
);
