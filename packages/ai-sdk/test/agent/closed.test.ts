import { connect, textOf } from '@batonjs/client';
import { scopeOf } from '@batonjs/server/internals';
import { memoryStore } from '@batonjs/store-memory';
import { stepCountIs, streamText, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../../test/kit/serve.ts';
import { streamedAgent } from '../../src/index.ts';
import { call, linesOf, scriptedModel, text } from '../scripted-model.ts';

/** A tool that fails when it is aborted in its first run, and what it did. */
function slowTool(kind: string) {
  const runs: string[] = [];
  const begun = Promise.withResolvers<void>();
  const wait = async (signal: AbortSignal | undefined) => {
    runs.push('begun');
    if (runs.length > 1) return;
    begun.resolve();
    await new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('The tool was aborted')));
    });
  };
  const inputSchema = z.object({});
  const slow =
    kind === 'a value'
      ? tool({
          inputSchema,
          execute: async (_, { abortSignal }) => {
            await wait(abortSignal);
            return '7 degrees';
          },
        })
      : tool({
          inputSchema,
          async *execute(_, { abortSignal }) {
            yield 'Looking';
            await wait(abortSignal);
            yield '7 degrees';
          },
        });
  return { slow, runs, begun: begun.promise };
}

/** An agent on a model that calls the tool and then says a word, on a store of its own. */
function agentWith(kind: string) {
  const store = memoryStore();
  const { slow, runs, begun } = slowTool(kind);
  const model = scriptedModel([call('call-1', 'slow')], text('Warm'), text('Warm'));
  const agent = streamedAgent((turn) =>
    streamText({
      model: turn.model(model),
      messages: turn.messages,
      abortSignal: turn.signal,
      tools: turn.tools({ slow }),
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      onError() {},
    }),
  );
  const start = () => serve(agent, { store, restart: 'rerun', timeouts: { cancelGraceMs: 5_000 } });
  return { store, model, runs, begun, start };
}

describe.each(['a value', 'a stream'])('a tool that gives %s', (kind) => {
  it('runs again in the next process when the first one is closed', async () => {
    const { model, runs, begun, start } = agentWith(kind);
    const first = start();
    const client = await connect('http://localhost', { fetch: first.fetch });
    const { task } = await client.send('Oulu?', { returnImmediately: true });
    await begun;
    await first.close({ graceMs: 0 });
    const again = await connect('http://localhost', { fetch: start().fetch });
    const { task: ended } = await again.follow(task!.id).result();
    expect(textOf(ended?.artifacts?.[0])).toBe('Warm');
    expect(runs).toEqual(['begun', 'begun']);
    expect(linesOf(model, 2).at(-1)).toBe('tool: call-1 7 degrees');
  });

  it('has no result in the log when a cancel aborts it', async () => {
    const { store, runs, begun, start } = agentWith(kind);
    const client = await connect('http://localhost', { fetch: start().fetch });
    const { task } = await client.send('Oulu?', { returnImmediately: true });
    await begun;
    const { status } = await client.cancelTask({ id: task!.id });
    expect([status.state, runs]).toEqual(['TASK_STATE_CANCELED', ['begun']]);
    const { tasks } = await store.list(scopeOf('agent', undefined, undefined), { limit: 9 });
    expect(tasks.map(({ taskId }) => taskId)).toEqual([task!.id]);
    const facts = await store.readFacts(scopeOf('agent', undefined, undefined), task!.id, 0, 100);
    const steps = facts.flatMap(({ fact }) => (fact.type === 'step-completed' ? [fact.name] : []));
    expect(steps).not.toContain('tool call-1');
  });
});
